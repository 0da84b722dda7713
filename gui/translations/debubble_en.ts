<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>debubble::gui::DetailsPanel</name>
    <message numerus="yes">
        <source>%n hit(s)</source>
        <translation>
            <numerusform>%n hit</numerusform>
            <numerusform>%n hits</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>debubble::gui::IntervalSlider</name>
    <message numerus="yes">
        <source>A save every %n step(s), %1: %2 of the time is useful</source>
        <translation>
            <numerusform>A save every %n step, %1: %2 of the time is useful</numerusform>
            <numerusform>A save every %n steps, %1: %2 of the time is useful</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>debubble::gui::MainWindow</name>
    <message numerus="yes">
        <source>%n action(s)</source>
        <translation>
            <numerusform>%n action</numerusform>
            <numerusform>%n actions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>debubble::gui::RunPanel</name>
    <message numerus="yes">
        <source>Done: %n step(s); the files are in %1</source>
        <translation>
            <numerusform>Done: %n step; the files are in %1</numerusform>
            <numerusform>Done: %n steps; the files are in %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>debubble::gui::StripView</name>
    <message numerus="yes">
        <source>%n failure(s) in sight</source>
        <translation>
            <numerusform>%n failure in sight</numerusform>
            <numerusform>%n failures in sight</numerusform>
        </translation>
    </message>
</context>
</TS>

<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de">
<context>
    <name>answer</name>
    <message>
        <source>, which waits for nothing</source>
        <translation>, die auf nichts wartet</translation>
    </message>
    <message>
        <source>, which begins {} after </source>
        <translation>, die {} beginnt nach </translation>
    </message>
    <message>
        <source>, which begins when </source>
        <translation>, die beginnt, sobald </translation>
    </message>
    <message>
        <source> ends</source>
        <translation> endet</translation>
    </message>
    <message>
        <source>before its first compute; the bubble ends with </source>
        <translation>vor seiner ersten Rechnung; die Bubble endet mit </translation>
    </message>
    <message>
        <source>after its last compute; the last one of all is </source>
        <translation>nach seiner letzten Rechnung; die allerletzte ist </translation>
    </message>
    <message>
        <source>for another stage: </source>
        <translation>auf eine andere Stufe: </translation>
    </message>
    <message>
        <source>for a message on its way: </source>
        <translation>auf eine Nachricht unterwegs: </translation>
    </message>
    <message>
        <source>for its group: </source>
        <translation>auf seine Gruppe: </translation>
    </message>
    <message>
        <source>at the optimizer&apos;s barrier; the bubble ends with </source>
        <translation>an der Schranke des Optimizers; die Bubble endet mit </translation>
    </message>
    <message>
        <source>for the host, which is late with </source>
        <translation>auf den Host, der zu spät ist mit </translation>
    </message>
    <message>
        <source>for a greater load than the mean: </source>
        <translation>auf eine größere Last als die mittlere: </translation>
    </message>
    <message>
        <source>Rank {} is idle for {}: {}</source>
        <translation>Rank {} ist {} untätig, {}</translation>
    </message>
    <message>
        <source>Rank {} waits {} {}</source>
        <translation>Rank {} wartet {} {}</translation>
    </message>
    <message>
        <source> ({}) takes {}</source>
        <translation> ({}) dauert {}</translation>
    </message>
    <message>
        <source>, of it exposed {}</source>
        <translation>, davon sichtbar {}</translation>
    </message>
    <message>
        <source>, of it waiting {}</source>
        <translation>, davon wartend {}</translation>
    </message>
    <message>
        <source>; it begins {} after </source>
        <translation>; sie beginnt {} nach </translation>
    </message>
    <message>
        <source>; it follows </source>
        <translation>; sie folgt auf </translation>
    </message>
    <message>
        <source>; it begins when </source>
        <translation>; sie beginnt, sobald </translation>
    </message>
</context>
<context>
    <name>bill</name>
    <message>
        <source>model FLOPs at the peak rate</source>
        <translation>FLOPs des Modells bei Spitzenrate</translation>
    </message>
    <message>
        <source>compute (the peak rate is not known)</source>
        <translation>Rechnen (die Spitzenrate ist unbekannt)</translation>
    </message>
    <message>
        <source>kernels below the peak rate</source>
        <translation>Kernels unter der Spitzenrate</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>Neu berechnen</translation>
    </message>
    <message>
        <source>host: launches, and time between steps</source>
        <translation>Host: Starts, und Zeit zwischen Schritten</translation>
    </message>
    <message>
        <source>pipeline messages on their way</source>
        <translation>Nachrichten der Pipeline unterwegs</translation>
    </message>
    <message>
        <source>exposed: tensor parallel</source>
        <translation>sichtbar: tensorparallel</translation>
    </message>
    <message>
        <source>exposed: context parallel</source>
        <translation>sichtbar: kontextparallel</translation>
    </message>
    <message>
        <source>exposed: expert parallel</source>
        <translation>sichtbar: expertenparallel</translation>
    </message>
    <message>
        <source>exposed: data parallel</source>
        <translation>sichtbar: datenparallel</translation>
    </message>
    <message>
        <source>exposed: copies to the host</source>
        <translation>sichtbar: Kopien zum Host</translation>
    </message>
    <message>
        <source>optimizer step</source>
        <translation>Schritt des Optimizers</translation>
    </message>
    <message>
        <source>uneven stages</source>
        <translation>ungleiche Stufen</translation>
    </message>
    <message>
        <source>warm-up</source>
        <translation>Anlauf</translation>
    </message>
    <message>
        <source>cool-down</source>
        <translation>Auslauf</translation>
    </message>
    <message>
        <source>waits for a stage</source>
        <translation>wartet auf eine Stufe</translation>
    </message>
    <message>
        <source>waits for a group</source>
        <translation>wartet auf eine Gruppe</translation>
    </message>
    <message>
        <source>uneven loads</source>
        <translation>ungleiche Lasten</translation>
    </message>
    <message>
        <source>optimizer barrier</source>
        <translation>Schranke des Optimizers</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>the optimizer&apos;s steps take no time</source>
        <translation>die Schritte des Optimizers dauern nicht</translation>
    </message>
    <message>
        <source>all kernels run the model&apos;s FLOPs at the peak rate</source>
        <translation>alle Kernels rechnen die FLOPs des Modells bei Spitzenrate</translation>
    </message>
    <message>
        <source>nothing is computed again</source>
        <translation>nichts wird neu berechnet</translation>
    </message>
    <message>
        <source>hosts launch and prepare in no time</source>
        <translation>Hosts starten und bereiten ohne Zeit vor</translation>
    </message>
    <message>
        <source>tensor parallel communication takes no time</source>
        <translation>tensorparallele Kommunikation dauert nicht</translation>
    </message>
    <message>
        <source>context parallel communication takes no time</source>
        <translation>kontextparallele Kommunikation dauert nicht</translation>
    </message>
    <message>
        <source>expert parallel communication takes no time</source>
        <translation>expertenparallele Kommunikation dauert nicht</translation>
    </message>
    <message>
        <source>data parallel communication takes no time</source>
        <translation>datenparallele Kommunikation dauert nicht</translation>
    </message>
    <message>
        <source>pipeline communication takes no time</source>
        <translation>Kommunikation der Pipeline dauert nicht</translation>
    </message>
    <message>
        <source>copies to the host communication takes no time</source>
        <translation>Kopien zum Host dauern nicht</translation>
    </message>
    <message>
        <source>every stage takes the mean of all</source>
        <translation>jede Stufe dauert das Mittel aller</translation>
    </message>
    <message>
        <source>each rank begins its next step at once</source>
        <translation>jeder Rank beginnt seinen nächsten Schritt sofort</translation>
    </message>
    <message>
        <source>no rank ever waits for another</source>
        <translation>kein Rank wartet je auf einen anderen</translation>
    </message>
    <message>
        <source>all loads are even</source>
        <translation>alle Lasten sind gleich</translation>
    </message>
    <message>
        <source>{}, no shorter</source>
        <translation>{}, nicht kürzer</translation>
    </message>
    <message>
        <source>{}, {} shorter</source>
        <translation>{}, {} kürzer</translation>
    </message>
</context>
<context>
    <name>causes</name>
    <message>
        <source>warm-up</source>
        <translation>Anlauf</translation>
    </message>
    <message>
        <source>cool-down</source>
        <translation>Auslauf</translation>
    </message>
    <message>
        <source>waits for a stage</source>
        <translation>wartet auf eine Stufe</translation>
    </message>
    <message>
        <source>waits for a link</source>
        <translation>wartet auf eine Verbindung</translation>
    </message>
    <message>
        <source>waits for a group</source>
        <translation>wartet auf eine Gruppe</translation>
    </message>
    <message>
        <source>optimizer barrier</source>
        <translation>Schranke des Optimizers</translation>
    </message>
    <message>
        <source>host late</source>
        <translation>Host zu spät</translation>
    </message>
    <message>
        <source>uneven load</source>
        <translation>ungleiche Last</translation>
    </message>
</context>
<context>
    <name>classes</name>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimizer</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>Puffer</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>Arbeitsspeicher</translation>
    </message>
</context>
<context>
    <name>debubble::gui::BillPage</name>
    <message>
        <source>Where it goes</source>
        <translation>Wohin er geht</translation>
    </message>
    <message>
        <source>what the step is paid for, and how it depends on the machine</source>
        <translation>wofür der Schritt bezahlt wird, und wie er von der Maschine abhängt</translation>
    </message>
    <message>
        <source>Show &amp;where the step goes</source>
        <translation>Zeigen, &amp;wohin der Schritt geht</translation>
    </message>
    <message>
        <source>In the middle of the window</source>
        <translation>In der Mitte des Fensters</translation>
    </message>
    <message>
        <source>pointer</source>
        <translation>Zeiger</translation>
    </message>
    <message>
        <source>on a part lights its actions and bubbles in the lanes below</source>
        <translation>auf einem Teil hebt seine Aktionen und Bubbles in den Spuren darunter hervor</translation>
    </message>
    <message>
        <source>click, Enter</source>
        <translation>Klick, Eingabe</translation>
    </message>
    <message>
        <source>on a part&apos;s knob turns it</source>
        <translation>auf dem Knopf eines Teils dreht ihn</translation>
    </message>
    <message>
        <source>drag, Left, Right</source>
        <translation>ziehen, Links, Rechts</translation>
    </message>
    <message>
        <source>a knob of the bars beside: what if the machine were such</source>
        <translation>ein Knopf der Balken daneben: was, wenn die Maschine so wäre</translation>
    </message>
</context>
<context>
    <name>debubble::gui::BillPanel</name>
    <message>
        <source>Where the step goes</source>
        <translation>Wohin der Schritt geht</translation>
    </message>
    <message>
        <source>part of the step</source>
        <translation>Teil des Schritts</translation>
    </message>
    <message>
        <source>takes</source>
        <translation>dauert</translation>
    </message>
    <message>
        <source>step if it were free</source>
        <translation>Schritt, wenn es nichts kostete</translation>
    </message>
    <message>
        <source>knob, for the same tokens</source>
        <translation>Knopf, bei gleichen Tokens</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>Kein Plan ist offen</translation>
    </message>
    <message>
        <source>The plan is played again without each of its costs ...</source>
        <translation>Der Plan wird ohne jeden seiner Kosten noch einmal gespielt ...</translation>
    </message>
    <message>
        <source>Played again: %1</source>
        <translation>Noch einmal gespielt: %1</translation>
    </message>
    <message>
        <source>A click sets %1 to %2; undo takes it back</source>
        <translation>Ein Klick setzt %1 auf %2; Rückgängig nimmt es zurück</translation>
    </message>
    <message>
        <source>waterfall</source>
        <translation>Wasserfall</translation>
    </message>
</context>
<context>
    <name>debubble::gui::CommandPalette</name>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <source>Type a command</source>
        <translation>Befehl eingeben</translation>
    </message>
    <message>
        <source>Command to find</source>
        <translation>Gesuchter Befehl</translation>
    </message>
</context>
<context>
    <name>debubble::gui::CompareDock</name>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>two timelines on one axis: their differences as tables and in words</source>
        <translation>zwei Zeitleisten auf einer Achse: ihre Unterschiede in Tabellen und in Worten</translation>
    </message>
</context>
<context>
    <name>debubble::gui::ComparePanel</name>
    <message>
        <source>Instant that the traces are aligned at</source>
        <translation>Zeitpunkt, an dem die Traces ausgerichtet sind</translation>
    </message>
    <message>
        <source>Start of the step</source>
        <translation>Beginn des Schritts</translation>
    </message>
    <message>
        <source>Optimizer step</source>
        <translation>Schritt des Optimizers</translation>
    </message>
    <message>
        <source>Selected action</source>
        <translation>Ausgewählte Aktion</translation>
    </message>
    <message>
        <source>Only differences of at least</source>
        <translation>Nur Unterschiede von mindestens</translation>
    </message>
    <message>
        <source>Smallest difference that is shown</source>
        <translation>Kleinster gezeigter Unterschied</translation>
    </message>
    <message>
        <source>Colour by error</source>
        <translation>Nach Fehler färben</translation>
    </message>
    <message>
        <source>Blue: A is shorter than B; red: it is longer; full at 30 %</source>
        <translation>Blau: A ist kürzer als B; rot: länger; voll bei 30 %</translation>
    </message>
    <message>
        <source>Differences in words</source>
        <translation>Unterschiede in Worten</translation>
    </message>
    <message>
        <source>Open two traces, or run the plan: what was simulated lies above what was executed</source>
        <translation>Zwei Traces öffnen, oder den Plan ausführen: Simuliertes liegt über Ausgeführtem</translation>
    </message>
    <message>
        <source>Align by</source>
        <translation>Ausrichten nach</translation>
    </message>
    <message>
        <source>Tables, or the same in words</source>
        <translation>Tabellen, oder dasselbe in Worten</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>Tabellen</translation>
    </message>
    <message>
        <source>In words</source>
        <translation>In Worten</translation>
    </message>
    <message>
        <source>Colour by change</source>
        <translation>Nach Änderung färben</translation>
    </message>
</context>
<context>
    <name>debubble::gui::DetailsDock</name>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>the selection in words, what it costs, and a search for actions</source>
        <translation>die Auswahl in Worten, was sie kostet, und eine Suche nach Aktionen</translation>
    </message>
</context>
<context>
    <name>debubble::gui::DetailsPanel</name>
    <message>
        <source>Search for actions</source>
        <translation>Nach Aktionen suchen</translation>
    </message>
    <message>
        <source>Search: 2F0, bubble link, rank 3 &gt; 5 ms</source>
        <translation>Suche: 2F0, bubble link, rank 3 &gt; 5 ms</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message numerus="yes">
        <source>%n hit(s)</source>
        <translation>
            <numerusform>%n Treffer</numerusform>
            <numerusform>%n Treffer</numerusform>
        </translation>
    </message>
    <message>
        <source>Click an action or a bubble, press B for the next bubble, or drag to measure</source>
        <translation>Eine Aktion oder Bubble anklicken, B für die nächste Bubble drücken, oder zum Messen ziehen</translation>
    </message>
</context>
<context>
    <name>debubble::gui::ErrorTable</name>
    <message>
        <source>Differences by kind, and by stage or rank</source>
        <translation>Unterschiede nach Art und nach Stufe oder Rank</translation>
    </message>
    <message>
        <source>actions</source>
        <translation>Aktionen</translation>
    </message>
    <message>
        <source>count</source>
        <translation>Anzahl</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>bias</source>
        <translation>Verzerrung</translation>
    </message>
    <message>
        <source>change</source>
        <translation>Änderung</translation>
    </message>
    <message>
        <source>Sum of the absolute differences, of B</source>
        <translation>Summe der absoluten Unterschiede, von B</translation>
    </message>
    <message>
        <source>A less B, of B: above 0, A is longer</source>
        <translation>A weniger B, von B: über 0 ist A länger</translation>
    </message>
    <message>
        <source>Difference of the sums, of B: above 0, A is longer</source>
        <translation>Unterschied der Summen, von B: über 0 ist A länger</translation>
    </message>
    <message>
        <source>by kind</source>
        <translation>nach Art</translation>
    </message>
    <message>
        <source>by stage</source>
        <translation>nach Stufe</translation>
    </message>
    <message>
        <source>passes by rank</source>
        <translation>Durchläufe je Rank</translation>
    </message>
</context>
<context>
    <name>debubble::gui::FiguresTable</name>
    <message>
        <source>Figures of both</source>
        <translation>Zahlen beider</translation>
    </message>
    <message>
        <source>figure</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
</context>
<context>
    <name>debubble::gui::HelpSheet</name>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Schedules</source>
        <translation>Schedules</translation>
    </message>
    <message>
        <source>Everywhere</source>
        <translation>Überall</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>The lower part of a bar, as high as its share, is communication that nothing hides; a wide bar shows its operators in a second row. From far away the kinds of work lie above each other, as high as their shares.</source>
        <translation>Der untere Teil eines Balkens, so hoch wie sein Anteil, ist Kommunikation, die nichts verdeckt; ein breiter Balken zeigt seine Operatoren in einer zweiten Zeile. Von weitem liegen die Arten der Arbeit übereinander, so hoch wie ihre Anteile.</translation>
    </message>
    <message>
        <source>bubble = 1 - computes / (ranks x makespan). For every rank, busy + exposed communication + optimizer + idle = step time.</source>
        <translation>Bubble = 1 - Rechnungen / (Ranks x Makespan). Für jeden Rank gilt: beschäftigt + sichtbare Kommunikation + Optimizer + untätig = Schrittzeit.</translation>
    </message>
    <message>
        <source>Keys and colours</source>
        <translation>Tasten und Farben</translation>
    </message>
    <message>
        <source>Words</source>
        <translation>Begriffe</translation>
    </message>
    <message>
        <source>Views</source>
        <translation>Ansichten</translation>
    </message>
</context>
<context>
    <name>debubble::gui::IntervalSlider</name>
    <message>
        <source>Interval of saves</source>
        <translation>Abstand der Sicherungen</translation>
    </message>
    <message>
        <source>Drag the knob: what if the run saved that often? Home takes what loses least</source>
        <translation>Den Knopf ziehen: Was wäre, wenn der Lauf so oft sicherte? Pos1 nimmt, was am wenigsten verliert</translation>
    </message>
    <message>
        <source>Nothing fails: any interval will do</source>
        <translation>Nichts fällt aus: jeder Abstand ist recht</translation>
    </message>
    <message numerus="yes">
        <source>A save every %n step(s), %1: %2 of the time is useful</source>
        <translation>
            <numerusform>Eine Sicherung alle %n Schritte, %1: %2 der Zeit sind nützlich</numerusform>
            <numerusform>Eine Sicherung alle %n Schritte, %1: %2 der Zeit sind nützlich</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, where least is lost</source>
        <translation>%1, der beste</translation>
    </message>
</context>
<context>
    <name>debubble::gui::MainWindow</name>
    <message>
        <source>debubble</source>
        <translation>debubble</translation>
    </message>
    <message>
        <source>what was predicted</source>
        <translation>was vorhergesagt wurde</translation>
    </message>
    <message>
        <source>A run is under way; stop it first</source>
        <translation>Ein Lauf ist im Gange; zuerst anhalten</translation>
    </message>
    <message>
        <source>There is no plan yet that could be executed</source>
        <translation>Es gibt noch keinen Plan, der sich ausführen ließe</translation>
    </message>
    <message>
        <source>Reading %1</source>
        <translation>%1 wird gelesen</translation>
    </message>
    <message>
        <source>Open a scenario, a trace, or two to compare</source>
        <translation>Ein Szenario, einen Trace, oder zwei zum Vergleichen öffnen</translation>
    </message>
    <message>
        <source>Scenarios, traces and profiles (*.yaml *.yml *.json *.json.gz *.sqlite);;All files (*)</source>
        <translation>Szenarien, Traces und Profile (*.yaml *.yml *.json *.json.gz *.sqlite);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Save the scenario</source>
        <translation>Das Szenario speichern</translation>
    </message>
    <message>
        <source>Scenario</source>
        <translation>Szenario</translation>
    </message>
    <message>
        <source>Export the timeline</source>
        <translation>Die Zeitleiste exportieren</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>Geschrieben: %1</translation>
    </message>
    <message>
        <source>A film is being written; wait until it is</source>
        <translation>Ein Film wird gerade geschrieben; bitte warten</translation>
    </message>
    <message>
        <source>The film is being made: %1</source>
        <translation>Der Film entsteht: %1</translation>
    </message>
    <message>
        <source>Nothing is open that could be copied</source>
        <translation>Nichts ist offen, das sich kopieren ließe</translation>
    </message>
    <message>
        <source>Copied: the picture, and %1</source>
        <translation>Kopiert: das Bild, und %1</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>Noch nichts</translation>
    </message>
    <message>
        <source>Steps of the trace</source>
        <translation>Schritte des Traces</translation>
    </message>
    <message>
        <source>The selection in a sentence</source>
        <translation>Die Auswahl in einem Satz</translation>
    </message>
    <message>
        <source>Execute</source>
        <translation>Ausführen</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Tool bar</source>
        <translation>Werkzeugleiste</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Panels beside</source>
        <translation>Leisten daneben</translation>
    </message>
    <message>
        <source>Panels below</source>
        <translation>Leisten darunter</translation>
    </message>
    <message>
        <source>Unsaved changes cannot be kept: %1</source>
        <translation>Ungespeicherte Änderungen lassen sich nicht aufheben: %1</translation>
    </message>
    <message>
        <source>Unsaved changes</source>
        <translation>Ungespeicherte Änderungen</translation>
    </message>
    <message>
        <source>%1 has changes that are not saved, and they cannot be kept for the next start.</source>
        <translation>%1 hat ungespeicherte Änderungen, die sich nicht bis zum nächsten Start aufheben lassen.</translation>
    </message>
    <message>
        <source>Changes of %1 were not saved when the window closed.</source>
        <translation>Änderungen an %1 waren nicht gespeichert, als das Fenster schloss.</translation>
    </message>
    <message>
        <source>  (1 of %1)</source>
        <translation>  (1 von %1)</translation>
    </message>
    <message>
        <source>Restore them</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Throw them away</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>%1 has changes that are not saved.</source>
        <translation>%1 hat ungespeicherte Änderungen.</translation>
    </message>
    <message>
        <source>Another scenario takes its place.</source>
        <translation>Ein anderes Szenario tritt an seine Stelle.</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>&amp;Undo the what-if</source>
        <translation>Was-wäre-wenn &amp;rückgängig</translation>
    </message>
    <message>
        <source>Return to the plan before</source>
        <translation>Zum Plan davor zurückkehren</translation>
    </message>
    <message>
        <source>&amp;Redo the what-if</source>
        <translation>Was-wäre-wenn &amp;wiederholen</translation>
    </message>
    <message>
        <source>Apply the change again</source>
        <translation>Die Änderung noch einmal anwenden</translation>
    </message>
    <message>
        <source>Cop&amp;y picture and command</source>
        <translation>Bild und Befehl &amp;kopieren</translation>
    </message>
    <message>
        <source>The timeline, and the command line that shows the same</source>
        <translation>Die Zeitleiste und die Befehlszeile, die dasselbe zeigt</translation>
    </message>
    <message>
        <source>&amp;Compare with this plan from now on</source>
        <translation>Ab jetzt mit diesem Plan &amp;vergleichen</translation>
    </message>
    <message>
        <source>The ghost and the differences are of this plan, not of the one before</source>
        <translation>Schatten und Unterschiede beziehen sich auf diesen Plan, nicht auf den davor</translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation>&amp;Plan</translation>
    </message>
    <message>
        <source>Change the sche&amp;dule</source>
        <translation>Sche&amp;dule ändern</translation>
    </message>
    <message>
        <source>Opens the list of schedules</source>
        <translation>Öffnet die Liste der Schedules</translation>
    </message>
    <message>
        <source>E&amp;xecute the plan</source>
        <translation>Den Plan a&amp;usführen</translation>
    </message>
    <message>
        <source>Train on this machine, and compare what ran with what was predicted</source>
        <translation>Auf dieser Maschine trainieren und das Gelaufene mit der Vorhersage vergleichen</translation>
    </message>
    <message>
        <source>Show the &amp;plan</source>
        <translation>Den &amp;Plan zeigen</translation>
    </message>
    <message>
        <source>Instead of a trace or a comparison, which can be shown again</source>
        <translation>Statt eines Traces oder Vergleichs, der wieder gezeigt werden kann</translation>
    </message>
    <message>
        <source>&amp;Lay it above the pinned plan</source>
        <translation>&amp;Über den angehefteten Plan legen</translation>
    </message>
    <message>
        <source>On one axis, with the differences; without a pin, above the one before; a trace in front, below the plan</source>
        <translation>Auf einer Achse, mit den Unterschieden; ohne Anheften über den davor; ein Trace vorne kommt unter den Plan</translation>
    </message>
    <message>
        <source>Show the &amp;trace again</source>
        <translation>Den &amp;Trace wieder zeigen</translation>
    </message>
    <message>
        <source>The trace or the comparison that the plan took from the screen</source>
        <translation>Der Trace oder Vergleich, den der Plan vom Bildschirm nahm</translation>
    </message>
    <message>
        <source>&amp;Sweep the grid</source>
        <translation>Das Gitter &amp;durchgehen</translation>
    </message>
    <message>
        <source>Predict every plan of the grid</source>
        <translation>Jeden Plan des Gitters vorhersagen</translation>
    </message>
    <message>
        <source>Search the &amp;best plan</source>
        <translation>Den &amp;besten Plan suchen</translation>
    </message>
    <message>
        <source>The fastest plan of the grid that fits; undo takes it back</source>
        <translation>Der schnellste passende Plan des Gitters; Rückgängig nimmt ihn zurück</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>&amp;Keys, colours and words</source>
        <translation>&amp;Tasten, Farben und Begriffe</translation>
    </message>
    <message>
        <source>All keys, what the colours mean, and every schedule</source>
        <translation>Alle Tasten, was die Farben bedeuten, und jeder Schedule</translation>
    </message>
    <message>
        <source>&amp;About debubble</source>
        <translation>&amp;Über debubble</translation>
    </message>
    <message>
        <source>Version and licence</source>
        <translation>Version und Lizenz</translation>
    </message>
    <message>
        <source>About debubble</source>
        <translation>Über debubble</translation>
    </message>
    <message>
        <source>&lt;b&gt;debubble %1&lt;/b&gt;&lt;p&gt;Plans, predicts, shows and runs the pipeline-parallel training of transformers.&lt;/p&gt;&lt;p&gt;Apache License 2.0. Made with Qt %2.&lt;/p&gt;</source>
        <translation>&lt;b&gt;debubble %1&lt;/b&gt;&lt;p&gt;Plant, sagt vorher, zeigt und führt das pipeline-parallele Training von Transformern aus.&lt;/p&gt;&lt;p&gt;Apache-Lizenz 2.0. Mit Qt %2 gemacht.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&amp;Find a command...</source>
        <translation>Einen Befehl &amp;finden...</translation>
    </message>
    <message>
        <source>All commands by name</source>
        <translation>Alle Befehle nach Namen</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Open...</source>
        <translation>Ö&amp;ffnen...</translation>
    </message>
    <message>
        <source>A scenario, a trace, or two to compare</source>
        <translation>Ein Szenario, ein Trace, oder zwei zum Vergleichen</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>Zuletzt &amp;benutzte</translation>
    </message>
    <message>
        <source>Open a &amp;shipped scenario</source>
        <translation>&amp;Mitgeliefertes Szenario</translation>
    </message>
    <message>
        <source>&amp;Save the scenario</source>
        <translation>Das Szenario &amp;speichern</translation>
    </message>
    <message>
        <source>As YAML</source>
        <translation>Als YAML</translation>
    </message>
    <message>
        <source>Save the scenario &amp;as...</source>
        <translation>Szenario speichern &amp;unter...</translation>
    </message>
    <message>
        <source>Under another name</source>
        <translation>Unter anderem Namen</translation>
    </message>
    <message>
        <source>&amp;Export the timeline...</source>
        <translation>Die Zeitleiste &amp;exportieren...</translation>
    </message>
    <message>
        <source>SVG, PNG, PDF, a page, a film, Chrome JSON or CSV</source>
        <translation>SVG, PNG, PDF, eine Seite, ein Film, Chrome-JSON oder CSV</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>B&amp;eenden</translation>
    </message>
    <message>
        <source>Unsaved changes are kept and offered at the next start</source>
        <translation>Ungespeicherte Änderungen werden aufgehoben und beim nächsten Start angeboten</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>Key in the timeline: %1</source>
        <translation>Taste in der Zeitleiste: %1</translation>
    </message>
    <message>
        <source>Zoom &amp;in</source>
        <translation>&amp;Hineinzoomen</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>H&amp;erauszoomen</translation>
    </message>
    <message>
        <source>Show &amp;all</source>
        <translation>&amp;Alles zeigen</translation>
    </message>
    <message>
        <source>&amp;Focus the selection</source>
        <translation>Auswahl &amp;einpassen</translation>
    </message>
    <message>
        <source>&amp;Next action</source>
        <translation>&amp;Nächste Aktion</translation>
    </message>
    <message>
        <source>&amp;Previous action</source>
        <translation>&amp;Vorige Aktion</translation>
    </message>
    <message>
        <source>Next &amp;bubble</source>
        <translation>Nächste &amp;Bubble</translation>
    </message>
    <message>
        <source>Previous bubbl&amp;e</source>
        <translation>Vorige B&amp;ubble</translation>
    </message>
    <message>
        <source>&amp;Go to what ends the bubble</source>
        <translation>&amp;Gehe zu dem, was die Bubble beendet</translation>
    </message>
    <message>
        <source>&amp;Mark</source>
        <translation>&amp;Marke</translation>
    </message>
    <message>
        <source>&amp;Critical path</source>
        <translation>&amp;Kritischer Pfad</translation>
    </message>
    <message>
        <source>Pla&amp;y the step</source>
        <translation>Den Schritt abs&amp;pielen</translation>
    </message>
    <message>
        <source>Memor&amp;y to its own scale</source>
        <translation>Speicher im ei&amp;genen Maßstab</translation>
    </message>
    <message>
        <source>Its lanes end at what is held, or at the limit again</source>
        <translation>Seine Spuren enden beim Belegten, oder wieder an der Grenze</translation>
    </message>
    <message>
        <source>Show the &amp;links</source>
        <translation>Die &amp;Verbindungen zeigen</translation>
    </message>
    <message>
        <source>A lane per rank and class of links: how much of their limit a plan uses</source>
        <translation>Eine Spur je Rank und Klasse von Verbindungen: wie viel ihrer Grenze ein Plan nutzt</translation>
    </message>
    <message>
        <source>Fold similar &amp;ranks</source>
        <translation>Ähnliche &amp;Ranks falten</translation>
    </message>
    <message>
        <source>Of more than 32 ranks, neighbours with similar steps share a row</source>
        <translation>Von mehr als 32 Ranks teilen sich Nachbarn mit ähnlichem Schritt eine Zeile</translation>
    </message>
    <message>
        <source>Show every ran&amp;k</source>
        <translation>Jeden Ran&amp;k zeigen</translation>
    </message>
    <message>
        <source>Not only those of a brush</source>
        <translation>Nicht nur die einer Auswahl</translation>
    </message>
    <message>
        <source>Find &amp;actions...</source>
        <translation>A&amp;ktionen suchen...</translation>
    </message>
    <message>
        <source>By name, kind, rank, length</source>
        <translation>Nach Name, Art, Rank, Länge</translation>
    </message>
    <message>
        <source>Colour &amp;by</source>
        <translation>Färben na&amp;ch</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>&amp;Thema</translation>
    </message>
    <message>
        <source>Lan&amp;guage</source>
        <translation>&amp;Sprache</translation>
    </message>
    <message>
        <source>Fold the pane&amp;ls beside</source>
        <translation>&amp;Leisten daneben einklappen</translation>
    </message>
    <message>
        <source>Hides them, or shows them again</source>
        <translation>Verbirgt sie, oder zeigt sie wieder</translation>
    </message>
    <message>
        <source>Fold the panels &amp;below</source>
        <translation>Leisten &amp;darunter einklappen</translation>
    </message>
    <message>
        <source>F&amp;ull screen</source>
        <translation>&amp;Vollbild</translation>
    </message>
    <message>
        <source>Without the frame of the window, or with it again</source>
        <translation>Ohne den Rahmen des Fensters, oder wieder mit ihm</translation>
    </message>
    <message>
        <source>&amp;Reset the layout</source>
        <translation>Anordnung zu&amp;rücksetzen</translation>
    </message>
    <message>
        <source>Tool bar and panels as at the first start</source>
        <translation>Werkzeugleiste und Leisten wie beim ersten Start</translation>
    </message>
    <message>
        <source>The colours of the window</source>
        <translation>Die Farben des Fensters</translation>
    </message>
    <message>
        <source>Theme of the &amp;system</source>
        <translation>Thema des &amp;Systems</translation>
    </message>
    <message>
        <source>&amp;Light theme</source>
        <translation>&amp;Helles Thema</translation>
    </message>
    <message>
        <source>&amp;Dark theme</source>
        <translation>&amp;Dunkles Thema</translation>
    </message>
    <message>
        <source>Language of the s&amp;ystem</source>
        <translation>Sprache des S&amp;ystems</translation>
    </message>
    <message>
        <source>From the next start on</source>
        <translation>Ab dem nächsten Start</translation>
    </message>
    <message>
        <source>The window speaks this language from its next start on</source>
        <translation>Das Fenster spricht diese Sprache ab seinem nächsten Start</translation>
    </message>
    <message>
        <source>Colour by &amp;kind</source>
        <translation>Nach &amp;Art färben</translation>
    </message>
    <message>
        <source>Forward, backward, communication, optimizer</source>
        <translation>Forward, Backward, Kommunikation, Optimizer</translation>
    </message>
    <message>
        <source>Colour by &amp;microbatch</source>
        <translation>Nach &amp;Microbatch färben</translation>
    </message>
    <message>
        <source>A colour per microbatch</source>
        <translation>Eine Farbe je Microbatch</translation>
    </message>
    <message>
        <source>Colour by &amp;stage</source>
        <translation>Nach &amp;Stufe färben</translation>
    </message>
    <message>
        <source>A colour per stage of the model</source>
        <translation>Eine Farbe je Stufe des Modells</translation>
    </message>
    <message>
        <source>Colour by &amp;error</source>
        <translation>Nach &amp;Fehler färben</translation>
    </message>
    <message>
        <source>In a comparison: blue where A is shorter, red where longer</source>
        <translation>In einem Vergleich: blau, wo A kürzer ist, rot, wo länger</translation>
    </message>
    <message numerus="yes">
        <source>%n action(s)</source>
        <translation>
            <numerusform>%n Aktion</numerusform>
            <numerusform>%n Aktionen</numerusform>
        </translation>
    </message>
    <message>
        <source>A has %1 actions, B %2</source>
        <translation>A hat %1 Aktionen, B %2</translation>
    </message>
    <message>
        <source>%1[*] - debubble</source>
        <translation>%1[*] - debubble</translation>
    </message>
    <message>
        <source>%1 - debubble</source>
        <translation>%1 - debubble</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>Click a bar or a bubble, and here it says why it is there; drag for the totals of an area</source>
        <translation>Einen Balken oder eine Bubble anklicken, und hier steht, warum sie da ist; ziehen für die Summen eines Bereichs</translation>
    </message>
    <message>
        <source>Above what was simulated, below what was executed</source>
        <translation>Oben das Simulierte, unten das Ausgeführte</translation>
    </message>
    <message>
        <source>Above this plan, below the one that was pinned</source>
        <translation>Oben dieser Plan, unten der angeheftete</translation>
    </message>
    <message>
        <source>Above this plan, below the one before</source>
        <translation>Oben dieser Plan, unten der davor</translation>
    </message>
    <message>
        <source>%1 stays open behind this</source>
        <translation>%1 bleibt dahinter offen</translation>
    </message>
    <message>
        <source>Back to the plan</source>
        <translation>Zurück zum Plan</translation>
    </message>
    <message>
        <source>this plan</source>
        <translation>dieser Plan</translation>
    </message>
    <message>
        <source>There is no other plan to compare with: pin one (Ctrl+K) and change something</source>
        <translation>Es gibt keinen anderen Plan zum Vergleichen: einen anheften (Ctrl+K) und etwas ändern</translation>
    </message>
    <message>
        <source>the plan before</source>
        <translation>der Plan davor</translation>
    </message>
    <message>
        <source>Pages: %1</source>
        <translation>Seiten: %1</translation>
    </message>
</context>
<context>
    <name>debubble::gui::MessageStrip</name>
    <message>
        <source>Messages</source>
        <translation>Meldungen</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Nächste</translation>
    </message>
    <message>
        <source>Close the message</source>
        <translation>Die Meldung schließen</translation>
    </message>
    <message>
        <source>Show the place</source>
        <translation>Die Stelle zeigen</translation>
    </message>
    <message>
        <source>  (%1 of %2)</source>
        <translation>  (%1 von %2)</translation>
    </message>
</context>
<context>
    <name>debubble::gui::NodesView</name>
    <message>
        <source>Days and cost over the number of GPUs</source>
        <translation>Tage und Kosten über der Zahl der GPUs</translation>
    </message>
    <message>
        <source>%1 nodes, %2 GPUs: %3 d (P5 %4, P95 %5), %6 of the time is useful</source>
        <translation>%1 Knoten, %2 GPUs: %3 d (P5 %4, P95 %5), %6 der Zeit sind nützlich</translation>
    </message>
    <message>
        <source>GPUs that are paid for, spares too</source>
        <translation>bezahlte GPUs, auch die in Reserve</translation>
    </message>
    <message>
        <source>days, P5 to P95</source>
        <translation>Tage, P5 bis P95</translation>
    </message>
    <message>
        <source>cost in %1</source>
        <translation>Kosten in %1</translation>
    </message>
    <message>
        <source>The run is predicted on other numbers of GPUs ...</source>
        <translation>Der Lauf wird auf anderen Zahlen von GPUs vorhergesagt ...</translation>
    </message>
    <message>
        <source>A click takes these nodes</source>
        <translation>Ein Klick nimmt diese Knoten</translation>
    </message>
</context>
<context>
    <name>debubble::gui::OverviewView</name>
    <message>
        <source>All ranks, a line each</source>
        <translation>Alle Ranks, je eine Zeile</translation>
    </message>
    <message>
        <source>Nothing is open</source>
        <translation>Nichts ist offen</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RanksPage</name>
    <message>
        <source>All ranks</source>
        <translation>Alle Ranks</translation>
    </message>
    <message>
        <source>all ranks at once, and which of them are similar</source>
        <translation>alle Ranks auf einmal, und welche einander gleichen</translation>
    </message>
    <message>
        <source>Show all ran&amp;ks</source>
        <translation>Alle Ran&amp;ks zeigen</translation>
    </message>
    <message>
        <source>A line of pixels each; a brush shows the rows of some alone</source>
        <translation>Je eine Pixelzeile; eine Auswahl zeigt die Zeilen einiger allein</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RemedyStrip</name>
    <message>
        <source>What would make the plan fit</source>
        <translation>Was den Plan passend machte</translation>
    </message>
    <message>
        <source>It would fit with</source>
        <translation>Er passte mit</translation>
    </message>
    <message>
        <source>It would be possible with</source>
        <translation>Er wäre möglich mit</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 auf %2</translation>
    </message>
    <message>
        <source>its default</source>
        <translation>seinen Vorgabewert</translation>
    </message>
    <message>
        <source>Sets %1; undo takes it back</source>
        <translation>Setzt %1; Rückgängig nimmt es zurück</translation>
    </message>
    <message>
        <source>No change of one field makes it fit</source>
        <translation>Keine Änderung eines Felds macht ihn passend</translation>
    </message>
    <message>
        <source>Search for the best plan</source>
        <translation>Den besten Plan suchen</translation>
    </message>
    <message>
        <source>The fastest plan of the grid that fits</source>
        <translation>Der schnellste passende Plan des Gitters</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RunDock</name>
    <message>
        <source>Execute</source>
        <translation>Ausführen</translation>
    </message>
    <message>
        <source>the plan trained on this machine, compared with its prediction</source>
        <translation>der Plan, auf dieser Maschine trainiert, im Vergleich mit der Vorhersage</translation>
    </message>
    <message>
        <source>A run is under way</source>
        <translation>Ein Lauf ist im Gange</translation>
    </message>
    <message>
        <source>The run is still ending.</source>
        <translation>Der Lauf endet noch.</translation>
    </message>
    <message>
        <source>A training run is under way.</source>
        <translation>Ein Trainingslauf ist im Gange.</translation>
    </message>
    <message>
        <source>Killed now, it loses what it has not saved.</source>
        <translation>Jetzt abgebrochen, verliert er, was er nicht gespeichert hat.</translation>
    </message>
    <message>
        <source>It ends with the window, after its current step.</source>
        <translation>Er endet mit dem Fenster, nach seinem jetzigen Schritt.</translation>
    </message>
    <message>
        <source>Kill it and quit</source>
        <translation>Abbrechen und beenden</translation>
    </message>
    <message>
        <source>End it and quit</source>
        <translation>Beenden lassen und schließen</translation>
    </message>
    <message>
        <source>Wait</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weitermachen</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RunPage</name>
    <message>
        <source>Where the run&apos;s time goes</source>
        <translation>Wohin die Zeit des Laufs geht</translation>
    </message>
    <message>
        <source>of the mean run</source>
        <translation>vom mittleren Lauf</translation>
    </message>
    <message>
        <source>of the run; below, of what is lost</source>
        <translation>vom Lauf; darunter von dem, was verloren geht</translation>
    </message>
    <message>
        <source>takes</source>
        <translation>dauert</translation>
    </message>
    <message>
        <source>The whole training run</source>
        <translation>Der ganze Trainingslauf</translation>
    </message>
    <message>
        <source>What the scenario does not say</source>
        <translation>Was das Szenario nicht sagt</translation>
    </message>
    <message>
        <source>The run in a line</source>
        <translation>Der Lauf in einer Zeile</translation>
    </message>
    <message>
        <source>number of nodes</source>
        <translation>Zahl der Knoten</translation>
    </message>
    <message>
        <source>interval of saves</source>
        <translation>Abstand der Sicherungen</translation>
    </message>
    <message>
        <source>Of all that is lost, %1 of the run</source>
        <translation>Von allem, was verloren geht, %1 des Laufs</translation>
    </message>
    <message>
        <source>Of the whole run</source>
        <translation>Vom ganzen Lauf</translation>
    </message>
    <message>
        <source>The run does not end: it fails too often</source>
        <translation>Der Lauf endet nicht: er fällt zu oft aus</translation>
    </message>
    <message>
        <source>%1 for %2 tokens</source>
        <translation>%1 für %2 Tokens</translation>
    </message>
    <message>
        <source>, from %1 (P5) to %2 (P95)</source>
        <translation>, von %1 (P5) bis %2 (P95)</translation>
    </message>
    <message>
        <source>; %1 of the time is useful</source>
        <translation>; %1 der Zeit sind nützlich</translation>
    </message>
    <message>
        <source>; a failure every %1</source>
        <translation>; ein Ausfall alle %1</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>Es ist kein Plan offen</translation>
    </message>
    <message>
        <source>The scenario does not say how long it trains. Type %1</source>
        <translation>Das Szenario sagt nicht, wie lange es trainiert. Schreiben Sie %1</translation>
    </message>
    <message>
        <source>Nothing stops this run, so nothing of it is lost. Type %1</source>
        <translation>Nichts hält diesen Lauf an, also geht nichts verloren. Schreiben Sie %1</translation>
    </message>
</context>
<context>
    <name>debubble::gui::RunPanel</name>
    <message>
        <source>Launch command</source>
        <translation>Startbefehl</translation>
    </message>
    <message>
        <source>none, or for example mpirun -n 4</source>
        <translation>keiner, oder etwa mpirun -n 4</translation>
    </message>
    <message>
        <source>Put before &apos;debubble run ...&apos;</source>
        <translation>Wird vor &apos;debubble run ...&apos; gesetzt</translation>
    </message>
    <message>
        <source>Training steps</source>
        <translation>Trainingsschritte</translation>
    </message>
    <message>
        <source>as the scenario says</source>
        <translation>wie das Szenario sagt</translation>
    </message>
    <message>
        <source>Folder of the runs</source>
        <translation>Ordner der Läufe</translation>
    </message>
    <message>
        <source>Each run has a folder of its own in here, with its trace, metrics and checkpoints; ranks on several hosts must all see it. Without a name the newest %1 are kept; in a folder with a name all are</source>
        <translation>Jeder Lauf hat hier einen eigenen Ordner mit Trace, Metriken und Checkpoints; Ranks auf mehreren Hosts müssen ihn alle sehen. Ohne Namen werden die neuesten %1 behalten, in einem Ordner mit Namen alle</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Ausführen</translation>
    </message>
    <message>
        <source>Run or stop</source>
        <translation>Ausführen oder anhalten</translation>
    </message>
    <message>
        <source>Trains on this machine by the plan that is shown, from the beginning; the scenario&apos;s own checkpoints stay as they are</source>
        <translation>Trainiert auf dieser Maschine nach dem gezeigten Plan, von Anfang an; die Checkpoints des Szenarios bleiben, wie sie sind</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>tokens/s</source>
        <translation>Tokens/s</translation>
    </message>
    <message>
        <source>Log of the run</source>
        <translation>Protokoll des Laufs</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Files in</source>
        <translation>Dateien in</translation>
    </message>
    <message>
        <source>%1 cannot be started: %2</source>
        <translation>%1 lässt sich nicht starten: %2</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>The run is under way; its files and checkpoints are in %1</source>
        <translation>Der Lauf ist im Gange; seine Dateien und Checkpoints sind in %1</translation>
    </message>
    <message>
        <source>Kill</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>The run ends after the current step</source>
        <translation>Der Lauf endet nach dem jetzigen Schritt</translation>
    </message>
    <message numerus="yes">
        <source>Done: %n step(s); the files are in %1</source>
        <translation>
            <numerusform>Fertig: %n Schritt; die Dateien sind in %1</numerusform>
            <numerusform>Fertig: %n Schritte; die Dateien sind in %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Killed</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>The run crashed</source>
        <translation>Der Lauf ist abgestürzt</translation>
    </message>
    <message>
        <source>The run crashed; its log says more</source>
        <translation>Der Lauf ist abgestürzt; sein Protokoll sagt mehr</translation>
    </message>
    <message>
        <source>Ended with code %1</source>
        <translation>Beendet mit Code %1</translation>
    </message>
    <message>
        <source>The run ended with code %1: %2</source>
        <translation>Der Lauf endete mit Code %1: %2</translation>
    </message>
</context>
<context>
    <name>debubble::gui::ScatterView</name>
    <message>
        <source>Plans of the sweep</source>
        <translation>Pläne des Sweeps</translation>
    </message>
    <message>
        <source>Plans appear here as they are predicted</source>
        <translation>Pläne erscheinen hier, wie sie vorhergesagt werden</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>Grenze</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>zu wenig Speicher</translation>
    </message>
    <message>
        <source>the open plan</source>
        <translation>der offene Plan</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SchedulesPage</name>
    <message>
        <source>Schedules</source>
        <translation>Schedules</translation>
    </message>
    <message>
        <source>every schedule of this plan, with its picture and its figures</source>
        <translation>jeder Schedule dieses Plans, mit seinem Bild und seinen Zahlen</translation>
    </message>
    <message>
        <source>Show every sche&amp;dule</source>
        <translation>Jeden Sche&amp;dule zeigen</translation>
    </message>
    <message>
        <source>Of this plan, beside each other</source>
        <translation>Dieses Plans, nebeneinander</translation>
    </message>
    <message>
        <source>take the schedule</source>
        <translation>den Schedule nehmen</translation>
    </message>
    <message>
        <source>pin it at the top, and compare the others with it</source>
        <translation>ihn oben anheften und die anderen damit vergleichen</translation>
    </message>
</context>
<context>
    <name>debubble::gui::StripView</name>
    <message>
        <source>%1 d</source>
        <translation>%1 d</translation>
    </message>
    <message>
        <source>One drawn run from its first step to its last</source>
        <translation>Ein gezogener Lauf vom ersten bis zum letzten Schritt</translation>
    </message>
    <message>
        <source>From %1 to %2 of %3</source>
        <translation>Von %1 bis %2 von %3</translation>
    </message>
    <message>
        <source>; it begins with %1</source>
        <translation>; am Anfang: %1</translation>
    </message>
    <message numerus="yes">
        <source>%n failure(s) in sight</source>
        <translation>
            <numerusform>%n Ausfall im Bild</numerusform>
            <numerusform>%n Ausfälle im Bild</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 from %2 on, for %3</source>
        <translation>%1 ab %2, %3 lang</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SummaryDock</name>
    <message>
        <source>Summary</source>
        <translation>Übersicht</translation>
    </message>
    <message>
        <source>the plan&apos;s figures, and bars for the parts of its step</source>
        <translation>die Zahlen des Plans, und Balken für die Teile seines Schritts</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SummaryPanel</name>
    <message>
        <source>Summary</source>
        <translation>Übersicht</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SweepPage</name>
    <message>
        <source>Sweep</source>
        <translation>Sweep</translation>
    </message>
    <message>
        <source>every plan of a grid as a table and a plot, or its best one</source>
        <translation>jeder Plan eines Gitters als Tabelle und Diagramm, oder sein bester</translation>
    </message>
    <message>
        <source>Show the s&amp;weep</source>
        <translation>Den S&amp;weep zeigen</translation>
    </message>
    <message>
        <source>In the middle of the window</source>
        <translation>In der Mitte des Fensters</translation>
    </message>
    <message>
        <source>wheel</source>
        <translation>Rad</translation>
    </message>
    <message>
        <source>zoom at the pointer; outside the plot, only the axis there</source>
        <translation>am Zeiger zoomen; neben dem Diagramm nur die Achse dort</translation>
    </message>
    <message>
        <source>drag</source>
        <translation>ziehen</translation>
    </message>
    <message>
        <source>zoom into a rectangle; Shift+drag moves</source>
        <translation>in ein Rechteck zoomen; Umschalt+Ziehen verschiebt</translation>
    </message>
    <message>
        <source>show all plans; so does a double click</source>
        <translation>alle Pläne zeigen; ebenso ein Doppelklick</translation>
    </message>
    <message>
        <source>These plans are of %1, which is not open</source>
        <translation>Diese Pläne gehören zu %1, das nicht offen ist</translation>
    </message>
    <message>
        <source>point %1</source>
        <translation>Punkt %1</translation>
    </message>
</context>
<context>
    <name>debubble::gui::SweepPanel</name>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>Sweep</translation>
    </message>
    <message>
        <source>%1 of %2 plans, %3 fit</source>
        <translation>%1 von %2 Plänen, %3 passen</translation>
    </message>
    <message>
        <source>%1 of %2 plans settled</source>
        <translation>%1 von %2 Plänen entschieden</translation>
    </message>
    <message>
        <source>; %1 are the same plan as another one and listed once</source>
        <translation>; %1 sind derselbe Plan wie ein anderer und einmal aufgeführt</translation>
    </message>
    <message>
        <source>; %1 from an earlier sweep</source>
        <translation>; %1 aus einem früheren Sweep</translation>
    </message>
    <message>
        <source>; %1 s left</source>
        <translation>; noch %1 s</translation>
    </message>
    <message>
        <source>; stopped</source>
        <translation>; angehalten</translation>
    </message>
    <message>
        <source>; not kept for later, the file of the rows cannot be written</source>
        <translation>; nicht aufgehoben, die Datei der Zeilen lässt sich nicht schreiben</translation>
    </message>
    <message>
        <source>Of %1; sweep again. %2</source>
        <translation>Von %1; noch einmal durchgehen. %2</translation>
    </message>
    <message>
        <source>one colour</source>
        <translation>eine Farbe</translation>
    </message>
    <message>
        <source>Grid: a key and its values per line</source>
        <translation>Gitter: je Zeile ein Schlüssel und seine Werte</translation>
    </message>
    <message>
        <source>A key and its values per line; &apos;where&apos; holds conditions</source>
        <translation>Je Zeile ein Schlüssel und seine Werte; &apos;where&apos; enthält Bedingungen</translation>
    </message>
    <message>
        <source>Start or stop the sweep</source>
        <translation>Den Sweep starten oder anhalten</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Find the best plan of the grid, and take it</source>
        <translation>Den besten Plan des Gitters finden und nehmen</translation>
    </message>
    <message>
        <source>The fastest plan that fits; those that cannot be it are not played</source>
        <translation>Der schnellste passende Plan; die es nicht sein können, werden nicht gespielt</translation>
    </message>
    <message>
        <source>Progress of the sweep</source>
        <translation>Fortschritt des Sweeps</translation>
    </message>
    <message>
        <source>A plan per point of the grid</source>
        <translation>Ein Plan je Punkt des Gitters</translation>
    </message>
    <message>
        <source>Filter of the table</source>
        <translation>Filter der Tabelle</translation>
    </message>
    <message>
        <source>Filter: fits, zb-h1, tensor=4, peak&lt;70, !impossible ...</source>
        <translation>Filter: passt, zb-h1, tensor=4, peak&lt;70, !unmöglich ...</translation>
    </message>
    <message>
        <source>CSV...</source>
        <translation>CSV...</translation>
    </message>
    <message>
        <source>Write the table as CSV</source>
        <translation>Die Tabelle als CSV schreiben</translation>
    </message>
    <message>
        <source>Plans of the sweep</source>
        <translation>Pläne des Sweeps</translation>
    </message>
    <message>
        <source>Across</source>
        <translation>Waagrecht</translation>
    </message>
    <message>
        <source>Up</source>
        <translation>Senkrecht</translation>
    </message>
    <message>
        <source>Coloured by</source>
        <translation>Gefärbt nach</translation>
    </message>
    <message>
        <source>The best plan</source>
        <translation>Der beste Plan</translation>
    </message>
    <message>
        <source>up</source>
        <translation>senkrecht</translation>
    </message>
    <message>
        <source>across</source>
        <translation>waagrecht</translation>
    </message>
    <message>
        <source>colour</source>
        <translation>Farbe</translation>
    </message>
    <message>
        <source>Write the table</source>
        <translation>Die Tabelle schreiben</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabelle</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TensorPanel</name>
    <message>
        <source>What a rank holds at its peak</source>
        <translation>Was ein Rank an seiner Spitze belegt</translation>
    </message>
    <message>
        <source>held at the peak</source>
        <translation>an der Spitze belegt</translation>
    </message>
    <message>
        <source>size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>stage</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>microbatch</source>
        <translation>Microbatch</translation>
    </message>
    <message>
        <source>born</source>
        <translation>entsteht</translation>
    </message>
    <message>
        <source>dies</source>
        <translation>vergeht</translation>
    </message>
    <message>
        <source>Click the dot on a memory lane: what is held there is listed here</source>
        <translation>Den Punkt auf einer Speicherspur anklicken: was dort belegt ist, steht hier</translation>
    </message>
    <message>
        <source>A trace does not say which tensors it held</source>
        <translation>Ein Trace sagt nicht, welche Tensoren er belegte</translation>
    </message>
    <message>
        <source>This plan has no rank %1</source>
        <translation>Dieser Plan hat keinen Rank %1</translation>
    </message>
    <message>
        <source>rank %1: %2</source>
        <translation>Rank %1: %2</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TensorsDock</name>
    <message>
        <source>Tensors</source>
        <translation>Tensoren</translation>
    </message>
    <message>
        <source>the tensors that a rank holds at its peak</source>
        <translation>die Tensoren, die ein Rank an seiner Spitze hält</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TextDock</name>
    <message>
        <source>Scenario</source>
        <translation>Szenario</translation>
    </message>
    <message>
        <source>the scenario&apos;s text, with its mistakes where they are</source>
        <translation>der Text des Szenarios, mit seinen Fehlern an ihrem Ort</translation>
    </message>
    <message>
        <source>Edit the scenario&apos;s te&amp;xt</source>
        <translation>Den Te&amp;xt des Szenarios bearbeiten</translation>
    </message>
    <message>
        <source>Below the timeline</source>
        <translation>Unter der Zeitleiste</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TimelinePage</name>
    <message>
        <source>Timeline</source>
        <translation>Zeitleiste</translation>
    </message>
    <message>
        <source>what every rank does and when, why it waits, and what it holds</source>
        <translation>was jeder Rank wann tut, warum er wartet, und was er hält</translation>
    </message>
    <message>
        <source>Show the ti&amp;meline</source>
        <translation>Die &amp;Zeitleiste zeigen</translation>
    </message>
    <message>
        <source>In the middle of the window</source>
        <translation>In der Mitte des Fensters</translation>
    </message>
    <message>
        <source>zoom in and out; Ctrl+wheel zooms at the pointer</source>
        <translation>hinein- und herauszoomen; Strg+Rad zoomt am Zeiger</translation>
    </message>
    <message>
        <source>left and right; Shift+drag moves</source>
        <translation>links und rechts; Umschalt+Ziehen verschiebt</translation>
    </message>
    <message>
        <source>drag</source>
        <translation>ziehen</translation>
    </message>
    <message>
        <source>measure, snapping to the edges of actions, with the totals of the rows that the drag crosses</source>
        <translation>messen, an den Rändern von Aktionen einrastend, mit den Summen der Zeilen, über die gezogen wird</translation>
    </message>
    <message>
        <source>click</source>
        <translation>Klick</translation>
    </message>
    <message>
        <source>select an action or a bubble: what it waits for, and why</source>
        <translation>eine Aktion oder Bubble auswählen: worauf sie wartet, und warum</translation>
    </message>
    <message>
        <source>centre the selection, then fit it</source>
        <translation>die Auswahl in die Mitte holen, dann einpassen</translation>
    </message>
    <message>
        <source>next and previous action</source>
        <translation>nächste und vorige Aktion</translation>
    </message>
    <message>
        <source>next and previous bubble: its cause and length are in the details</source>
        <translation>nächste und vorige Bubble: Ursache und Länge stehen in den Einzelheiten</translation>
    </message>
    <message>
        <source>go to the action that ends the selected bubble</source>
        <translation>zur Aktion gehen, die die ausgewählte Bubble beendet</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <source>of the selection&apos;s row: streams, keep at the top, make thin</source>
        <translation>der Zeile der Auswahl: Streams, oben halten, schmal machen</translation>
    </message>
    <message>
        <source>mark</source>
        <translation>Marke</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Leertaste</translation>
    </message>
    <message>
        <source>play the step, or stop; a drag along the ruler moves its cursor</source>
        <translation>den Schritt abspielen oder anhalten; Ziehen am Lineal bewegt den Cursor</translation>
    </message>
    <message>
        <source>critical path</source>
        <translation>kritischer Pfad</translation>
    </message>
    <message>
        <source>show all</source>
        <translation>alles zeigen</translation>
    </message>
    <message>
        <source>clear selection and measure</source>
        <translation>Auswahl und Messung löschen</translation>
    </message>
    <message>
        <source>click the dot</source>
        <translation>Klick auf den Punkt</translation>
    </message>
    <message>
        <source>of a memory lane: the tensors that are held at its peak</source>
        <translation>einer Speicherspur: die Tensoren, die an ihrer Spitze belegt sind</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TimelineView</name>
    <message>
        <source>Selection</source>
        <translation>Auswahl</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Zeitleiste</translation>
    </message>
    <message>
        <source>Show its streams</source>
        <translation>Seine Streams zeigen</translation>
    </message>
    <message>
        <source>Show its links</source>
        <translation>Seine Verbindungen zeigen</translation>
    </message>
    <message>
        <source>Keep at the top</source>
        <translation>Oben halten</translation>
    </message>
    <message>
        <source>Make thin</source>
        <translation>Schmal machen</translation>
    </message>
    <message>
        <source>Fold similar ranks</source>
        <translation>Ähnliche Ranks falten</translation>
    </message>
    <message>
        <source>Show every rank</source>
        <translation>Jeden Rank zeigen</translation>
    </message>
    <message>
        <source>Tensors at its peak</source>
        <translation>Tensoren an seiner Spitze</translation>
    </message>
    <message>
        <source>Show all %1 replicas</source>
        <translation>Alle %1 Replikate zeigen</translation>
    </message>
</context>
<context>
    <name>debubble::gui::TornadoView</name>
    <message>
        <source>The step at half and at twice of each constant of the machine</source>
        <translation>Der Schritt bei der Hälfte und beim Doppelten jeder Konstante der Maschine</translation>
    </message>
    <message>
        <source>Drag a knob along its bar: what if the machine were such?</source>
        <translation>Einen Knopf an seinem Balken ziehen: was, wenn die Maschine so wäre?</translation>
    </message>
    <message>
        <source>impossible</source>
        <translation>unmöglich</translation>
    </message>
    <message>
        <source>at %1: %2</source>
        <translation>bei %1: %2</translation>
    </message>
    <message>
        <source>half: %1, twice: %2</source>
        <translation>halb: %1, doppelt: %2</translation>
    </message>
    <message>
        <source> × %1</source>
        <translation> × %1</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>Kein Plan ist offen</translation>
    </message>
    <message>
        <source>The plan is predicted on other machines ...</source>
        <translation>Der Plan wird auf anderen Maschinen vorhergesagt ...</translation>
    </message>
    <message>
        <source>Step %1; at half and at twice of</source>
        <translation>Schritt %1; halb und doppelt:</translation>
    </message>
</context>
<context>
    <name>debubble::gui::WhatIfDock</name>
    <message>
        <source>What if</source>
        <translation>Was wäre wenn</translation>
    </message>
    <message>
        <source>the scenario&apos;s fields; a change is predicted at once</source>
        <translation>die Felder des Szenarios; eine Änderung wird sofort vorhergesagt</translation>
    </message>
</context>
<context>
    <name>debubble::gui::WhatIfPanel</name>
    <message>
        <source>Difference to the plan before</source>
        <translation>Unterschied zum Plan davor</translation>
    </message>
    <message>
        <source> (follows from the rest)</source>
        <translation> (folgt aus dem Rest)</translation>
    </message>
</context>
<context>
    <name>debubble::gui::WholeRunPage</name>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>the whole training: days, cost, failures, and where its time goes</source>
        <translation>das ganze Training: Tage, Kosten, Ausfälle, und wohin seine Zeit geht</translation>
    </message>
    <message>
        <source>Show the whole r&amp;un</source>
        <translation>Den ganzen La&amp;uf zeigen</translation>
    </message>
    <message>
        <source>Days, cost, and where its time goes</source>
        <translation>Tage, Kosten, und wohin seine Zeit geht</translation>
    </message>
    <message>
        <source>Left, Right, Enter</source>
        <translation>Links, Rechts, Eingabe</translation>
    </message>
    <message>
        <source>on the curve: choose a number of nodes, and take it</source>
        <translation>auf der Kurve: eine Zahl von Knoten wählen, und sie nehmen</translation>
    </message>
    <message>
        <source>drag, Left, Right</source>
        <translation>ziehen, Links, Rechts</translation>
    </message>
    <message>
        <source>the knob of the interval; Home takes what loses least</source>
        <translation>der Knopf des Abstands; Pos1 nimmt, was am wenigsten verliert</translation>
    </message>
    <message>
        <source>wheel, W, S</source>
        <translation>Rad, W, S</translation>
    </message>
    <message>
        <source>zoom the drawn run; a drag, A and D move it, Home shows all</source>
        <translation>den gezogenen Lauf vergrößern; Ziehen, A und D verschieben ihn, Pos1 zeigt alles</translation>
    </message>
</context>
<context>
    <name>debubble::gui::WorstTable</name>
    <message>
        <source>Actions that differ most</source>
        <translation>Aktionen, die sich am meisten unterscheiden</translation>
    </message>
    <message>
        <source>worst</source>
        <translation>schlimmste</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>apart</source>
        <translation>auseinander</translation>
    </message>
    <message>
        <source>error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>differ most</source>
        <translation>am verschiedensten</translation>
    </message>
    <message>
        <source>change</source>
        <translation>Änderung</translation>
    </message>
</context>
<context>
    <name>debubble::gui::YamlEditor</name>
    <message>
        <source>Scenario text</source>
        <translation>Text des Szenarios</translation>
    </message>
</context>
<context>
    <name>debubble::gui::ZooPanel</name>
    <message>
        <source>Schedules of the plan</source>
        <translation>Schedules des Plans</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>step, on one axis</source>
        <translation>Schritt, auf einer Achse</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Bubble</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>sichtbar</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>Spitze</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>Kein Plan ist offen</translation>
    </message>
    <message>
        <source>Every schedule is predicted ...</source>
        <translation>Jeder Schedule wird vorhergesagt ...</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt;: step %2. Enter takes it, Space pins it.</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;: Schritt %2. Eingabe nimmt ihn, Leertaste heftet ihn an.</translation>
    </message>
    <message>
        <source>, %1 stages a rank</source>
        <translation>, %1 Stufen je Rank</translation>
    </message>
    <message>
        <source>%1: Enter takes it, Space pins it</source>
        <translation>%1: Eingabe nimmt ihn, Leertaste heftet ihn an</translation>
    </message>
    <message>
        <source> (pinned)</source>
        <translation> (angeheftet)</translation>
    </message>
    <message>
        <source>cannot be had</source>
        <translation>nicht möglich</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
</context>
<context>
    <name>details</name>
    <message>
        <source>exposed communication</source>
        <translation>sichtbare Kommunikation</translation>
    </message>
    <message>
        <source>idle: {}</source>
        <translation>untätig: {}</translation>
    </message>
    <message>
        <source>{} of 1 rank: </source>
        <translation>{} von 1 Rank: </translation>
    </message>
    <message>
        <source>{} of {} ranks: </source>
        <translation>{} von {} Ranks: </translation>
    </message>
    <message>
        <source>start of {}</source>
        <translation>Beginn von {}</translation>
    </message>
    <message>
        <source>end of {}</source>
        <translation>Ende von {}</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <source>to</source>
        <translation>bis</translation>
    </message>
    <message>
        <source>similar ranks {} to {}</source>
        <translation>ähnliche Ranks {} bis {}</translation>
    </message>
    <message>
        <source>all passes</source>
        <translation>alle Durchläufe</translation>
    </message>
    <message>
        <source>count A</source>
        <translation>Anzahl A</translation>
    </message>
    <message>
        <source>count B</source>
        <translation>Anzahl B</translation>
    </message>
    <message>
        <source>change</source>
        <translation>Änderung</translation>
    </message>
    <message>
        <source>by kind</source>
        <translation>nach Art</translation>
    </message>
    <message>
        <source>passes by rank</source>
        <translation>Durchläufe je Rank</translation>
    </message>
    <message>
        <source>of</source>
        <translation>von</translation>
    </message>
    <message>
        <source>in {}</source>
        <translation>in {}</translation>
    </message>
    <message>
        <source>does not occur</source>
        <translation>kommt nicht vor</translation>
    </message>
    <message>
        <source>A against B</source>
        <translation>A gegen B</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>waits for nothing</source>
        <translation>wartet auf nichts</translation>
    </message>
    <message>
        <source>{} after {}</source>
        <translation>{} nach {}</translation>
    </message>
    <message>
        <source>follows {}</source>
        <translation>folgt auf {}</translation>
    </message>
    <message>
        <source>action</source>
        <translation>Aktion</translation>
    </message>
    <message>
        <source>where</source>
        <translation>wo</translation>
    </message>
    <message>
        <source>start</source>
        <translation>Beginn</translation>
    </message>
    <message>
        <source>duration</source>
        <translation>Dauer</translation>
    </message>
    <message>
        <source>of it waiting</source>
        <translation>davon wartend</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>begins</source>
        <translation>beginnt</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Bubble</translation>
    </message>
    <message>
        <source>rank {}</source>
        <translation>Rank {}</translation>
    </message>
    <message>
        <source>{}, {:.2g} % of the step</source>
        <translation>{}, {:.2g} % des Schritts</translation>
    </message>
    <message>
        <source>ended by</source>
        <translation>beendet durch</translation>
    </message>
    <message>
        <source>idle in all</source>
        <translation>untätig insgesamt</translation>
    </message>
    <message>
        <source>held</source>
        <translation>belegt</translation>
    </message>
    <message>
        <source>at</source>
        <translation>bei</translation>
    </message>
    <message>
        <source>during</source>
        <translation>während</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>Spitze</translation>
    </message>
    <message>
        <source>lacking</source>
        <translation>es fehlen</translation>
    </message>
    <message>
        <source>left</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>above the limit</source>
        <translation>über der Grenze</translation>
    </message>
    <message>
        <source>idle {:.1f} %</source>
        <translation>untätig {:.1f} %</translation>
    </message>
    <message>
        <source>, {} of them</source>
        <translation>, {} davon</translation>
    </message>
    <message>
        <source>{} GiB at {} {}</source>
        <translation>{} GiB bei {} {}</translation>
    </message>
    <message>
        <source>cost</source>
        <translation>Kosten</translation>
    </message>
    <message>
        <source>{} in {} operators</source>
        <translation>{} in {} Operatoren</translation>
    </message>
    <message>
        <source>each</source>
        <translation>je</translation>
    </message>
    <message>
        <source>node</source>
        <translation>im Knoten</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>links</source>
        <translation>Verbindungen</translation>
    </message>
    <message>
        <source>used</source>
        <translation>genutzt</translation>
    </message>
    <message>
        <source>{:.1f} % of {:.3g} GB/s</source>
        <translation>{:.1f} % von {:.3g} GB/s</translation>
    </message>
    <message>
        <source>on average</source>
        <translation>im Mittel</translation>
    </message>
    <message>
        <source>sent</source>
        <translation>gesendet</translation>
    </message>
</context>
<context>
    <name>export</name>
    <message>
        <source>Vector picture</source>
        <translation>Vektorbild</translation>
    </message>
    <message>
        <source>Page to mail</source>
        <translation>Seite zum Verschicken</translation>
    </message>
    <message>
        <source>Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Document</source>
        <translation>Dokument</translation>
    </message>
    <message>
        <source>Race of both</source>
        <translation>Wettlauf der beiden</translation>
    </message>
    <message>
        <source>Step that is played</source>
        <translation>Schritt, der abläuft</translation>
    </message>
    <message>
        <source>Race of both, as video</source>
        <translation>Wettlauf der beiden, als Video</translation>
    </message>
    <message>
        <source>Step that is played, as video</source>
        <translation>Schritt, der abläuft, als Video</translation>
    </message>
    <message>
        <source>Comparison in figures</source>
        <translation>Vergleich in Zahlen</translation>
    </message>
    <message>
        <source>Trace for Perfetto</source>
        <translation>Trace für Perfetto</translation>
    </message>
    <message>
        <source>Table of the actions of both</source>
        <translation>Tabelle der Aktionen beider</translation>
    </message>
    <message>
        <source>Table of actions</source>
        <translation>Tabelle der Aktionen</translation>
    </message>
</context>
<context>
    <name>fields</name>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>a model of the zoo; other files and maps in the text below</source>
        <translation>ein Modell des Zoos; andere Dateien und Angaben im Text unten</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>the first layers of the base, or all</source>
        <translation>die ersten Schichten des Grundmodells, oder alle</translation>
    </message>
    <message>
        <source>Cluster</source>
        <translation>Cluster</translation>
    </message>
    <message>
        <source>the machine</source>
        <translation>die Maschine</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPUs</translation>
    </message>
    <message>
        <source>GPUs of all nodes</source>
        <translation>GPUs aller Knoten</translation>
    </message>
    <message>
        <source>Nodes</source>
        <translation>Knoten</translation>
    </message>
    <message>
        <source>nodes of the cluster</source>
        <translation>Knoten des Clusters</translation>
    </message>
    <message>
        <source>Tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>GPUs that share each layer (TP)</source>
        <translation>GPUs, die sich jede Schicht teilen (TP)</translation>
    </message>
    <message>
        <source>Pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>ranks that share out the layers (PP)</source>
        <translation>Ranks, auf die die Schichten verteilt sind (PP)</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>GPUs that share each sequence (CP)</source>
        <translation>GPUs, die sich jede Sequenz teilen (CP)</translation>
    </message>
    <message>
        <source>Expert</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>GPUs that share each layer&apos;s experts (EP)</source>
        <translation>GPUs, die sich die Experten jeder Schicht teilen (EP)</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>replicas (DP); auto: all GPUs that are left</source>
        <translation>Replikate (DP); auto: alle übrigen GPUs</translation>
    </message>
    <message>
        <source>now {}</source>
        <translation>jetzt {}</translation>
    </message>
    <message>
        <source>Sequence parallel</source>
        <translation>Sequenzparallel</translation>
    </message>
    <message>
        <source>norms and dropout cut along the sequence, inside the tensor group</source>
        <translation>Normen und Dropout entlang der Sequenz geschnitten, in der Tensorgruppe</translation>
    </message>
    <message>
        <source>Dynamic context</source>
        <translation>Dynamischer Kontext</translation>
    </message>
    <message>
        <source>groups of GPUs as large as the documents of a packed microbatch need</source>
        <translation>GPU-Gruppen so groß, wie die Dokumente eines gepackten Microbatches sie brauchen</translation>
    </message>
    <message>
        <source>imbalance.sequence gives no lengths of documents</source>
        <translation>imbalance.sequence gibt keine Längen von Dokumenten an</translation>
    </message>
    <message>
        <source>Expert tensor</source>
        <translation>Expertentensor</translation>
    </message>
    <message>
        <source>GPUs that cut each expert (ETP)</source>
        <translation>GPUs, die jeden Experten schneiden (ETP)</translation>
    </message>
    <message>
        <source>Expert load</source>
        <translation>Expertenlast</translation>
    </message>
    <message>
        <source>tokens at the fullest GPU&apos;s experts over the mean; 1: the router balances</source>
        <translation>Tokens bei den Experten der vollsten GPU durch das Mittel; 1: der Router gleicht aus</translation>
    </message>
    <message>
        <source>Balancing loss</source>
        <translation>Ausgleichsverlust</translation>
    </message>
    <message>
        <source>the factor of the auxiliary loss; 0: there is none</source>
        <translation>der Faktor des Hilfsverlusts; 0: es gibt keinen</translation>
    </message>
    <message>
        <source>Balanced tokens</source>
        <translation>Ausgeglichene Tokens</translation>
    </message>
    <message>
        <source>those of a microbatch, of each sequence, or of a step on all replicas</source>
        <translation>die eines Microbatches, jeder Sequenz, oder eines Schritts auf allen Replikaten</translation>
    </message>
    <message>
        <source>Z-loss</source>
        <translation>Z-Loss</translation>
    </message>
    <message>
        <source>the factor of the loss that keeps logits of routers small; 0: there is none</source>
        <translation>der Faktor des Verlusts, der Logits der Router klein hält; 0: es gibt keinen</translation>
    </message>
    <message>
        <source>{} has no experts</source>
        <translation>{} hat keine Experten</translation>
    </message>
    <message>
        <source>Schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>who computes what, in which order</source>
        <translation>wer was in welcher Reihenfolge rechnet</translation>
    </message>
    <message>
        <source>Stages per rank</source>
        <translation>Stufen je Rank</translation>
    </message>
    <message>
        <source>chunks of the model on each pipeline rank</source>
        <translation>Chunks des Modells auf jedem Rank der Pipeline</translation>
    </message>
    <message>
        <source>Microbatch</source>
        <translation>Microbatch</translation>
    </message>
    <message>
        <source>samples that pass the pipeline together</source>
        <translation>Beispiele, die zusammen durch die Pipeline gehen</translation>
    </message>
    <message>
        <source>Microbatches</source>
        <translation>Microbatches</translation>
    </message>
    <message>
        <source>microbatches per replica and step</source>
        <translation>Microbatches je Replikat und Schritt</translation>
    </message>
    <message>
        <source>Global batch</source>
        <translation>Globaler Batch</translation>
    </message>
    <message>
        <source>samples of a step, of all replicas</source>
        <translation>Beispiele eines Schritts, aller Replikate</translation>
    </message>
    <message>
        <source>Sequence</source>
        <translation>Sequenz</translation>
    </message>
    <message>
        <source>tokens of a sample</source>
        <translation>Tokens eines Beispiels</translation>
    </message>
    <message>
        <source>Recompute</source>
        <translation>Neu berechnen</translation>
    </message>
    <message>
        <source>activations computed again instead of kept</source>
        <translation>Aktivierungen neu berechnet statt behalten</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>sharded over replicas: 1 optimizer state, 2 and gradients, 3 and parameters</source>
        <translation>über Replikate zerteilt: 1 Zustand des Optimizers, 2 und Gradienten, 3 und Parameter</translation>
    </message>
    <message>
        <source>Shards</source>
        <translation>Shards</translation>
    </message>
    <message>
        <source>replicas that ZeRO shards over; copies of them add up what each has reduced</source>
        <translation>Replikate, über die ZeRO zerteilt; ihre Kopien summieren, was jedes reduziert hat</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>Genauigkeit</translation>
    </message>
    <message>
        <source>bf16: 18 bytes a parameter, pure-bf16: 8, fp32: 16; fp16 as bf16 with loss scaling</source>
        <translation>bf16: 18 Bytes je Parameter, pure-bf16: 8, fp32: 16; fp16 wie bf16 mit Loss-Skalierung</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>flash keeps no scores</source>
        <translation>flash behält keine Scores</translation>
    </message>
    <message>
        <source>Offload optimizer</source>
        <translation>Optimizer auslagern</translation>
    </message>
    <message>
        <source>main parameters and moments in the host&apos;s memory</source>
        <translation>Hauptparameter und Momente im Speicher des Hosts</translation>
    </message>
    <message>
        <source>Tensor overlap</source>
        <translation>Tensor-Überlappung</translation>
    </message>
    <message>
        <source>GEMMs run in chunks, overlapped with their tensor-parallel collectives</source>
        <translation>GEMMs laufen in Chunks, überlappt mit ihren tensorparallelen Kollektiven</translation>
    </message>
    <message>
        <source>Dispatcher</source>
        <translation>Dispatcher</translation>
    </message>
    <message>
        <source>how tokens get to the ranks of their experts</source>
        <translation>wie Tokens zu den Ranks ihrer Experten kommen</translation>
    </message>
    <message>
        <source>CUDA graphs</source>
        <translation>CUDA-Graphen</translation>
    </message>
    <message>
        <source>what the host launches as graphs; lists of modules in the text below</source>
        <translation>was der Host als Graphen startet; Listen von Modulen im Text unten</translation>
    </message>
    <message>
        <source>Router&apos;s spread</source>
        <translation>Streuung des Routers</translation>
    </message>
    <message>
        <source>how much loads of experts differ by layer and microbatch, over their mean</source>
        <translation>wie sehr Lasten der Experten sich je Schicht und Microbatch unterscheiden, durch ihr Mittel</translation>
    </message>
    <message>
        <source>every GPU has all experts of a layer</source>
        <translation>jede GPU hat alle Experten einer Schicht</translation>
    </message>
    <message>
        <source>Jitter</source>
        <translation>Jitter</translation>
    </message>
    <message>
        <source>how much the times of computes differ, over their mean</source>
        <translation>wie sehr die Zeiten von Rechnungen sich unterscheiden, durch ihr Mittel</translation>
    </message>
    <message>
        <source>Schedule and parallelism</source>
        <translation>Schedule und Parallelität</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Batch</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>fits within the error</source>
        <translation>passt im Rahmen des Fehlers</translation>
    </message>
    <message>
        <source>does not fit, within the error</source>
        <translation>passt nicht, im Rahmen des Fehlers</translation>
    </message>
    <message>
        <source>no longer fits</source>
        <translation>passt nicht mehr</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>fits now</source>
        <translation>passt jetzt</translation>
    </message>
    <message>
        <source>Where the step goes</source>
        <translation>Wohin der Schritt geht</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>Rechnen</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>sichtbare Kommunikation</translation>
    </message>
    <message>
        <source>exposed: {}</source>
        <translation>sichtbar: {}</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimizer</translation>
    </message>
    <message>
        <source>idle: {}</source>
        <translation>untätig: {}</translation>
    </message>
    <message>
        <source>; {} reserved</source>
        <translation>; {} reserviert</translation>
    </message>
    <message>
        <source>rank {}</source>
        <translation>Rank {}</translation>
    </message>
    <message>
        <source>{} of {} GiB at {}</source>
        <translation>{} von {} GiB bei {}</translation>
    </message>
    <message>
        <source>{} GiB at {}</source>
        <translation>{} GiB bei {}</translation>
    </message>
    <message>
        <source>no change</source>
        <translation>keine Änderung</translation>
    </message>
    <message>
        <source>step {:+.1f} %, bubble {}, peak {}, {}</source>
        <translation>Schritt {:+.1f} %, Bubble {}, Spitze {}, {}</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>Schrittzeit</translation>
    </message>
    <message>
        <source>range</source>
        <translation>Bereich</translation>
    </message>
    <message>
        <source>{} to {}</source>
        <translation>{} bis {}</translation>
    </message>
    <message>
        <source>throughput</source>
        <translation>Durchsatz</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>MFU, causal</source>
        <translation>MFU, kausal</translation>
    </message>
    <message>
        <source>HFU</source>
        <translation>HFU</translation>
    </message>
    <message>
        <source>per GPU</source>
        <translation>je GPU</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Bubble</translation>
    </message>
    <message>
        <source>{} (span {})</source>
        <translation>{} (Spanne {})</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>published peaks</source>
        <translation>veröffentlichte Spitzen</translation>
    </message>
    <message>
        <source>{} to {} GiB</source>
        <translation>{} bis {} GiB</translation>
    </message>
    <message>
        <source>headroom</source>
        <translation>Reserve</translation>
    </message>
    <message>
        <source>memory left</source>
        <translation>Speicher frei</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>Spitze des Speichers</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Hinweise</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>for one token</source>
        <translation>für ein Token</translation>
    </message>
    <message>
        <source>{} parameters</source>
        <translation>{} Parameter</translation>
    </message>
    <message>
        <source>trace</source>
        <translation>Trace</translation>
    </message>
    <message>
        <source>program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>cannot be told</source>
        <translation>nicht zu sagen</translation>
    </message>
    <message>
        <source>{}: {} GiB too much</source>
        <translation>{}: {} GiB zu viel</translation>
    </message>
</context>
<context>
    <name>formula</name>
    <message>
        <source>the fourth root of device^4 + host^4, less the device&apos;s own time</source>
        <translation>die vierte Wurzel aus Gerät^4 + Host^4, weniger die eigene Zeit des Geräts</translation>
    </message>
    <message>
        <source>gathered and reduced between replicas, as far as nothing hides it</source>
        <translation>zwischen Replikaten gesammelt und reduziert, soweit nichts es verdeckt</translation>
    </message>
    <message>
        <source>measured: the interpreter&apos;s own work in a pass</source>
        <translation>gemessen: die eigene Arbeit des Interpreters in einem Durchlauf</translation>
    </message>
    <message>
        <source>the pass&apos;s share of host_micro_batch, since the host waits for messages before it goes on</source>
        <translation>der Anteil des Durchlaufs an host_micro_batch, da der Host auf Nachrichten wartet, bevor er weitermacht</translation>
    </message>
    <message>
        <source>, {:.0f} % of the peak</source>
        <translation>, {:.0f} % der Spitze</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>, window {}</source>
        <translation>, Fenster {}</translation>
    </message>
    <message>
        <source>, causal</source>
        <translation>, kausal</translation>
    </message>
    <message>
        <source>{} heads × {} queries × {} keys</source>
        <translation>{} Köpfe × {} Queries × {} Keys</translation>
    </message>
    <message>
        <source>, × {:.3g} of the best library&apos;s time</source>
        <translation>, × {:.3g} der Zeit der besten Bibliothek</translation>
    </message>
    <message>
        <source>formula</source>
        <translation>Formel</translation>
    </message>
    <message>
        <source>rate</source>
        <translation>Rate</translation>
    </message>
    <message>
        <source>{} of one multiprocessor / {} + {}</source>
        <translation>{} eines Multiprozessors / {} + {}</translation>
    </message>
    <message>
        <source>({} read + {} written) / {:.4g} GB/s{} + {}</source>
        <translation>({} gelesen + {} geschrieben) / {:.4g} GB/s{} + {}</translation>
    </message>
    <message>
        <source>the shared experts, on a stream of their own</source>
        <translation>den geteilten Experten, auf einem eigenen Stream</translation>
    </message>
    <message>
        <source>the kernel that follows, computed chunk by chunk as the chunks arrive</source>
        <translation>dem folgenden Kernel, der Chunk für Chunk rechnet, wie sie eintreffen</translation>
    </message>
    <message>
        <source>the kernel before it, computed chunk by chunk as the chunks are sent</source>
        <translation>dem Kernel davor, der Chunk für Chunk rechnet, wie sie gesendet werden</translation>
    </message>
    <message>
        <source>the kernel that follows</source>
        <translation>dem folgenden Kernel</translation>
    </message>
    <message>
        <source>the {} kernels that follow</source>
        <translation>den {} folgenden Kernels</translation>
    </message>
    <message>
        <source>nothing of it; where the framework overlaps them, {} could be</source>
        <translation>nichts davon; wo das Framework überlappt, könnte es mit {} sein</translation>
    </message>
    <message>
        <source>by nothing</source>
        <translation>durch nichts</translation>
    </message>
    <message>
        <source>{} of it, overlapped with {}</source>
        <translation>{} davon, überlappt mit {}</translation>
    </message>
    <message>
        <source>{}{} of {} in the {} group: {} alone</source>
        <translation>{}{} von {} in der Gruppe {}: {} allein</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>verdeckt</translation>
    </message>
    <message>
        <source>the median of the measurements</source>
        <translation>der Median der Messungen</translation>
    </message>
    <message>
        <source>not measured: by the rates of the device</source>
        <translation>nicht gemessen: nach den Raten des Geräts</translation>
    </message>
    <message>
        <source>cost</source>
        <translation>Kosten</translation>
    </message>
    <message>
        <source>{} alone</source>
        <translation>{} allein</translation>
    </message>
    <message>
        <source>{} + {} / {:.4g} GB/s = {} alone</source>
        <translation>{} + {} / {:.4g} GB/s = {} allein</translation>
    </message>
</context>
<context>
    <name>help</name>
    <message>
        <source>before the rank&apos;s first compute</source>
        <translation>vor der ersten Rechnung des Ranks</translation>
    </message>
    <message>
        <source>after the rank&apos;s last compute, while others still compute</source>
        <translation>nach der letzten Rechnung des Ranks, während andere noch rechnen</translation>
    </message>
    <message>
        <source>another rank&apos;s compute is not done yet</source>
        <translation>die Rechnung eines anderen Ranks ist noch nicht fertig</translation>
    </message>
    <message>
        <source>the message is ready and has not arrived</source>
        <translation>die Nachricht ist fertig und nicht angekommen</translation>
    </message>
    <message>
        <source>peers of a gather or reduction are late</source>
        <translation>Teilnehmer eines Gathers oder einer Reduktion sind zu spät</translation>
    </message>
    <message>
        <source>no rank computes any more</source>
        <translation>kein Rank rechnet mehr</translation>
    </message>
    <message>
        <source>all inputs are there, and the host is late</source>
        <translation>alle Eingaben sind da, und der Host ist zu spät</translation>
    </message>
    <message>
        <source>another rank has a greater load than the mean</source>
        <translation>ein anderer Rank hat eine größere Last als die mittlere</translation>
    </message>
    <message>
        <source>2F7</source>
        <translation>2F7</translation>
    </message>
    <message>
        <source>the forward of stage 2, microbatch 7; 2F7.1 of its slice 1</source>
        <translation>der Forward der Stufe 2, Microbatch 7; 2F7.1 seiner Scheibe 1</translation>
    </message>
    <message>
        <source>B, I, W</source>
        <translation>B, I, W</translation>
    </message>
    <message>
        <source>backward; its halves: I makes the gradient of the input, which the stage before needs, and W that of the weights, which can wait</source>
        <translation>Backward; seine Hälften: I macht den Gradienten der Eingabe, den die Stufe davor braucht, und W den der Gewichte, der warten kann</translation>
    </message>
    <message>
        <source>R</source>
        <translation>R</translation>
    </message>
    <message>
        <source>a forward that is computed again, from the stage&apos;s saved input</source>
        <translation>ein Forward, der neu berechnet wird, aus der gespeicherten Eingabe der Stufe</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>from the first action of all ranks to the last</source>
        <translation>von der ersten Aktion aller Ranks bis zur letzten</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Bubble</translation>
    </message>
    <message>
        <source>1 - computes / (ranks x makespan); a rank&apos;s idle time</source>
        <translation>1 - Rechnungen / (Ranks x Makespan); die untätige Zeit eines Ranks</translation>
    </message>
    <message>
        <source>makespan</source>
        <translation>Makespan</translation>
    </message>
    <message>
        <source>from the first compute of all ranks to the last</source>
        <translation>von der ersten Rechnung aller Ranks bis zur letzten</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>sichtbar</translation>
    </message>
    <message>
        <source>communication during which the rank computes nothing</source>
        <translation>Kommunikation, während der der Rank nichts rechnet</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>model FLOPs per second over the peak of their type; masked attention counts whole</source>
        <translation>FLOPs des Modells je Sekunde durch die Spitze ihres Typs; maskierte Attention zählt ganz</translation>
    </message>
    <message>
        <source>MFU, causal</source>
        <translation>MFU, kausal</translation>
    </message>
    <message>
        <source>the same with only what the mask leaves</source>
        <translation>dasselbe nur mit dem, was die Maske übrig lässt</translation>
    </message>
    <message>
        <source>HFU</source>
        <translation>HFU</translation>
    </message>
    <message>
        <source>the same with what is computed again</source>
        <translation>dasselbe mit dem, was neu berechnet wird</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>Spitze</translation>
    </message>
    <message>
        <source>the most memory that a rank holds; the allocator reserves some more</source>
        <translation>der meiste Speicher, den ein Rank belegt; der Allokator reserviert etwas mehr</translation>
    </message>
</context>
<context>
    <name>kinds</name>
    <message>
        <source>tensor parallel</source>
        <translation>tensorparallel</translation>
    </message>
    <message>
        <source>context parallel</source>
        <translation>kontextparallel</translation>
    </message>
    <message>
        <source>expert parallel</source>
        <translation>expertenparallel</translation>
    </message>
    <message>
        <source>data parallel</source>
        <translation>datenparallel</translation>
    </message>
    <message>
        <source>pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>copies to the host</source>
        <translation>Kopien zum Host</translation>
    </message>
</context>
<context>
    <name>links</name>
    <message>
        <source>The trace holds no sizes of messages, so that nothing tells what the links carry.</source>
        <translation>Die Aufzeichnung enthält keine Größen von Nachrichten, sodass nichts sagt, was die Verbindungen tragen.</translation>
    </message>
    <message>
        <source>Nothing is sent over links here.</source>
        <translation>Hier wird nichts über Verbindungen gesendet.</translation>
    </message>
</context>
<context>
    <name>opening</name>
    <message>
        <source>step {} of {}{}</source>
        <translation>Schritt {} von {}{}</translation>
    </message>
    <message>
        <source>, the median one</source>
        <translation>, der mittlere</translation>
    </message>
    <message>
        <source>{} files: at most two can be compared</source>
        <translation>{} Dateien: höchstens zwei lassen sich vergleichen</translation>
    </message>
    <message>
        <source>--set changes a scenario, and {} is a trace</source>
        <translation>--set ändert ein Szenario, und {} ist ein Trace</translation>
    </message>
    <message>
        <source>{} holds no program that {} could be of</source>
        <translation>{} enthält kein Programm, zu dem {} gehören könnte</translation>
    </message>
    <message>
        <source>{} shows no action of this plan</source>
        <translation>{} zeigt keine Aktion dieses Plans</translation>
    </message>
    <message>
        <source>not compared: {}</source>
        <translation>nicht verglichen: {}</translation>
    </message>
    <message>
        <source> (median)</source>
        <translation> (Median)</translation>
    </message>
</context>
<context>
    <name>parts</name>
    <message>
        <source>compute</source>
        <translation>Rechnen</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>sichtbare Kommunikation</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimizer</translation>
    </message>
    <message>
        <source>idle: warm-up</source>
        <translation>untätig: Anlauf</translation>
    </message>
    <message>
        <source>idle: cool-down</source>
        <translation>untätig: Auslauf</translation>
    </message>
    <message>
        <source>idle: waits for a stage</source>
        <translation>untätig: wartet auf eine Stufe</translation>
    </message>
    <message>
        <source>idle: waits for a link</source>
        <translation>untätig: wartet auf eine Verbindung</translation>
    </message>
    <message>
        <source>idle: waits for a group</source>
        <translation>untätig: wartet auf eine Gruppe</translation>
    </message>
    <message>
        <source>idle: optimizer barrier</source>
        <translation>untätig: Schranke des Optimizers</translation>
    </message>
    <message>
        <source>idle: host late</source>
        <translation>untätig: Host zu spät</translation>
    </message>
    <message>
        <source>idle: uneven load</source>
        <translation>untätig: ungleiche Last</translation>
    </message>
</context>
<context>
    <name>play</name>
    <message>
        <source>begins in {}</source>
        <translation>beginnt in {}</translation>
    </message>
    <message>
        <source>has done its passes</source>
        <translation>ist mit seinen Durchläufen fertig</translation>
    </message>
    <message>
        <source>waits at the optimizer, {}</source>
        <translation>wartet am Optimizer, {}</translation>
    </message>
    <message>
        <source>waits for its host, {}</source>
        <translation>wartet auf seinen Host, {}</translation>
    </message>
    <message>
        <source>waits, {}</source>
        <translation>wartet, {}</translation>
    </message>
    <message>
        <source>waits for {} of rank {}, {}</source>
        <translation>wartet auf {} von Rank {}, {}</translation>
    </message>
    <message>
        <source>waits for {}, {}</source>
        <translation>wartet auf {}, {}</translation>
    </message>
    <message>
        <source>{} done at {}</source>
        <translation>{} fertig bei {}</translation>
    </message>
</context>
<context>
    <name>proposals</name>
    <message>
        <source>attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>Neu berechnen</translation>
    </message>
    <message>
        <source>CUDA graphs</source>
        <translation>CUDA-Graphen</translation>
    </message>
    <message>
        <source>tensor overlap</source>
        <translation>Tensor-Überlappung</translation>
    </message>
    <message>
        <source>sequence parallelism</source>
        <translation>Sequenzparallelität</translation>
    </message>
    <message>
        <source>dispatcher</source>
        <translation>Dispatcher</translation>
    </message>
    <message>
        <source>ZeRO</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>global batch</source>
        <translation>globaler Batch</translation>
    </message>
    <message>
        <source>stages per rank</source>
        <translation>Stufen je Rank</translation>
    </message>
    <message>
        <source>partition</source>
        <translation>Aufteilung</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>recompute selective</source>
        <translation>Neu berechnen selective</translation>
    </message>
    <message>
        <source>recompute full</source>
        <translation>Neu berechnen full</translation>
    </message>
    <message>
        <source>ZeRO 1</source>
        <translation>ZeRO 1</translation>
    </message>
    <message>
        <source>ZeRO 2</source>
        <translation>ZeRO 2</translation>
    </message>
    <message>
        <source>ZeRO 3</source>
        <translation>ZeRO 3</translation>
    </message>
    <message>
        <source>optimizer on the host</source>
        <translation>Optimizer auf dem Host</translation>
    </message>
    <message>
        <source>all GPUs that are left as replicas</source>
        <translation>alle übrigen GPUs als Replikate</translation>
    </message>
    <message>
        <source>as many microbatches as the batch needs</source>
        <translation>so viele Microbatches, wie der Batch braucht</translation>
    </message>
    <message>
        <source>schedule 1f1b</source>
        <translation>Schedule 1f1b</translation>
    </message>
    <message>
        <source>microbatch 1</source>
        <translation>Microbatch 1</translation>
    </message>
    <message>
        <source>tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>expert</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>microbatch</source>
        <translation>Microbatch</translation>
    </message>
    <message>
        <source>step {:+.1f} %</source>
        <translation>Schritt {:+.1f} %</translation>
    </message>
    <message>
        <source>step {}</source>
        <translation>Schritt {}</translation>
    </message>
    <message>
        <source>replicas and microbatches as they come</source>
        <translation>Replikate und Microbatches, wie sie sich ergeben</translation>
    </message>
    <message>
        <source>network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>node links</source>
        <translation>Knotenlinks</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <source>jitter</source>
        <translation>Jitter</translation>
    </message>
</context>
<context>
    <name>schedules</name>
    <message>
        <source>two 1F1B pipelines in opposite directions, two copies of the parameters</source>
        <translation>zwei 1F1B-Pipelines in Gegenrichtung, zwei Kopien der Parameter</translation>
    </message>
    <message>
        <source>interleaved 1F1B whose expert all-to-alls overlap in pairs of passes (Megatron-Core)</source>
        <translation>verschränktes 1F1B, dessen Expertenaustausch sich in Paaren verbirgt (Megatron-Core)</translation>
    </message>
    <message>
        <source>a handmade ZB-V whose expert all-to-alls overlap in pairs of passes (Primus)</source>
        <translation>ein handgemachtes ZB-V, dessen Expertenaustausch sich in Paaren verbirgt (Primus)</translation>
    </message>
    <message>
        <source>fed from both ends, forward and backward overlapped (DeepSeek-V3)</source>
        <translation>von beiden Enden gespeist, Forward und Backward überlappt (DeepSeek-V3)</translation>
    </message>
    <message>
        <source>DualPipe cut in half, one copy of the parameters</source>
        <translation>DualPipe halbiert, eine Kopie der Parameter</translation>
    </message>
    <message>
        <source>1F1B with twice the warm-up, which hides the links (Alpa)</source>
        <translation>1F1B mit doppeltem Anlauf, der die Verbindungen verdeckt (Alpa)</translation>
    </message>
    <message>
        <source>all forwards, then all backwards</source>
        <translation>alle Forwards, dann alle Backwards</translation>
    </message>
    <message>
        <source>interleaved 1F1B in groups, down to half the memory (GIS)</source>
        <translation>verschränktes 1F1B in Gruppen, bis hinab zum halben Speicher (GIS)</translation>
    </message>
    <message>
        <source>1F1B over several chunks per rank, depth first (Megatron-LM)</source>
        <translation>1F1B über mehrere Chunks je Rank, Tiefe zuerst (Megatron-LM)</translation>
    </message>
    <message>
        <source>ZB-H1 over several chunks per rank (PyTorch)</source>
        <translation>ZB-H1 über mehrere Chunks je Rank (PyTorch)</translation>
    </message>
    <message>
        <source>several chunks per rank, breadth first</source>
        <translation>mehrere Chunks je Rank, Breite zuerst</translation>
    </message>
    <message>
        <source>one forward, one backward (PipeDream-Flush)</source>
        <translation>ein Forward, ein Backward (PipeDream-Flush)</translation>
    </message>
    <message>
        <source>two chunks per rank in a V, backward fused, two thirds of 1F1B&apos;s memory</source>
        <translation>zwei Chunks je Rank im V, Backward verschmolzen, zwei Drittel des Speichers von 1F1B</translation>
    </message>
    <message>
        <source>1F1B over slices of sequences, for causal attention</source>
        <translation>1F1B über Scheiben von Sequenzen, für kausale Attention</translation>
    </message>
    <message>
        <source>two chunks per rank in a V, half of 1F1B&apos;s memory</source>
        <translation>zwei Chunks je Rank im V, halber Speicher von 1F1B</translation>
    </message>
    <message>
        <source>two chunks per rank in a V, a third of 1F1B&apos;s memory</source>
        <translation>zwei Chunks je Rank im V, ein Drittel des Speichers von 1F1B</translation>
    </message>
    <message>
        <source>zero bubble by search, under --memory-limit and for measured costs</source>
        <translation>Zero-Bubble durch Suche, unter --memory-limit und für gemessene Kosten</translation>
    </message>
    <message>
        <source>zero bubble with 1F1B&apos;s memory</source>
        <translation>Zero-Bubble mit dem Speicher von 1F1B</translation>
    </message>
    <message>
        <source>zero bubble with twice 1F1B&apos;s memory</source>
        <translation>Zero-Bubble mit doppeltem Speicher von 1F1B</translation>
    </message>
    <message>
        <source>zero bubble with two chunks per rank in a V, and 1F1B&apos;s memory</source>
        <translation>Zero-Bubble mit zwei Chunks je Rank im V und dem Speicher von 1F1B</translation>
    </message>
</context>
<context>
    <name>search</name>
    <message>
        <source>nothing to search for</source>
        <translation>nichts zu suchen</translation>
    </message>
    <message>
        <source>“{}” is not an action, kind or place; try 2F0, send, rank 3, bubble &gt; 5 ms</source>
        <translation>„{}“ ist keine Aktion, Art oder Stelle; etwa 2F0, send, rank 3, bubble &gt; 5 ms</translation>
    </message>
    <message>
        <source>{} needs a number</source>
        <translation>{} braucht eine Zahl</translation>
    </message>
    <message>
        <source>{} needs a time, as in {} 5 ms</source>
        <translation>{} braucht eine Zeit, wie in {} 5 ms</translation>
    </message>
    <message>
        <source>{} {} needs a unit: ns, us, ms or s</source>
        <translation>{} {} braucht eine Einheit: ns, us, ms oder s</translation>
    </message>
    <message>
        <source>{} is not a comparison</source>
        <translation>{} ist kein Vergleich</translation>
    </message>
</context>
<context>
    <name>sweep</name>
    <message>
        <source>tokens/s</source>
        <translation>Tokens/s</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>Schrittzeit</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>MFU, causal</source>
        <translation>MFU, kausal</translation>
    </message>
    <message>
        <source>TFLOP/s per GPU</source>
        <translation>TFLOP/s je GPU</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Bubble</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>sichtbar</translation>
    </message>
    <message>
        <source>peak memory [GiB]</source>
        <translation>Speicherspitze [GiB]</translation>
    </message>
    <message>
        <source>left [GiB]</source>
        <translation>frei [GiB]</translation>
    </message>
    <message>
        <source>left of requested [GiB]</source>
        <translation>frei vom Angeforderten [GiB]</translation>
    </message>
    <message>
        <source>{} played, {} too slow and {} too big by their bounds, {} impossible</source>
        <translation>{} gespielt, {} zu langsam und {} zu groß nach ihren Schranken, {} unmöglich</translation>
    </message>
    <message>
        <source>, {} of schedules that the framework&apos;s software lacks</source>
        <translation>, {} mit Schedules, die der Software des Frameworks fehlen</translation>
    </message>
    <message>
        <source>No plan of {} fits: {}.</source>
        <translation>Keiner von {} Plänen passt: {}.</translation>
    </message>
    <message>
        <source>No plan of {} so far fits: {}.</source>
        <translation>Bisher passt keiner von {} Plänen: {}.</translation>
    </message>
    <message>
        <source>Best of {} plans: {} tokens/s by {}. {}.</source>
        <translation>Bester von {} Plänen: {} Tokens/s mit {}. {}.</translation>
    </message>
    <message>
        <source>Best of {} plans so far: {} tokens/s by {}. {}.</source>
        <translation>Bisher bester von {} Plänen: {} Tokens/s mit {}. {}.</translation>
    </message>
    <message>
        <source> 1 other is not apart from it by the error of predictions.</source>
        <translation> 1 weiterer liegt im Fehler der Vorhersagen gleichauf.</translation>
    </message>
    <message>
        <source> {} others are not apart from it by the error of predictions.</source>
        <translation> {} weitere liegen im Fehler der Vorhersagen gleichauf.</translation>
    </message>
    <message>
        <source>cannot be told</source>
        <translation>nicht zu sagen</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>zu wenig Speicher</translation>
    </message>
    <message>
        <source>impossible</source>
        <translation>unmöglich</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>unvalidated</source>
        <translation>nicht überprüft</translation>
    </message>
    <message>
        <source>why not</source>
        <translation>warum nicht</translation>
    </message>
    <message>
        <source>as it follows</source>
        <translation>wie es folgt</translation>
    </message>
</context>
<context>
    <name>titles</name>
    <message>
        <source>{} and {}</source>
        <translation>{} und {}</translation>
    </message>
    <message>
        <source>{}, {} and {}</source>
        <translation>{}, {} und {}</translation>
    </message>
    <message>
        <source>{}: {} and {}</source>
        <translation>{}: {} und {}</translation>
    </message>
    <message>
        <source>{}, predicted and executed</source>
        <translation>{}, vorhergesagt und ausgeführt</translation>
    </message>
</context>
<context>
    <name>whole run</name>
    <message>
        <source>useful work</source>
        <translation>nützliche Arbeit</translation>
    </message>
    <message>
        <source>work done again</source>
        <translation>wiederholte Arbeit</translation>
    </message>
    <message>
        <source>checkpoints</source>
        <translation>Checkpoints</translation>
    </message>
    <message>
        <source>failures not yet noticed</source>
        <translation>noch unbemerkte Ausfälle</translation>
    </message>
    <message>
        <source>restarts</source>
        <translation>Neustarts</translation>
    </message>
    <message>
        <source>waiting for repairs</source>
        <translation>Warten auf Reparaturen</translation>
    </message>
    <message>
        <source>missing replicas</source>
        <translation>fehlende Replikate</translation>
    </message>
    <message>
        <source>slow ranks</source>
        <translation>langsame Ranks</translation>
    </message>
    <message>
        <source>planned maintenance</source>
        <translation>geplante Wartung</translation>
    </message>
</context>
</TS>

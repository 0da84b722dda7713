#include "gui/widgets/help_sheet.h"

#include <QAction>
#include <QTabWidget>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "gui/viewmodel/help_words.h"
#include "gui/widgets/colours.h"
#include "trace/picture/document/palette.h"

namespace debubble::gui {
namespace {

QString row(const QString& keys, const QString& meaning) {
    return QString("<tr><td style='padding-right: 24px'><b>%1</b></td><td>%2</td></tr>")
        .arg(keys.toHtmlEscaped(), meaning.toHtmlEscaped());
}

QString colour_row(Paint paint, const Palette& palette) {
    const auto at = static_cast<std::size_t>(paint);
    const std::string_view name = name_of(paint);
    const bool hatched = paint == Paint::Recompute || paint == Paint::Bubble;
    return QString("<tr><td bgcolor='%1' width='60'>&nbsp;</td><td>&nbsp;&nbsp;%2%3</td></tr>")
        .arg(QString::fromStdString(hex(palette[at])),
             QString::fromUtf8(name.data(), qsizetype(name.size())),
             hatched ? QString(", hatched") : QString());
}

QString table_of(const std::vector<HelpWord>& words) {
    QString text = "<table>";
    for (const HelpWord& of : words)
        text += row(QString::fromStdString(of.word), QString::fromStdString(of.meaning));
    return text + "</table>";
}

QTextBrowser* page_of(const QString& html) {
    auto* browser = new QTextBrowser;
    browser->setHtml(html);
    return browser;
}

}  // namespace

HelpSheet::HelpSheet(const QList<QAction*>& commands, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Help"));
    setObjectName("help");
    QString text = "<h3>" + tr("In the timeline") + "</h3><table>";
    text += row("W  S", tr("zoom in and out; Ctrl+wheel zooms at the pointer"));
    text += row("A  D", tr("left and right; Shift+drag moves"));
    text += row(tr("drag"), tr("measure, snapping to the edges of actions, with the totals of the "
                               "rows that the drag crosses"));
    text += row(tr("click"), tr("select an action or a bubble: what it waits for, and why"));
    text += row("F", tr("centre the selection, then fit it"));
    text += row(".  ,", tr("next and previous action"));
    text +=
        row("B  Shift+B", tr("next and previous bubble: its cause and length are in the details"));
    text += row("Enter", tr("go to the action that ends the selected bubble"));
    text += row(tr("Menu"), tr("of the selection's row: streams, keep at the top, make thin"));
    text += row("M", tr("mark"));
    text += row(tr("Space"), tr("play the step, or stop; a drag along the ruler moves its cursor"));
    text += row("C", tr("critical path"));
    text += row("Home", tr("show all"));
    text += row("Esc", tr("clear selection and measure"));
    text += row(tr("click the dot"), tr("of a memory lane: the tensors that are held at its peak"));
    text += "</table><h3>" + tr("Where it goes") + "</h3><table>";
    text += row(tr("pointer"), tr("on a part lights its actions and bubbles in the lanes below"));
    text += row(tr("click, Enter"), tr("on a part's knob turns it"));
    text += row(tr("drag, Left, Right"),
                tr("a knob of the bars beside: what if the machine were such"));
    text += "</table><h3>" + tr("Schedules") + "</h3><table>";
    text += row("Enter", tr("take the schedule"));
    text += row("Space", tr("pin it at the top, and compare the others with it"));
    text += "</table><h3>" + tr("Run") + "</h3><table>";
    text +=
        row(tr("Left, Right, Enter"), tr("on the curve: choose a number of nodes, and take it"));
    text +=
        row(tr("drag, Left, Right"), tr("the knob of the interval; Home takes what loses least"));
    text +=
        row(tr("wheel, W, S"), tr("zoom the drawn run; a drag, A and D move it, Home shows all"));
    text += "</table><h3>" + tr("The sweep's plot") + "</h3><table>";
    text += row(tr("wheel"), tr("zoom at the pointer; beside the plot, of the axis there alone"));
    text += row(tr("drag"), tr("zoom into a rectangle; Shift+drag moves"));
    text += row("Home", tr("show all plans; so does a double click"));
    text += "</table><h3>" + tr("Everywhere") + "</h3><table>";
    for (const QAction* command : commands)
        if (!command->shortcut().isEmpty())
            text += row(command->shortcut().toString(QKeySequence::NativeText),
                        command->text().remove('&'));
    text += "</table><h3>" + tr("Colours") + "</h3><table>";
    const Palette& palette = is_dark(this->palette()) ? kDarkPalette : kLightPalette;
    for (std::size_t i = 0; i < kPaints; ++i) text += colour_row(static_cast<Paint>(i), palette);
    text +=
        "</table><p>" +
        tr("The lower part of a bar, as high as its share, is communication that nothing hides; "
           "a wide bar shows its operators in a second row. From far away the kinds of work "
           "lie above each other, as high as their shares.") +
        "</p><p>" +
        tr("bubble = 1 - computes / (ranks x makespan). For every rank, busy + exposed "
           "communication + optimizer + idle = step time.") +
        "</p>";
    auto* pages = new QTabWidget;
    pages->addTab(page_of(text), tr("Keys and colours"));
    pages->addTab(page_of(table_of(help_words())), tr("Words"));
    pages->addTab(page_of(table_of(help_schedules())), tr("Schedules"));
    auto* column = new QVBoxLayout(this);
    column->addWidget(pages);
    resize(640, 680);
}

}  // namespace debubble::gui

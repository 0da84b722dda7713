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
    const std::string_view name = name_of(paint);
    const bool hatched = paint == Paint::Recompute || paint == Paint::Bubble;
    return QString("<tr><td bgcolor='%1' width='60'>&nbsp;</td><td>&nbsp;&nbsp;%2%3</td></tr>")
        .arg(QString::fromStdString(hex(palette[paint])),
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

HelpSheet::HelpSheet(const std::vector<std::unique_ptr<WindowView>>& views,
                     const QList<QAction*>& commands, QWidget* parent)
    : QDialog(parent) {
    setWindowTitle(tr("Help"));
    setObjectName("help");
    QString text = "<h3>" + tr("Views") + "</h3><table>";
    for (const auto& view : views) {
        const ViewFacts facts = view->facts();
        text += row(key_of(facts).toString(QKeySequence::NativeText),
                    QString("%1: %2").arg(facts.title, facts.line));
    }
    for (const auto& view : views) {
        const ViewFacts facts = view->facts();
        if (facts.keys.empty()) continue;
        text += "</table><h3>" + facts.title + "</h3><table>";
        for (const ViewKey& key : facts.keys) text += row(key.keys, key.meaning);
    }
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

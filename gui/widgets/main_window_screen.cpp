#include <QAction>
#include <QLabel>
#include <QSettings>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabBar>

#include "base/overloaded.h"
#include "base/sha256.h"
#include "gui/viewmodel/remembered_view.h"
#include "gui/viewmodel/timeline/answer_line.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/remedy_strip.h"
#include "gui/widgets/what_if/yaml_editor.h"

/// The window follows the value of its desk: every part shows the content of the screen.
namespace debubble::gui {
namespace {

constexpr int kMostViews = 100;

/// The name as a key of settings.
QString view_key(const QString& name) {
    return QString::fromStdString(sha256(name.toStdString()).substr(0, 24));
}

}  // namespace

void MainWindow::show_screen() {
    const Document document = document_of(desk_.screen());
    const QString name =
        document ? QString::fromStdString(view_name_of(desk_.screen())) : QString();
    const bool other = name != looked_at_;
    if (other) remember_view();  // while the timeline still has it
    for (const auto& view : views_) view->show(desk_.screen());
    looked_at_ = name;
    show_status();
    if (other) recall_view();
    show_steps();
    show_title_and_commands();
    offer_way_back();
}

void MainWindow::show_status() {
    QString text;
    QString tip;
    std::visit(Overloaded{[](const on_screen::Nothing&) {},
                          [&](const on_screen::Plan& screen) {
                              if (!screen.plan) return;
                              text = QString::fromStdString(screen.plan->picture.title);
                              tip = QString::fromStdString(screen.plan->picture.subtitle);
                          },
                          [&](const on_screen::Trace& screen) {
                              const std::size_t spans = screen.trace.document->trace.spans.size();
                              text = tr("%n action(s)", nullptr, int(spans));
                          },
                          [&](const on_screen::Comparison& screen) {
                              text = tr("A has %1 actions, B %2")
                                         .arg(screen.a.document->trace.spans.size())
                                         .arg(screen.b.document->trace.spans.size());
                          }},
               desk_.screen());
    status_->setText(text);
    status_->setToolTip(tip);
    const bool covers_plan = std::holds_alternative<on_screen::Trace>(desk_.screen()) ||
                             std::holds_alternative<on_screen::Comparison>(desk_.screen());
    if (!covers_plan) return;
    messages_->clear_mistakes();
    remedies_->forget();
}

void MainWindow::show_title_and_commands() {
    const bool edits = desk_.edits();
    const History& history = session_.history();
    const QString title = QString::fromStdString(title_of(desk_.screen()));
    setWindowTitle(title.isEmpty() ? tr("debubble")
                   : edits         ? tr("%1[*] - debubble").arg(title)
                                   : tr("%1 - debubble").arg(title));
    setWindowModified(edits && !history.is_saved());
    const bool stale = edits && (session_.is_busy() || !session_.answer().plan);
    for (const auto& view : views_) view->show_state({desk_.has_plan(), edits, stale});
    search_->setEnabled(desk_.has_plan());
    for (QAction* action : {run_action_, schedule_, save_, save_as_, pin_})
        action->setEnabled(edits);
    const bool trace_over_plan =
        desk_.has_plan() && std::holds_alternative<on_screen::Trace>(desk_.screen());
    compare_plans_->setEnabled(edits || trace_over_plan);
    undo_->setEnabled(edits && history.can_undo());
    redo_->setEnabled(edits && history.can_redo());
    show_plan_->setEnabled(desk_.can_show_plan());
    show_aside_->setEnabled(desk_.can_show_aside());
    export_->setEnabled(desk_.can_export());
}

/// Tabs for the steps of a trace with several, of which the timeline shows one.
void MainWindow::show_steps() {
    const auto* trace = std::get_if<on_screen::Trace>(&desk_.screen());
    const std::vector<std::string> names =
        trace == nullptr ? std::vector<std::string>{} : names_of_steps(trace->trace);
    const QSignalBlocker quiet(steps_);
    while (steps_->count() > 0) steps_->removeTab(0);
    for (const std::string& name : names)
        steps_->addTab(tr("step %1").arg(QString::fromStdString(name)));
    if (!names.empty()) steps_->setCurrentIndex(int(trace->trace.step));
    steps_->setVisible(!names.empty());
}

/// Shows the explanation of the selection, with links to the actions that it names.
void MainWindow::show_answer_line() {
    const bool seen = pages_->currentWidget() == lanes_;
    const bool empty = !timeline_->scene().main;
    auto line = seen && !empty ? answer_line(timeline_->scene(), timeline_->state())
                               : std::vector<Phrase>{};
    if (seen && !empty && line.empty())  // always visible, so that the lanes keep their height
        line = {{tr("Click a bar or a bubble, and here it says why it is there; drag for the "
                    "totals of an area")
                     .toStdString()}};
    QString html;
    for (const Phrase& phrase : line) {
        const QString words = QString::fromStdString(phrase.words).toHtmlEscaped();
        html += phrase.link ? QString("<a href=\"%1:%2\">%3</a>")
                                  .arg(phrase.link->side == Side::B ? "b" : "a")
                                  .arg(phrase.link->index)
                                  .arg(words)
                            : words;
    }
    if (answer_line_->text() != html) answer_line_->setText(html);
    answer_line_->setVisible(!html.isEmpty());
}

QString MainWindow::covered_text() const {
    const auto* both = std::get_if<on_screen::Comparison>(&desk_.screen());
    if (both != nullptr && both->compares == Compares::Run)
        return tr("Above what was simulated, below what was executed");
    if (both != nullptr && both->compares == Compares::Plans)
        return session_.is_pinned() ? tr("Above this plan, below the one that was pinned")
                                    : tr("Above this plan, below the one before");
    return tr("%1 stays open behind this")
        .arg(QString::fromStdString(title_of(session_.history().now().file)));
}

void MainWindow::offer_way_back() {
    if (!desk_.can_show_plan()) {
        if (!way_back_.isEmpty() && messages_->message() == way_back_) messages_->clear();
        way_back_.clear();
        return;
    }
    way_back_ = covered_text();
    messages_->offer(way_back_, {tr("Back to the plan"), [this] { show_current_plan(); }});
}

void MainWindow::show_text() {
    const History& history = session_.history();
    remedies_->forget();  // they belong to the previous text
    for (const auto& view : views_) view->show_text(history.now());
    unsaved_timer_.start();
    show_title_and_commands();
}

void MainWindow::show_answer() {
    const Answer& answer = session_.answer();
    const bool showed_plan = std::holds_alternative<on_screen::Plan>(desk_.screen());
    for (const auto& view : views_) view->show_answer(answer);
    pin_->setChecked(session_.is_pinned());
    desk_.predicted(answer.plan, answer.plan ? session_.reference() : nullptr);
    // For an impossible plan the last possible one stays, with its selected action.
    if (desk_.edits() && (answer.plan || !showed_plan))
        show_screen();
    else
        show_title_and_commands();
    if (desk_.edits()) show_mistakes();
    remedies_->look_for_remedies(answer);
    Q_EMIT settled();
}

void MainWindow::show_mistakes() {
    const Answer& answer = session_.answer();
    for (const auto& view : views_) view->show_mistakes(answer);
    if (answer.mistakes.empty())
        messages_->clear_mistakes();
    else
        messages_->show_mistakes(answer.mistakes);
}

void MainWindow::show_place(const SourceLocation& where) {
    if (desk_.can_show_plan()) show_current_plan();
    raise_dock("text");
    widget<YamlEditor>().go_to(where.line, where.column);
}

void MainWindow::compare_plans() {
    const std::shared_ptr<const PredictedPlan> plan = session_.answer().plan;
    if (const auto* trace = std::get_if<on_screen::Trace>(&desk_.screen()); trace && plan) {
        const Shown& run = trace->trace;
        OpenRequest request{run.files.empty() ? std::vector<std::string>{run.file} : run.files, {}};
        request.predicted = Shown{plan->document, tr("this plan").toStdString(), plan};
        return opener_->ask(std::move(request));
    }
    const std::shared_ptr<const PredictedPlan> below = session_.reference();
    if (!desk_.edits() || session_.is_busy() || !plan || !below || below == plan)
        return messages_->warn(
            tr("There is no other plan to compare with: pin one (Ctrl+K) and change something"));
    OpenRequest request;
    request.predicted = Shown{plan->document, tr("this plan").toStdString(), plan};
    request.below = Shown{below->document, tr("the plan before").toStdString(), below};
    opener_->ask(std::move(request));
}

void MainWindow::uncover_plan() {
    if (!desk_.can_show_plan()) return;
    desk_.show_plan();
    show_screen();
}

void MainWindow::show_current_plan() {
    if (!desk_.can_show_plan()) return;
    uncover_plan();
    show_page("timeline");
    if (!session_.is_busy()) show_mistakes();
}

void MainWindow::show_aside() {
    if (!desk_.can_show_aside()) return;
    desk_.show_aside();
    show_screen();
    show_page("timeline");
}

/// The rows and colours of a comparison are not those of the open plan under it.
void MainWindow::remember_view() {
    if (looked_at_.isEmpty() || !timeline_->scene().main) return;
    const QString key = view_key(looked_at_);
    QSettings settings;
    QStringList order = settings.value("views/order").toStringList();
    order.removeAll(key);
    order.prepend(key);
    while (order.size() > kMostViews) settings.remove("views/" + order.takeLast());
    settings.setValue("views/order", order);
    settings.setValue("views/" + key, QString::fromStdString(remembered(timeline_->state())));
}

void MainWindow::recall_view() {
    if (looked_at_.isEmpty()) return;
    const QString kept = QSettings().value("views/" + view_key(looked_at_)).toString();
    timeline_->set_state(recalled(kept.toStdString(), fresh_view()));
}

/// A new file is shown as a whole, independent of choices in the previous one. The options of a
/// comparison are kept for all files, since the compare panel keeps showing them.
ViewState MainWindow::fresh_view() const {
    ViewState state;
    state.axis = timeline_->state().axis;
    state.axis.fit();
    state.comparison = timeline_->state().comparison;
    return state;
}

}  // namespace debubble::gui

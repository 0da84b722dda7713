#include "gui/widgets/main_window.h"

#include <map>

#include <QAction>
#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QScreen>
#include <QStandardPaths>
#include <QStatusBar>
#include <QVBoxLayout>

#include "gui/widgets/colours.h"
#include "gui/widgets/compare/compare_panel.h"
#include "gui/widgets/details_panel.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/run/run_panel.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/summary_panel.h"
#include "gui/widgets/what_if/what_if_panel.h"
#include "gui/widgets/what_if/yaml_editor.h"

namespace debubble::gui {
namespace {

constexpr int kKeepAfter = 500;  ///< milliseconds after the last change

std::filesystem::path data_place() {
    return QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation).toStdString();
}

}  // namespace

MainWindow::MainWindow() : unsaved_(data_place()) {
    setWindowTitle(tr("debubble"));
    setAcceptDrops(true);
    setDockNestingEnabled(true);
    make_placeholders_legible();
    const QSize room = screen()->availableSize() - QSize(16, 48);  // the frame of the window
    resize(QSize(1500, 950).boundedTo(room));
    timeline_ = new TimelineView;
    messages_ = new MessageStrip;
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(messages_);
    column->addWidget(timeline_, 1);
    setCentralWidget(centre);
    status_ = new QLabel;
    statusBar()->addWidget(status_, 1);
    build_docks();
    build_menus();
    connect_parts();
    set_plan_open(false);
    restore();
}

MainWindow::~MainWindow() = default;

QDockWidget* MainWindow::add_dock(const char* name, const QString& title, Qt::DockWidgetArea area,
                                  QWidget* widget) {
    auto* dock = new QDockWidget(title);
    dock->setObjectName(name);  // the name by which saveState() knows it
    dock->setWidget(widget);
    addDockWidget(area, dock);
    return dock;
}

void MainWindow::build_docks() {
    what_if_ = new WhatIfPanel;
    summary_ = new SummaryPanel;
    text_ = new YamlEditor;
    QDockWidget* what_if = add_dock("what-if", tr("What if"), Qt::LeftDockWidgetArea, what_if_);
    QDockWidget* summary = add_dock("summary", tr("Summary"), Qt::RightDockWidgetArea, summary_);
    QDockWidget* text = add_dock("text", tr("Scenario"), Qt::BottomDockWidgetArea, text_);
    sweep_ = new SweepPanel;
    tabifyDockWidget(text, add_dock("sweep", tr("Sweep"), Qt::BottomDockWidgetArea, sweep_));
    run_ = new RunPanel;
    tabifyDockWidget(text, add_dock("run", tr("Execute"), Qt::BottomDockWidgetArea, run_));
    compare_ = new ComparePanel(timeline_);
    tabifyDockWidget(text, add_dock("compare", tr("Compare"), Qt::BottomDockWidgetArea, compare_));
    details_ = new DetailsPanel(timeline_);
    add_dock("details", tr("Details"), Qt::RightDockWidgetArea, details_);
    text->raise();
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    resizeDocks({text}, {230}, Qt::Vertical);
    resizeDocks({what_if, summary}, {290, 350}, Qt::Horizontal);
}

void MainWindow::connect_parts() {
    connect(what_if_, &WhatIfPanel::changed, &session_, &PlanSession::set_field);
    connect(text_, &YamlEditor::edited, &session_, &PlanSession::set_text);
    connect(&session_, &PlanSession::text_changed, this, &MainWindow::show_text);
    connect(&session_, &PlanSession::answered, this, &MainWindow::show_answer);
    connect(&session_, &PlanSession::refused, messages_, &MessageStrip::warn);
    connect(sweep_, &SweepPanel::chosen, this,
            [this](const std::vector<scenarios::Override>& keys, const QString& what) {
                if (plan_open_) session_.set_keys(keys, tr("point %1").arg(what));
            });
    connect(sweep_, &SweepPanel::failed, messages_, &MessageStrip::show_mistakes);
    connect(run_, &RunPanel::failed, messages_, &MessageStrip::warn);
    connect(run_, &RunPanel::started, this, [this] { executing_ = session_.answer().plan; });
    connect(run_, &RunPanel::executed, this, [this](const QString& trace) {
        OpenRequest request{{trace.toStdString()}, {}};
        if (executing_)
            request.predicted = Shown{executing_->document, tr("what was predicted").toStdString()};
        opener_->ask(std::move(request));
    });
    messages_->on_place = [this](const SourceLocation& where) {
        raise_dock("text");
        text_->go_to(where.line, where.column);
    };
    unsaved_timer_.setSingleShot(true);
    unsaved_timer_.setInterval(kKeepAfter);
    connect(&unsaved_timer_, &QTimer::timeout, this, &MainWindow::keep_unsaved);
    opener_ = std::make_unique<LatestWins<OpenRequest, Opened>>(
        [](const OpenRequest& request, const std::stop_token&) {
            if (request.below) return open_both(*request.predicted, *request.below);
            return request.predicted ? open_run(*request.predicted, request.files.front())
                                     : open_all(request.files, request.set);
        },
        [this](Opened opened) {
            QMetaObject::invokeMethod(
                this, [this, opened = std::move(opened)] { take(opened); }, Qt::QueuedConnection);
        });
}

QString MainWindow::message() const {
    return messages_->message();
}

void MainWindow::set_plan_open(bool open) {
    plan_open_ = open;
    what_if_->setEnabled(open);
    text_->setReadOnly(!open);
    sweep_->setEnabled(open);
    run_->setEnabled(open);
    run_action_->setEnabled(open);
    save_->setEnabled(open);
    pin_->setEnabled(open);
}

void MainWindow::show_text() {
    const History& history = session_.history();
    text_->show_text(QString::fromStdString(history.now().text));
    undo_->setEnabled(history.can_undo());
    redo_->setEnabled(history.can_redo());
    summary_->set_stale(true);
    sweep_->set_scenario(history.now());
    run_->set_scenario(history.now());
    unsaved_timer_.start();
    show_title();
}

void MainWindow::show_title() {
    if (!plan_open_) return;
    const History& history = session_.history();
    setWindowTitle(
        tr("%1[*] - debubble").arg(QString::fromStdString(title_of(history.now().file))));
    setWindowModified(!history.is_saved());
}

void MainWindow::show_answer() {
    const Answer& answer = session_.answer();
    what_if_->show_fields(answer.fields);
    pin_->setChecked(session_.is_pinned());
    if (answer.plan) show_plan(answer.plan);
    show_mistakes();
    Q_EMIT settled();
}

void MainWindow::show_plan(const std::shared_ptr<const PredictedPlan>& plan) {
    const std::shared_ptr<const PredictedPlan> before = session_.reference();
    timeline_->set_document(plan->document);
    timeline_->set_ghost(before ? before->document : nullptr);
    details_->set_plan(plan);
    recall_view();
    summary_->show_rows(
        summary_of(plan->prediction, plan->document->statistics, plan->document->memory_limit));
    summary_->set_stale(false);
    QString delta;
    int good = 0;
    if (before) {
        delta = QString::fromStdString(delta_line(before->prediction, plan->prediction));
        const double step = plan->prediction.step_time_s - before->prediction.step_time_s;
        good = !plan->prediction.fits ? -1 : step < 0 ? 1 : step > 0 ? -1 : 0;
    }
    what_if_->show_delta(delta, good);
    status_->setText(QString::fromStdString(plan->picture.title));
    status_->setToolTip(QString::fromStdString(plan->picture.subtitle));
}

void MainWindow::show_mistakes() {
    const Answer& answer = session_.answer();
    text_->show_mistakes(answer.mistakes, answer.source.file);
    std::map<std::string, QString> complaints;
    for (const Diagnostic& mistake : answer.mistakes) {
        const std::string key =
            field_of(mistake, answer.source, what_if_->fields(), session_.last_changed());
        QString& sentence = complaints[key];
        if (!sentence.isEmpty()) sentence += '\n';
        sentence += QString::fromStdString(mistake.message);
    }
    what_if_->show_complaints(complaints);
    if (answer.mistakes.empty())
        messages_->clear_mistakes();
    else
        messages_->show_mistakes(answer.mistakes);
}

void MainWindow::show_comparison(const Opened& opened) {
    const Document& a = opened.traces[0].document;
    timeline_->set_comparison(a, opened.traces[1].document, opened.pairing);
    compare_->show_comparison(*opened.pairing, *a,
                              compared(figures_of(a), figures_of(opened.traces[1].document)),
                              opened.comparison);
    raise_dock("compare");
}

void MainWindow::show_traces(const Opened& opened) {
    set_plan_open(false);
    traces_ = opened.traces;
    const Shown& first = traces_.front();
    if (opened.pairing)
        show_comparison(opened);
    else
        timeline_->set_document(first.document);
    details_->set_plan(nullptr);
    what_if_->show_delta({}, 0);
    summary_->show_rows(summary_of(first.document->trace, first.document->statistics,
                                   first.document->memory_limit));
    summary_->set_stale(false);
    QStringList names;
    for (const Shown& trace : traces_) names << QString::fromStdString(title_of(trace.file));
    setWindowTitle(tr("%1 - debubble").arg(names.join(tr(" and "))));
    setWindowModified(false);
    status_->setText(tr("%n action(s)", nullptr, int(first.document->trace.spans.size())));
    messages_->clear_mistakes();
}

/// The plan stays open: its next change shows it again.
void MainWindow::show_instead_of_plan(const Opened& opened, const QString& what) {
    remember_view();  // the view of the plan alone
    show_comparison(opened);
    messages_->offer(what, tr("Back to the plan"), [this] {
        messages_->clear();
        show_current_plan();
    });
}

/// The figures of a document: of a plan that was predicted all that is known, of a trace those that
/// it contains.
std::vector<SummaryRow> MainWindow::figures_of(const Document& document) const {
    for (const auto& plan : {session_.answer().plan, executing_, below_})
        if (plan && plan->document == document)
            return summary_of(plan->prediction, document->statistics, document->memory_limit);
    return summary_of(document->trace, document->statistics, document->memory_limit);
}

void MainWindow::compare_plans() {
    const std::shared_ptr<const PredictedPlan> plan = session_.answer().plan;
    below_ = session_.reference();
    if (!plan_open_ || session_.is_busy() || !plan || !below_ || below_ == plan)
        return messages_->warn(
            tr("There is no other plan to compare with: pin one (Ctrl+K) and change something"));
    OpenRequest request;
    request.predicted = Shown{plan->document, tr("this plan").toStdString()};
    request.below = Shown{below_->document, tr("the plan before").toStdString()};
    opener_->ask(std::move(request));
}

void MainWindow::show_current_plan() {
    if (plan_open_ && session_.answer().plan) show_plan(session_.answer().plan);
}

void MainWindow::raise_dock(const QString& name) {
    auto* dock = findChild<QDockWidget*>(name);
    dock->show();
    dock->raise();
}

void MainWindow::execute() {
    raise_dock("run");
    if (run_->is_running())
        messages_->warn(tr("A run is under way; stop it first"));
    else if (session_.is_busy() || !session_.answer().plan)
        messages_->warn(tr("There is no plan yet that could be executed"));
    else
        run_->start();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) make_placeholders_legible();
    // The colours of the strip and of the complaints are mixed from the palette.
    if (event->type() == QEvent::PaletteChange && what_if_ != nullptr && plan_open_ &&
        !session_.is_busy() && session_.answer().plan)
        show_mistakes();
}

}  // namespace debubble::gui

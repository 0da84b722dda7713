#include "gui/widgets/main_window.h"

#include <QAction>
#include <QEvent>
#include <QLabel>
#include <QStandardPaths>
#include <QTabBar>

#include "gui/widgets/colours.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/run/run_panel.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/remedy_strip.h"

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
    use_theme(remembered_theme());
    make_placeholders_legible();
    make_timelines_accessible();
    build_centre();
    build_views();
    build_menus();
    build_tool_bar();
    connect_parts();
    make_opener();
    show_title_and_commands();
    reset_layout();
    restore();
}

MainWindow::~MainWindow() = default;

void MainWindow::connect_parts() {
    connect(&session_, &PlanSession::text_changed, this, &MainWindow::show_text);
    connect(&session_, &PlanSession::answered, this, &MainWindow::show_answer);
    connect(&session_, &PlanSession::refused, messages_, &MessageStrip::warn);
    messages_->on_place = [this](const SourceLocation& where) { show_place(where); };
    messages_->has_place = [this](const SourceLocation& where) {
        return desk_.shows_text_of(where.file);
    };
    connect(remedies_, &RemedyStrip::chosen, &session_,
            [this](const ScenarioText& changed, const QString& what) {
                session_.set_keys(changed, {}, what);
            });
    connect(remedies_, &RemedyStrip::search_wanted, this, &MainWindow::search_best);
    connect(timeline_, &TimelineView::span_selected, this, [this] { show_answer_line(); });
    connect(timeline_, &TimelineView::state_changed, this, [this] { show_answer_line(); });
    connect(answer_line_, &QLabel::linkActivated, this, [this](const QString& link) {
        const auto side = link.startsWith("b:") ? Side::B : Side::A;
        timeline_->show_action({link.mid(2).toUInt(), side});
    });
    connect(steps_, &QTabBar::currentChanged, this, [this](int at) {
        const auto* trace = std::get_if<on_screen::Trace>(&desk_.screen());
        if (trace == nullptr || at < 0 || static_cast<std::size_t>(at) == trace->trace.step) return;
        OpenRequest request;
        request.step = std::pair(trace->trace, at);
        opener_->ask(std::move(request));
    });
    unsaved_timer_.setSingleShot(true);
    unsaved_timer_.setInterval(kKeepAfter);
    connect(&unsaved_timer_, &QTimer::timeout, this, &MainWindow::keep_unsaved);
}

void MainWindow::make_opener() {
    opener_ = std::make_unique<LatestWins<OpenRequest, Opened>>(
        [](const OpenRequest& request, const std::stop_token&) {
            if (request.step) return open_step(request.step->first, request.step->second);
            if (request.below) return open_both(*request.predicted, *request.below);
            return request.predicted ? open_run(*request.predicted, request.files)
                                     : open_all(request.files, request.set);
        },
        [this](Opened opened) {
            QMetaObject::invokeMethod(
                this, [this, opened = std::move(opened)] { take(opened); }, Qt::QueuedConnection);
        });
}

void MainWindow::add_state(nlohmann::ordered_json& state) const {
    for (const auto& view : views_) view->add_state(state);
}

QString MainWindow::message() const {
    return messages_->message();
}

void MainWindow::execute() {
    raise_dock("run");
    auto& run = widget<RunPanel>();
    if (run.is_running())
        messages_->warn(tr("A run is under way; stop it first"));
    else if (session_.is_busy() || !session_.answer().plan)
        messages_->warn(tr("There is no plan yet that could be executed"));
    else
        run.start(session_.history().now(), session_.answer().plan);
}

void MainWindow::show_run(const std::shared_ptr<const PredictedPlan>& plan, const QString& trace) {
    OpenRequest request{{trace.toStdString()}, {}};
    if (plan)
        request.predicted = Shown{plan->document, tr("what was predicted").toStdString(), plan};
    opener_->ask(std::move(request));
}

void MainWindow::search_best() {
    if (!desk_.has_plan()) return;
    show_page("sweep");
    auto& sweep = widget<SweepPanel>();
    if (!sweep.is_running()) sweep.search();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) make_placeholders_legible();
    if (event->type() == QEvent::PaletteChange && messages_ != nullptr) messages_->tint();
    if (event->type() == QEvent::PaletteChange && answer_line_ != nullptr && pages_ != nullptr) {
        answer_line_->clear();  // links get their colour from the palette when their text is set
        show_answer_line();
    }
    // The colours of the complaints are mixed from the palette.
    if (event->type() == QEvent::PaletteChange && !views_.empty() && desk_.edits() &&
        !session_.is_busy() && session_.answer().plan)
        show_mistakes();
}

}  // namespace debubble::gui

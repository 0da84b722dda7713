#include "gui/widgets/main_window.h"

#include <QAction>
#include <QEvent>
#include <QLabel>
#include <QStandardPaths>
#include <QTabBar>

#include "gui/widgets/bill/bill_panel.h"
#include "gui/widgets/bill/tornado_view.h"
#include "gui/widgets/colours.h"
#include "gui/widgets/compare/compare_panel.h"
#include "gui/widgets/details_panel.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/run/run_panel.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/tensor_panel.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/overview_view.h"
#include "gui/widgets/timeline/timeline_accessible.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/remedy_strip.h"
#include "gui/widgets/what_if/summary_panel.h"
#include "gui/widgets/what_if/what_if_panel.h"
#include "gui/widgets/what_if/yaml_editor.h"
#include "gui/widgets/whole_run/run_page.h"
#include "gui/widgets/zoo/zoo_panel.h"

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
    build_docks();
    build_menus();
    build_tool_bar();
    connect_parts();
    show_title_and_commands();
    lay_out_afresh();
    restore();
}

MainWindow::~MainWindow() = default;

void MainWindow::connect_parts() {
    connect(what_if_, &WhatIfPanel::changed, &session_, &PlanSession::set_field);
    connect(text_, &YamlEditor::edited, &session_, &PlanSession::set_text);
    connect(&session_, &PlanSession::text_changed, this, &MainWindow::show_text);
    connect(&session_, &PlanSession::answered, this, &MainWindow::show_answer);
    connect(&session_, &PlanSession::refused, messages_, &MessageStrip::warn);
    connect(&session_, &PlanSession::refused, what_if_, &WhatIfPanel::refill);
    connect(sweep_, &SweepPanel::chosen, this,
            [this](const ScenarioText& ground, const std::vector<scenarios::Override>& keys,
                   const QString& what) {
                if (!desk_.has_plan()) return;
                if (ground.file != session_.history().now().file)
                    return messages_->warn(tr("These plans are of %1, which is not open")
                                               .arg(QString::fromStdString(title_of(ground.file))));
                if (desk_.can_show_plan()) {  // the sweep stays in front
                    desk_.show_plan();
                    show_screen();
                }
                session_.set_keys(ground, keys, tr("point %1").arg(what));
            });
    connect(sweep_, &SweepPanel::opened, this, [this] { show_page(timeline_); });
    connect(sweep_, &SweepPanel::failed, messages_, &MessageStrip::show_mistakes);
    connect(run_, &RunPanel::failed, messages_, &MessageStrip::warn);
    connect(run_, &RunPanel::wanted, this, &MainWindow::execute);
    connect(run_, &RunPanel::executed, this,
            [this](const std::shared_ptr<const PredictedPlan>& plan, const QString& trace) {
                OpenRequest request{{trace.toStdString()}, {}};
                if (plan)
                    request.predicted =
                        Shown{plan->document, tr("what was predicted").toStdString(), plan};
                opener_->ask(std::move(request));
            });
    connect(run_, &RunPanel::ended, this, [this] {
        if (quits_after_run_) close();
    });
    messages_->on_place = [this](const SourceLocation& where) { show_place(where); };
    messages_->has_place = [this](const SourceLocation& where) {
        return desk_.shows_text_of(where.file);
    };
    connect(zoo_, &ZooPanel::chosen, this,
            [this](const ScenarioText& changed, const QString& schedule) {
                if (!desk_.has_plan()) return;
                if (desk_.can_show_plan()) desk_.show_plan();
                show_screen();
                session_.set_keys(changed, {}, schedule);
            });
    connect(remedies_, &RemedyStrip::chosen, &session_,
            [this](const ScenarioText& changed, const QString& what) {
                session_.set_keys(changed, {}, what);
            });
    connect(remedies_, &RemedyStrip::search_wanted, this, &MainWindow::search_best);
    connect(timeline_, &TimelineView::peak_clicked, this, [this](int rank) {
        std::shared_ptr<const PredictedPlan> plan;
        if (const auto* one = std::get_if<on_screen::Plan>(&desk_.screen())) plan = one->plan;
        if (const auto* two = std::get_if<on_screen::Comparison>(&desk_.screen()))
            plan = two->a.plan;
        raise_dock("tensors");
        tensors_->list(plan, rank);
    });
    connect(overview_, &OverviewView::brushed, this, [this](int first, int last) {
        timeline_->show_ranks(first, last);
        show_page(timeline_);
        timeline_->setFocus();
    });
    connect(timeline_, &TimelineView::state_changed, this,
            [this] { overview_->set_brush(timeline_->state().rows.only); });
    connect(bill_, &BillPanel::looked_at, this, [this](const sim::BillRow* row) {
        const Document document = timeline_->scene().main.document;
        if (!document) return;
        timeline_->light(row ? lit_by(*document, row->part.key, row->part.idle) : Lit{});
    });
    const auto turn = [this](const ScenarioText& changed, const QString& what) {
        if (desk_.edits()) session_.set_keys(changed, {}, what);
    };
    connect(bill_, &BillPanel::turned, this, turn);
    connect(tornado_, &TornadoView::turned, this, turn);
    connect(whole_run_, &RunPage::turned, this, turn);
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
        request.step = std::pair(trace->trace, static_cast<std::size_t>(at));
        opener_->ask(std::move(request));
    });
    unsaved_timer_.setSingleShot(true);
    unsaved_timer_.setInterval(kKeepAfter);
    connect(&unsaved_timer_, &QTimer::timeout, this, &MainWindow::keep_unsaved);
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

QString MainWindow::message() const {
    return messages_->message();
}

void MainWindow::execute() {
    raise_dock("run");
    if (run_->is_running())
        messages_->warn(tr("A run is under way; stop it first"));
    else if (session_.is_busy() || !session_.answer().plan)
        messages_->warn(tr("There is no plan yet that could be executed"));
    else
        run_->start(session_.history().now(), session_.answer().plan);
}

void MainWindow::search_best() {
    if (!desk_.has_plan()) return;
    show_page(sweep_);
    if (!sweep_->is_running()) sweep_->search();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) make_placeholders_legible();
    if (event->type() == QEvent::PaletteChange && messages_ != nullptr) messages_->tint();
    if (event->type() == QEvent::PaletteChange && answer_line_ != nullptr && pages_ != nullptr) {
        answer_line_->clear();  // links take their colour from the palette when they are set
        show_answer_line();
    }
    // The colours of the complaints are mixed from the palette.
    if (event->type() == QEvent::PaletteChange && what_if_ != nullptr && desk_.edits() &&
        !session_.is_busy() && session_.answer().plan)
        show_mistakes();
}

}  // namespace debubble::gui

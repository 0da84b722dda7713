#include <QCoreApplication>
#include <nlohmann/json.hpp>

#include "gui/widgets/what_if/plan_session.h"
#include "gui/widgets/whole_run/nodes_view.h"
#include "gui/widgets/whole_run/run_page.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The page of the plan's whole training.
class WholeRunPage : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::WholeRunPage)

public:
    explicit WholeRunPage(ViewHost& host) : WindowView(host), page_(new RunPage) {
        QObject::connect(page_, &RunPage::turned, &context_,
                         [this](const ScenarioText& changed, const QString& what) {
                             if (host_.desk().edits()) host_.session().set_keys(changed, {}, what);
                         });
    }

    ViewFacts facts() const override {
        return {.name = "run",
                .place = ViewPlace::Middle,
                .title = tr("Run"),
                .line = tr("the whole training: days, cost, failures, and where its time goes"),
                .command = tr("Show the whole r&un"),
                .key = QKeySequence("Alt+6"),
                .tip = tr("Days, cost, and where its time goes"),
                .keys = {{tr("Left, Right, Enter"),
                          tr("on the curve: choose a number of nodes, and take it")},
                         {tr("drag, Left, Right"),
                          tr("the knob of the interval; Home takes what loses least")},
                         {tr("wheel, W, S"),
                          tr("zoom the drawn run; a drag, A and D move it, Home shows all")}}};
    }
    QWidget* widget() override { return page_; }

    void show(const Screen& screen) override { page_->set_plan(plan_of(screen), text_of(screen)); }
    void show_state(const PlanState& state) override { page_->set_stale(state.stale); }
    void add_state(nlohmann::ordered_json& state) const override {
        const sim::RunPlan* run = page_->shown_run();
        if (run == nullptr) return;
        state["run"] = {{"points", page_->findChild<NodesView*>()->points().size()},
                        {"days", run->days()},
                        {"goodput", run->figures.goodput()},
                        {"save_every", run->figures.job.save_every},
                        {"stale", page_->is_stale()}};
    }

private:
    RunPage* page_;
};

std::unique_ptr<WindowView> run_page(ViewHost& host) {
    return std::make_unique<WholeRunPage>(host);
}

}  // namespace debubble::gui

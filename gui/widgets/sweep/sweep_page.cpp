#include <QCoreApplication>
#include <nlohmann/json.hpp>

#include "gui/widgets/message_strip.h"
#include "gui/widgets/sweep/scatter_view.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/what_if/plan_session.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The page of sweeps and searches over a grid.
class SweepPage : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::SweepPage)

public:
    explicit SweepPage(ViewHost& host) : WindowView(host), sweep_(new SweepPanel) {
        QObject::connect(
            sweep_, &SweepPanel::chosen, &context_,
            [this](const ScenarioText& ground, const std::vector<scenarios::Override>& keys,
                   const QString& what) { choose(ground, keys, what); });
        QObject::connect(sweep_, &SweepPanel::opened, &context_,
                         [this] { host_.show_page("timeline"); });
        QObject::connect(sweep_, &SweepPanel::failed, &host.messages(),
                         &MessageStrip::show_mistakes);
    }

    ViewFacts facts() const override {
        return {.name = "sweep",
                .place = ViewPlace::Middle,
                .title = tr("Sweep"),
                .line = tr("every plan of a grid as a table and a plot, or its best one"),
                .command = tr("Show the s&weep"),
                .key = QKeySequence("Alt+2"),
                .tip = tr("In the middle of the window"),
                .keys = {{tr("wheel"),
                          tr("zoom at the pointer; outside the plot, only the axis there")},
                         {tr("drag"), tr("zoom into a rectangle; Shift+drag moves")},
                         {"Home", tr("show all plans; so does a double click")}},
                .scrolls = true};
    }
    QWidget* widget() override { return sweep_; }

    void show(const Screen& screen) override {
        const auto* shown = std::get_if<on_screen::Plan>(&screen);
        if (shown != nullptr && shown->plan)
            sweep_->set_memory_limit(shown->plan->document->memory_limit);
    }
    void show_text(const ScenarioText& text) override { sweep_->set_scenario(text); }
    void show_state(const PlanState& state) override { sweep_->setEnabled(state.open); }
    void add_state(nlohmann::ordered_json& state) const override {
        if (const auto* plot = sweep_->findChild<ScatterView*>())
            state["sweep_points"] = plot->point_count();
        state["sweep_rows"] = sweep_->is_running() ? 0 : sweep_->table().rows().size();
    }

private:
    void choose(const ScenarioText& ground, const std::vector<scenarios::Override>& keys,
                const QString& what) {
        if (!host_.desk().has_plan()) return;
        if (ground.file != host_.session().history().now().file)
            return host_.messages().warn(tr("These plans are of %1, which is not open")
                                             .arg(QString::fromStdString(title_of(ground.file))));
        host_.uncover_plan();  // the page of the sweep stays
        host_.session().set_keys(ground, keys, tr("point %1").arg(what));
    }

    SweepPanel* sweep_;
};

std::unique_ptr<WindowView> sweep_page(ViewHost& host) {
    return std::make_unique<SweepPage>(host);
}

}  // namespace debubble::gui

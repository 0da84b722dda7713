#include <QCoreApplication>

#include "gui/widgets/what_if/plan_session.h"
#include "gui/widgets/window_views.h"
#include "gui/widgets/zoo/zoo_panel.h"

namespace debubble::gui {

/// The page with every schedule of the plan.
class SchedulesPage : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::SchedulesPage)

public:
    explicit SchedulesPage(ViewHost& host) : WindowView(host), zoo_(new ZooPanel) {
        QObject::connect(zoo_, &ZooPanel::chosen, &context_,
                         [this](const ScenarioText& changed, const QString& schedule) {
                             if (!host_.desk().has_plan()) return;
                             host_.uncover_plan();
                             host_.session().set_keys(changed, {}, schedule);
                         });
    }

    ViewFacts facts() const override {
        return {.name = "schedules",
                .place = ViewPlace::Middle,
                .title = tr("Schedules"),
                .line = tr("every schedule of this plan, with its picture and its figures"),
                .command = tr("Show every sche&dule"),
                .key = QKeySequence("Alt+4"),
                .tip = tr("Of this plan, beside each other"),
                .keys = {{"Enter", tr("take the schedule")},
                         {"Space", tr("pin it at the top, and compare the others with it")}}};
    }
    QWidget* widget() override { return zoo_; }

    void show_text(const ScenarioText& text) override { zoo_->set_scenario(text); }

private:
    ZooPanel* zoo_;
};

std::unique_ptr<WindowView> schedules_page(ViewHost& host) {
    return std::make_unique<SchedulesPage>(host);
}

}  // namespace debubble::gui

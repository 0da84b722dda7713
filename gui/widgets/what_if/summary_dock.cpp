#include <QCoreApplication>

#include "gui/widgets/what_if/summary_panel.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The dock with the figures of the screen.
class SummaryDock : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::SummaryDock)

public:
    explicit SummaryDock(ViewHost& host) : WindowView(host), panel_(new SummaryPanel) {}

    ViewFacts facts() const override {
        return {.name = "summary",
                .place = ViewPlace::Beside,
                .title = tr("Summary"),
                .line = tr("the plan's figures, and bars for the parts of its step")};
    }
    QWidget* widget() override { return panel_; }

    void show(const Screen& screen) override { panel_->show_rows(figures_of(screen)); }
    void show_state(const PlanState& state) override { panel_->set_stale(state.stale); }

private:
    SummaryPanel* panel_;
};

std::unique_ptr<WindowView> summary_dock(ViewHost& host) {
    return std::make_unique<SummaryDock>(host);
}

}  // namespace debubble::gui

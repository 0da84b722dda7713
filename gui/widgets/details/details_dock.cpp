#include <QCoreApplication>

#include "gui/widgets/details/details_panel.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The dock with the selection in words and the search.
class DetailsDock : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::DetailsDock)

public:
    explicit DetailsDock(ViewHost& host)
        : WindowView(host), panel_(new DetailsPanel(&host.timeline())) {}

    ViewFacts facts() const override {
        return {.name = "details",
                .place = ViewPlace::Beside,
                .title = tr("Details"),
                .line = tr("the selection in words, what it costs, and a search for actions")};
    }
    QWidget* widget() override { return panel_; }

    void show(const Screen& screen) override { panel_->set_plan(plan_of(screen)); }

private:
    DetailsPanel* panel_;
};

std::unique_ptr<WindowView> details_dock(ViewHost& host) {
    return std::make_unique<DetailsDock>(host);
}

}  // namespace debubble::gui

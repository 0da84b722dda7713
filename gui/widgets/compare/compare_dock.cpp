#include <QCoreApplication>

#include "gui/widgets/compare/compare_panel.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The dock with the differences of two timelines. It is raised when a comparison is shown.
class CompareDock : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::CompareDock)

public:
    explicit CompareDock(ViewHost& host)
        : WindowView(host), panel_(new ComparePanel(&host.timeline())) {}

    ViewFacts facts() const override {
        return {.name = "compare",
                .place = ViewPlace::Below,
                .title = tr("Compare"),
                .line = tr("two timelines on one axis: their differences as tables and in words"),
                .scrolls = true};
    }
    QWidget* widget() override { return panel_; }

    void show(const Screen& screen) override {
        const auto* both = std::get_if<on_screen::Comparison>(&screen);
        if (both == nullptr) return;
        panel_->show_comparison(*both->pairing, *both->a.document,
                                compared(figures_of(both->a), figures_of(both->b)), both->words);
        host_.raise_dock("compare");
    }

private:
    ComparePanel* panel_;
};

std::unique_ptr<WindowView> compare_dock(ViewHost& host) {
    return std::make_unique<CompareDock>(host);
}

}  // namespace debubble::gui

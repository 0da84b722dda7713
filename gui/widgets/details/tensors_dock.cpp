#include <QCoreApplication>

#include "gui/widgets/details/tensor_panel.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The dock of the tensors that a rank holds at its peak, opened by a click on the memory lane's
/// dot.
class TensorsDock : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::TensorsDock)

public:
    explicit TensorsDock(ViewHost& host) : WindowView(host), panel_(new TensorPanel) {
        QObject::connect(&host.timeline(), &TimelineView::peak_clicked, &context_,
                         [this](int rank) {
                             host_.raise_dock("tensors");
                             panel_->list(plan_of(host_.desk().screen()), rank);
                         });
    }

    ViewFacts facts() const override {
        return {.name = "tensors",
                .place = ViewPlace::Below,
                .title = tr("Tensors"),
                .line = tr("the tensors that a rank holds at its peak")};
    }
    QWidget* widget() override { return panel_; }

    void show(const Screen& screen) override { panel_->set_plan(plan_of(screen)); }

private:
    TensorPanel* panel_;
};

std::unique_ptr<WindowView> tensors_dock(ViewHost& host) {
    return std::make_unique<TensorsDock>(host);
}

}  // namespace debubble::gui

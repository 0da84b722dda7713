#include <QCoreApplication>

#include "gui/widgets/timeline/overview_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The page of all ranks, with a brush over those with rows in the timeline.
class RanksPage : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::RanksPage)

public:
    explicit RanksPage(ViewHost& host) : WindowView(host), overview_(new OverviewView) {
        TimelineView& timeline = host.timeline();
        QObject::connect(overview_, &OverviewView::brushed, &context_,
                         [this, &timeline](int first, int last) {
                             timeline.show_ranks(first, last);
                             host_.show_page("timeline");
                             timeline.setFocus();
                         });
        QObject::connect(&timeline, &TimelineView::state_changed, &context_,
                         [this, &timeline] { overview_->set_brush(timeline.state().rows.only); });
    }

    ViewFacts facts() const override {
        return {.name = "ranks",
                .place = ViewPlace::Middle,
                .title = tr("All ranks"),
                .line = tr("all ranks at once, and which of them are similar"),
                .command = tr("Show all ran&ks"),
                .key = QKeySequence("Alt+5"),
                .tip = tr("A line of pixels each; a brush shows the rows of some alone")};
    }
    QWidget* widget() override { return overview_; }

    void show(const Screen& screen) override { overview_->set_document(document_of(screen)); }

private:
    OverviewView* overview_;
};

std::unique_ptr<WindowView> ranks_page(ViewHost& host) {
    return std::make_unique<RanksPage>(host);
}

}  // namespace debubble::gui

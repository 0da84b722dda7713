#include <QCoreApplication>
#include <QSplitter>

#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The page with the timeline of the screen.
class TimelinePage : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::TimelinePage)

public:
    explicit TimelinePage(ViewHost& host) : WindowView(host) {
        host.lanes().addWidget(&host.timeline());
    }

    ViewFacts facts() const override {
        return {.name = "timeline",
                .place = ViewPlace::Middle,
                .title = tr("Timeline"),
                .line = tr("what every rank does and when, why it waits, and what it holds"),
                .command = tr("Show the ti&meline"),
                .key = QKeySequence("Alt+1"),
                .tip = tr("In the middle of the window"),
                .keys = keys()};
    }
    QWidget* widget() override { return &host_.lanes(); }

    void show(const Screen& screen) override {
        TimelineView& timeline = host_.timeline();
        if (const auto* both = std::get_if<on_screen::Comparison>(&screen))
            timeline.set_comparison(both->a.document, both->b.document, both->pairing);
        else
            show_one(screen);
        const ChangeWords change = change_of(screen);
        timeline.set_change(QString::fromStdString(change.words), change.verdict);
    }
    void show_state(const PlanState& state) override { host_.timeline().set_stale(state.stale); }

private:
    void show_one(const Screen& screen) {
        const auto* shown = std::get_if<on_screen::Plan>(&screen);
        const bool has_ghost = shown != nullptr && shown->plan && shown->ghost;
        // The ghost of a previous plan does not belong to this document.
        if (!has_ghost) host_.timeline().set_ghost(nullptr);
        host_.timeline().set_document(document_of(screen));
        if (has_ghost) host_.timeline().set_ghost(shown->ghost->document);
    }

    static std::vector<ViewKey> keys() {
        return {
            {"W  S", tr("zoom in and out; Ctrl+wheel zooms at the pointer")},
            {"A  D", tr("left and right; Shift+drag moves")},
            {tr("drag"), tr("measure, snapping to the edges of actions, with the totals of the "
                            "rows that the drag crosses")},
            {tr("click"), tr("select an action or a bubble: what it waits for, and why")},
            {"F", tr("centre the selection, then fit it")},
            {".  ,", tr("next and previous action")},
            {"B  Shift+B", tr("next and previous bubble: its cause and length are in the details")},
            {"Enter", tr("go to the action that ends the selected bubble")},
            {tr("Menu"), tr("of the selection's row: streams, keep at the top, make thin")},
            {"M", tr("mark")},
            {tr("Space"), tr("play the step, or stop; a drag along the ruler moves its cursor")},
            {"C", tr("critical path")},
            {"Home", tr("show all")},
            {"Esc", tr("clear selection and measure")},
            {tr("click the dot"), tr("of a memory lane: the tensors that are held at its peak")}};
    }
};

std::unique_ptr<WindowView> timeline_page(ViewHost& host) {
    return std::make_unique<TimelinePage>(host);
}

}  // namespace debubble::gui

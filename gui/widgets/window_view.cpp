#include "gui/widgets/window_view.h"

#include "gui/widgets/what_if/plan_session.h"

namespace debubble::gui {

QKeySequence fold_key(ViewPlace place) {
    switch (place) {
        case ViewPlace::Middle: break;
        case ViewPlace::Beside: return QKeySequence("Ctrl+B");
        case ViewPlace::Below: return QKeySequence("Ctrl+J");
    }
    return {};
}

QKeySequence key_of(const ViewFacts& facts) {
    return facts.key.isEmpty() ? fold_key(facts.place) : facts.key;
}

ScenarioText WindowView::text_of(const Screen& screen) const {
    const auto* shown = std::get_if<on_screen::Plan>(&screen);
    const Answer& answer = host_.session().answer();
    return shown != nullptr && shown->plan && answer.plan == shown->plan ? answer.source
                                                                         : ScenarioText{};
}

}  // namespace debubble::gui

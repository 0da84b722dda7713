#include "gui/viewmodel/what_if/history.h"

#include <cassert>

namespace debubble::gui {

void History::start(ScenarioText source) {
    states_ = {State{std::move(source), {}, {}}};
    at_ = 0;
    saved();
}

void History::change(ScenarioText source, const std::string& what, Clock::time_point at) {
    if (source == now()) return;
    states_.resize(at_ + 1);
    State& last = states_.back();
    if (at_ > 0 && last.what == what && at - last.at < kOneThought) {
        last.source = std::move(source);
        last.at = at;
        return;
    }
    if (states_.size() >= kMost) states_.erase(states_.begin());
    states_.push_back({std::move(source), what, at});
    at_ = states_.size() - 1;
}

const ScenarioText& History::undo() {
    assert(can_undo() && "there is nothing to undo");
    states_[--at_].at = {};  // the next change is undone by itself
    return now();
}

const ScenarioText& History::redo() {
    assert(can_redo() && "nothing was undone");
    states_[++at_].at = {};
    return now();
}

}  // namespace debubble::gui

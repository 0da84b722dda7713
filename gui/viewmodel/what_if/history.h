#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"

/// Undo and redo of a scenario's text.
namespace debubble::gui {

class History {
public:
    using Clock = std::chrono::steady_clock;

    /// Starts with this text, without earlier ones.
    void start(ScenarioText source);

    const ScenarioText& now() const { return states_[at_].source; }
    /// The state that undo() would give; `now()` if there is none.
    const ScenarioText& before() const { return states_[at_ > 0 ? at_ - 1 : 0].source; }

    /// Adds a change. `what` names its kind, such as the key of a field. Consecutive changes of one
    /// kind within kOneThought of each other are undone together.
    void change(ScenarioText source, const std::string& what, Clock::time_point at = Clock::now());

    bool can_undo() const { return at_ > 0; }
    bool can_redo() const { return at_ + 1 < states_.size(); }
    const ScenarioText& undo();  ///< Precondition: can_undo()
    const ScenarioText& redo();  ///< Precondition: can_redo()

    /// Records that now() was written to the disk.
    void saved() { saved_text_ = now().text; }
    bool is_saved() const { return saved_text_ == now().text; }

    static constexpr std::chrono::milliseconds kOneThought{1000};
    static constexpr std::size_t kMost = 1000;  ///< most kept states

private:
    struct State {
        ScenarioText source;
        std::string what;
        Clock::time_point at;
    };
    std::vector<State> states_{State{}};
    std::size_t at_ = 0;
    std::string saved_text_;
};

}  // namespace debubble::gui

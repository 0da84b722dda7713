#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gui/viewmodel/opened.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/figures.h"
#include "trace/picture/timeline.h"

/// The content of the window as one value: the screen, and the open plan. Titles, exports, ghosts
/// and the enabled commands follow from it.
namespace debubble::gui {

namespace on_screen {

struct Nothing {};

/// The open scenario.
struct Plan {
    std::string file;
    std::shared_ptr<const PredictedPlan> plan;   ///< the last one that was possible, if any was
    std::shared_ptr<const PredictedPlan> ghost;  ///< the plan that it is compared with, if any
};

/// One trace, which cannot be changed.
struct Trace {
    Shown trace;
};

/// Two traces on one axis.
struct Comparison {
    Compares compares = Compares::Files;
    Shown a;
    Shown b;
    std::shared_ptr<const Pairing> pairing;
    std::string words;  ///< the output of `debubble compare`
    /// Whether A is a prediction of the open scenario: its next change shows the plan again.
    bool of_open_plan = false;
};

}  // namespace on_screen

using Screen =
    std::variant<on_screen::Nothing, on_screen::Plan, on_screen::Trace, on_screen::Comparison>;

/// The title of a window, without the name of the program; empty for an empty screen.
std::string title_of(const Screen& screen);

/// The document that is on the screen, A of two; nullptr if there is none.
Document document_of(const Screen& screen);

/// The plan that is on the screen, A of two; nullptr if there is none.
std::shared_ptr<const PredictedPlan> plan_of(const Screen& screen);

/// The effect of the last change of the plan on the screen, compared with its ghost; without words
/// if there is no ghost.
picture::ChangeWords change_of(const Screen& screen);

/// The name under which the view of this screen (its part of the time, rows, colours) is kept from
/// one start to the next; empty if it is not.
std::string view_name_of(const Screen& screen);

/// The figures of a trace: all figures of a predicted plan, or those that a trace contains.
std::vector<SummaryRow> figures_of(const Shown& shown);
/// The figures of the screen, of A in a comparison.
std::vector<SummaryRow> figures_of(const Screen& screen);

/// The screen and the open scenario, which stays open while a trace or a comparison is on the
/// screen.
class Desk {
public:
    const Screen& screen() const { return screen_; }

    /// Opens another scenario, whose plan is shown when it is predicted.
    void open_plan(std::string file);
    /// Takes the answer to a change of the open scenario. `plan` is nullptr if it is impossible:
    /// the last one that was possible stays. A trace and a comparison of files stay in front.
    void predicted(std::shared_ptr<const PredictedPlan> plan,
                   std::shared_ptr<const PredictedPlan> ghost);
    /// The open scenario was saved under another name.
    void renamed(std::string file);
    /// Shows a trace or a comparison. Returns false, and changes nothing, if it compares a plan
    /// that has changed meanwhile, or if there is no trace.
    bool show(const Opened& opened);
    /// Shows the plan instead of a trace or comparison. Precondition: can_show_plan()
    void show_plan();
    /// Shows the trace or comparison again that show_plan() or a change removed from the screen.
    /// Precondition: can_show_aside()
    void show_aside();

    bool has_plan() const { return plan_.has_value(); }
    /// Whether the scenario can be changed, undone, saved and executed, which needs it on the
    /// screen.
    bool edits() const;
    bool can_show_plan() const;
    bool can_show_aside() const { return aside_.has_value(); }
    bool can_export() const { return document_of(screen_) != nullptr; }
    /// Whether a place in this file can be shown in the scenario's text.
    bool shows_text_of(const std::string& file) const;

private:
    void lay_aside();
    bool is_of_open_plan(const Shown& shown) const;

    std::optional<on_screen::Plan> plan_;
    Screen screen_;
    std::optional<Screen> aside_;
};

}  // namespace debubble::gui

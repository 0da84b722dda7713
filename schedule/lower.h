#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/lower_options.h"
#include "schedule/schedule.h"
#include "schedule/violation.h"

/// Lowering: from the order that a generator writes to the program that a rank runs, by one list of
/// passes.
namespace debubble {

/// One pass of lowering.
struct LoweringPass {
    std::string_view name;    ///< the argument of `debubble schedule --lower-to`
    std::string_view reason;  ///< reason for its position in the list, a sentence
    bool is_of_messages;      ///< it adds or moves only sends and receives
    /// True for an order, read from a file, that already has the actions that the pass adds.
    bool (*is_done)(const Schedule& order);
    void (*run)(Lowering& lowering);
};

/// All passes, in order.
std::span<const LoweringPass> lowering_passes();

/// Runs all passes. Precondition: validate(compute_only) is empty. Where messages that are placed
/// at their computes (or in batches) would deadlock, they are placed in step, which computes in
/// every order that PyTorch executes need.
Program lower(Schedule compute_only, const LowerOptions& options);
/// The same with some of the passes, in their order.
Program lower_by(std::span<const LoweringPass> passes, Schedule order, const LowerOptions& options);

/// The changes that a pass makes to a program.
struct PassChanges {
    std::string_view pass;
    std::string_view reason;
    std::map<std::string, std::size_t> added;  ///< by the word of the action, as "SEND"
    std::size_t moved = 0;                     ///< number of actions moved relative to the others
    bool unchanged() const { return added.empty() && moved == 0; }
};
struct PartlyLowered {
    Schedule schedule;
    std::vector<PassChanges> changes;  ///< of the passes up to the last one, in order
};
/// The program after the pass `last`, as lower() has it on its way to the end. Throws InputError,
/// which lists the names, for an unknown pass.
PartlyLowered lower_to(std::string_view last, Schedule compute_only, const LowerOptions& options);

// Schedules from elsewhere. PyTorch's lowered CSV knows neither an optimizer nor tied
// parameters, and gathers and reduces whether anything is sharded or not.

/// Adds what training needs to an imported schedule: each kind of action that is missing altogether
/// is added by the pass of lower() that adds it, so that a list of computes alone becomes what
/// lower() makes of it. Gathers where no stage is sharded and reductions of a gradient with one
/// holder have no effect and are left out.
Program complete(Schedule imported, const LowerOptions& options);

/// The actions in which a program reduces gradients, or steps, differently from what its computes
/// need: it would train something other than the model.
std::vector<Violation> check_training(const Program& program, const LowerOptions& options);

}  // namespace debubble

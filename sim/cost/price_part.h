#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/units.h"
#include "models/graph/graph.h"
#include "models/operators/kernel.h"
#include "scenarios/plan/scenario.h"
#include "schedule/action.h"

/// The parts of a pass's time, which the window puts into words.
namespace debubble::sim {

/// A kernel of the pass, priced by the rates of the device or of the links.
struct KernelPart {
    const models::Kernel* kernel = nullptr;  ///< of the StagePrice, and there as long
    Duration alone{};                        ///< duration of one of them alone
};
/// An operator on a calibrated machine.
struct OperatorPart {
    std::string name;      ///< name of the operator, without its layer
    bool measured = true;  ///< if false, priced by the rates of the device
};
/// A term of the pass's time that belongs neither to a kernel nor to an operator.
struct CostTerm {
    std::string_view name;
    std::string_view formula;  ///< in words
};
/// The host launches kernels more slowly than the device runs them.
inline constexpr CostTerm kLaunching{
    "launched by the host", "the fourth root of device^4 + host^4, less the device's own time"};
/// Gathers and reductions between replicas inside the pass.
inline constexpr CostTerm kSharding{
    "sharded parameters", "gathered and reduced between replicas, as far as nothing hides it"};
/// On a calibrated machine, the interpreter's time in a pass.
inline constexpr CostTerm kInterpreter{"around the operators",
                                       "measured: the interpreter's own work in a pass"};
/// The host goes on only when a message has arrived.
inline constexpr CostTerm kWaitingHost{
    "the host after a message",
    "the pass's share of host_micro_batch, since the host waits for messages before it goes on"};
/// All of them: the window has words for each in its own language.
inline constexpr std::array kCostTerms{kLaunching, kSharding, kInterpreter, kWaitingHost};

struct PricePart {
    int times = 1;
    Duration takes{};  ///< time of all of them; for communication, the exposed part
    std::variant<KernelPart, OperatorPart, CostTerm> from;
};

// Terms added to a pass's time besides its kernels and collectives, which never overlap anything.

struct AddedTerm {
    CostTerm term;
    Duration takes{};
};

/// The terms of one pass of a stage; without a `pass`, those of a Recompute. StagePrice adds them
/// to every price, also of calibrated machines and of pairs, and lists them among its parts.
std::vector<AddedTerm> added_terms(const scenarios::Scenario& scenario,
                                   const models::StageGraph& stage, std::optional<Pass> pass);

/// The pass's share of the host's time between two microbatches.
Duration host_between(const scenarios::Scenario& scenario, Pass pass);

Duration sum_of(const std::vector<AddedTerm>& terms);

}  // namespace debubble::sim

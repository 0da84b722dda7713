#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/units.h"
#include "models/operators/kernel.h"

/// The parts of a pass's time, which the window puts into words.
namespace debubble::sim {

/// A kernel of the pass, priced by the rates of the device or of the links.
struct KernelPart {
    models::Kernel kernel;
    Duration alone{};  ///< duration of one of them alone
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

struct PricePart {
    int times = 1;
    Duration takes{};  ///< time of all of them; for communication, the exposed part
    std::variant<KernelPart, OperatorPart, CostTerm> from;
};

}  // namespace debubble::sim

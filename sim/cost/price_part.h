#pragma once

#include <string>
#include <variant>

#include "base/units.h"
#include "models/kernel.h"

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
/// The interpreter's own work in a pass of a calibrated machine.
struct InterpreterPart {};
/// The host launches kernels more slowly than the device carries them out.
struct LaunchingPart {};
/// The exchange of parameters and gradients between replicas, inside the pass.
struct ShardingPart {};

struct PricePart {
    int times = 1;
    Duration takes{};  ///< time of all of them; for communication, the part that nothing hides
    std::variant<KernelPart, OperatorPart, InterpreterPart, LaunchingPart, ShardingPart> from;
};

}  // namespace debubble::sim

#pragma once

#include <memory>

#include "exec/comm/processes/engine.h"

namespace debubble::exec::processes {

/// The communicator of all processes that the wire joins. `name` is how sentences call this process
/// before it has joined. Throws what `open` throws.
std::unique_ptr<Communicator> join_world(const OpenWire& open, const Patience& patience,
                                         const std::string& name = "this process");

}  // namespace debubble::exec::processes

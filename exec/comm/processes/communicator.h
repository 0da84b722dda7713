#pragma once

#include <memory>

#include "exec/comm/processes/engine.h"

namespace debubble::exec::processes {

/// The communicator of all processes that the wire joins. Sentences call this process `name` before
/// it has joined. Throws what `open` throws.
std::unique_ptr<Communicator> join_world(const OpenWire& open, const Patience& patience,
                                         const std::string& name = "this process");

}  // namespace debubble::exec::processes

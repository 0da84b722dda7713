#pragma once

#include <memory>

#include "exec/comm/processes/engine.h"

namespace debubble::exec::processes {

/// The communicator of all processes that the wire joins. Throws what `open` throws.
std::unique_ptr<Communicator> join_world(const OpenWire& open, const Patience& patience);

}  // namespace debubble::exec::processes

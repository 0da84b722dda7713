#pragma once

#include <memory>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// What asks nobody while `muted` says so: every communication is over at once, and received
/// memory holds what it held. Otherwise it is `inner`.
///
/// Both, and the flag, must outlive it and its groups.
std::unique_ptr<Communicator> muted_while(const bool& muted, Communicator& inner);

}  // namespace debubble::exec

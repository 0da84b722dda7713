#pragma once

#include <memory>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// A communicator that communicates with nobody while `muted` is true: every communication is over
/// at once, and receive buffers keep their content. Otherwise it is `inner`.
///
/// `inner` and the flag must outlive it and its groups.
std::unique_ptr<Communicator> muted_while(const bool& muted, Communicator& inner);

}  // namespace debubble::exec

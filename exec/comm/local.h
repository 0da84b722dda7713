#pragma once

#include <functional>

#include "exec/core/communicator/communicator.h"
#include "schedule/transport.h"

namespace debubble::exec {

/// Runs `body` once per rank, each on a thread of this process, over a communicator of
/// all ranks that moves bytes as `transport` says. If a rank throws, all waits of the
/// others end, and this throws what the first to fail has thrown.
///
/// The copies and sums are carried out by the threads that wait for them, so no rank's computation
/// is disturbed and no thread is added.
void run_local(int ranks, Transport transport, const std::function<void(Communicator&)>& body);

}  // namespace debubble::exec

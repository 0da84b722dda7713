#pragma once

#include <string>
#include <vector>

namespace debubble::exec {

/// Starts this program with these arguments once for each rank, all on this host, with the
/// environment of torchrun and a fresh secret; waits for all of them, and returns the exit code
/// of the first rank that failed, or 0.
///
/// A rank that ends by a signal, or in failure, ends the others, which have some seconds to say
/// why themselves. SIGINT, SIGTERM and SIGHUP reach all ranks as SIGTERM. When this process dies,
/// whatever the reason, its ranks get a SIGTERM.
///
/// Throws WorldError if a rank cannot be started or was ended by a signal. Call it before there
/// are threads.
int start_ranks(int ranks, const std::vector<std::string>& arguments);

}  // namespace debubble::exec

#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "base/build_id.h"

namespace debubble::exec {

/// The facts by which a process finds the others of its job.
struct TcpJob {
    int rank = 0;
    int ranks = 1;
    std::string host = "127.0.0.1";  ///< host of rank 0
    int port = 0;                    ///< port at which rank 0 listens
    /// A file that takes the place of host and port. All ranks, and nobody else, can read it; rank
    /// 0 writes it, with a secret in it, and removes it.
    std::filesystem::path file;
    /// Whether the file is on this host and rank 0 holds a lock on it. A file without a lock was
    /// then left over by an earlier job.
    bool file_is_held = false;
    /// The secret that only this job knows. A process that does not know it is refused. It is never
    /// sent.
    std::string secret;
    int listening = -1;     ///< a socket of rank 0 that listens already; this job takes it over
    bool one_host = false;  ///< whether all ranks run on this host: then nobody else can connect
    BuildId build = build_id();
    /// Time until all ranks are there.
    std::chrono::nanoseconds patience = std::chrono::minutes(5);
};

}  // namespace debubble::exec

#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "base/build_id.h"

namespace debubble::exec {

/// What a process must know to find the others of its job.
struct TcpJob {
    int rank = 0;
    int ranks = 1;
    std::string host = "127.0.0.1";  ///< of rank 0
    int port = 0;                    ///< where rank 0 listens
    /// Instead of host and port: a file that all ranks can read, and nobody else, which rank 0
    /// writes, with a secret in it, and removes.
    std::filesystem::path file;
    /// The file is on this host, and rank 0 holds a lock on it: one that nobody holds was left
    /// over.
    bool file_is_held = false;
    /// Known to this job alone. Who does not know it is refused; it does not travel.
    std::string secret;
    int listening = -1;     ///< a socket of rank 0 that listens already; taken over
    bool one_host = false;  ///< all ranks are: nobody else can connect
    BuildId build = build_id();
    std::chrono::nanoseconds patience = std::chrono::minutes(5);  ///< until all are there
};

}  // namespace debubble::exec

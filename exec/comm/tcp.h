#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/build_id.h"
#include "exec/core/communicator/communicator.h"

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

/// The communicator of the processes of a job, this one among them, over TCP: rank 0 listens, all
/// others call it, learn where each listens and call each other, so that every two share
/// a connection. What travels is not encrypted. Throws WorldError with what is missing.
///
/// A rank whose process ends, or whose host is silent for a minute, ends all waits.
std::unique_ptr<Communicator> connect_tcp(const TcpJob& job);

/// A socket that listens at a free port of this host, for this host, for rank 0 to take over.
struct TcpListener {
    int descriptor = -1;
    int port = 0;
};
TcpListener listen_here();

/// A secret for a job that is started together.
std::string fresh_job_secret();

}  // namespace debubble::exec

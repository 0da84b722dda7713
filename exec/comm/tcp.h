#pragma once

#include <memory>
#include <string>

#include "exec/comm/tcp/job.h"
#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// The communicator of the processes of a job, this one among them, over TCP. Rank 0 listens; all
/// others call it, learn where each rank listens, and call each other, so that every two share a
/// connection. The bytes are not encrypted. Throws WorldError with a sentence that says what is
/// missing.
///
/// A rank whose process ends, or whose host is silent for a minute, ends all waits.
std::unique_ptr<Communicator> connect_tcp(const TcpJob& job);

/// A socket that listens at a free port of this host, for calls from this host; rank 0 takes it
/// over.
struct TcpListener {
    int descriptor = -1;
    int port = 0;
};
TcpListener listen_here();

/// A new random secret for a job whose processes are started together.
std::string fresh_job_secret();

}  // namespace debubble::exec

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/build_id.h"
#include "exec/core/communicator/communicator.h"
#include "schedule/transport.h"

/// The transports that connect the ranks of a job: threads of one process, MPI, and TCP.
namespace debubble::exec {

/// Runs `body` once per rank, each on a thread of this process, over a communicator of
/// all ranks that moves bytes as `transport` says. If a rank throws, all waits of the
/// others end, and this throws what the first to fail has thrown.
///
/// The copies and sums are carried out by the threads that wait for them, so no rank's computation
/// is disturbed and no thread is added.
void run_local(int ranks, Transport transport, const std::function<void(Communicator&)>& body);

/// The communicator of all processes that mpirun or srun has started together, this one among them.
/// It loads the MPI module that lies next to the program, so that everything else runs on machines
/// without MPI; it throws WorldError where the module or its MPI is missing. Call it once per
/// process. MPI cannot be interrupted: where one of its calls does not return within the patience,
/// including the calls that start and finalise MPI, the process ends with exit code 3.
std::unique_ptr<Communicator> connect_mpi(
    std::chrono::nanoseconds patience = std::chrono::minutes(5));

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
    bool one_host = false;  ///< whether all ranks run on this host: then no other host can connect
    BuildId build = build_id();
    /// Time until all ranks are there.
    std::chrono::nanoseconds patience = std::chrono::minutes(5);
};

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

#pragma once

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "exec/comm/transports.h"

namespace debubble::exec {

/// The ranks of a job over TCP as threads of this process, each with connections of its own. What
/// each has thrown, by rank; empty if nothing.
inline std::vector<std::string> run_tcp(int ranks, const std::function<void(Communicator&)>& body) {
    const TcpListener listener = listen_here();
    std::vector<std::string> failures(static_cast<std::size_t>(ranks));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank) {
            threads.emplace_back([&, rank] {
                TcpJob job;
                job.rank = rank;
                job.ranks = ranks;
                job.port = listener.port;
                job.secret = "of this test";
                if (rank == 0) job.listening = listener.descriptor;
                job.one_host = true;
                job.patience = std::chrono::seconds(60);
                try {
                    const auto world = connect_tcp(job);
                    try {
                        body(*world);
                    } catch (const Aborted&) {
                        throw;
                    } catch (const std::exception& error) {
                        world->abort(error.what());
                        throw;
                    }
                } catch (const std::exception& error) {
                    failures[static_cast<std::size_t>(rank)] = error.what();
                }
            });
        }
    }
    return failures;
}

}  // namespace debubble::exec

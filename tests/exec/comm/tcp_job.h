#pragma once

#include <string>

#include "exec/comm/transports.h"
#include "tests/exec/support/comm/comm_checks.h"
#include "tests/exec/support/tcp_world.h"

/// Ranks of a job over TCP that meet by themselves, each on a thread of the test.
namespace debubble::exec {

/// A rank of a job of two.
inline TcpJob job_at(int rank, int port, std::chrono::nanoseconds patience = 60s) {
    TcpJob job;
    job.rank = rank;
    job.ranks = 2;
    job.port = port;
    job.secret = "of this test";
    job.one_host = true;
    job.patience = patience;
    return job;
}
inline TcpJob job_of(const TcpListener& listener, std::chrono::nanoseconds patience = 60s) {
    TcpJob job = job_at(0, listener.port, patience);
    job.listening = listener.descriptor;
    return job;
}

inline std::string failure_to_connect(const TcpJob& job) {
    return failure_of([&] { connect_tcp(job); });
}

/// Meets the other, sums up, and parts.
inline int sum_at(const TcpJob& job) {
    const auto world = connect_tcp(job);
    int value = world->rank() + 1;
    world->all_reduce(buffer_of(std::span(&value, 1)), Reduction::Sum, "SUM")->wait(soon());
    return value;
}

}  // namespace debubble::exec

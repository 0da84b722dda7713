#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace debubble::exec {

/// The options of `debubble run`.
struct RunRequest {
    std::string scenario;               ///< name or path
    std::vector<std::string> set;       ///< key=value
    std::string comm = "auto";          ///< auto, local, mpi, tcp, nccl
    std::string rendezvous;             ///< a file by which ranks over TCP meet
    std::optional<std::int64_t> steps;  ///< number of the last step
    std::string resume = "auto";        ///< auto, never, or a folder
    std::string json;                   ///< files; "-" is standard output, empty is nowhere
    std::string trace;
    std::string metrics;
    std::string device = "cpu";  ///< cpu or cuda
    std::string kernels = "auto";
    /// Threads of each rank's kernels.
    std::optional<int> threads;
    std::chrono::nanoseconds patience = std::chrono::minutes(5);  ///< patience of every wait
};

}  // namespace debubble::exec

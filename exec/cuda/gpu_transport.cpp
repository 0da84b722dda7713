#include "exec/cuda/gpu_placement.h"

#include <algorithm>

#include <fmt/format.h>

namespace debubble::exec {

namespace {

constexpr const char* kStaged = "tensors between GPUs are staged through the host's memory";

}  // namespace

GpuTransport transport_between(const GpusHere& here, const std::string& comm) {
    const int used = std::min(here.ranks, here.gpus);
    if (used < 2) return {};
    if (comm == "local")
        return {false, fmt::format("with --comm local the {} ranks are threads, and {}: --comm "
                                   "nccl makes each a process and avoids that",
                                   here.ranks, kStaged)};
    if (comm != "auto") return {};
    if (here.why_no_nccl) return {false, fmt::format("{}; {}", *here.why_no_nccl, kStaged)};
    if (here.ranks > here.gpus)
        return {false,
                fmt::format("{} ranks share {} GPUs, and NCCL needs one GPU for each rank; {}",
                            here.ranks, here.gpus, kStaged)};
    return {true, std::nullopt};
}

std::string note_of_staging(const std::string& comm, bool several_gpus) {
    if (!several_gpus || (comm != "mpi" && comm != "tcp")) return {};
    return fmt::format("--comm {} moves data in host memory, and {}: --comm nccl avoids that", comm,
                       kStaged);
}

std::string note_of_calibration(int ranks, int gpus) {
    if (std::min(ranks, gpus) < 2) return {};
    return fmt::format(
        "the {} ranks are threads, and {}, as with debubble run --comm local; other runs use NCCL, "
        "whose times are imported by --nccl-tests and --nccl-inspector",
        ranks, kStaged);
}

}  // namespace debubble::exec

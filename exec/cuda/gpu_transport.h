#pragma once

#include <optional>
#include <string>

/// How tensors travel between the GPUs of one machine, decided before any rank has started.
namespace debubble::exec {

/// The facts on which the choice depends.
struct GpusHere {
    int ranks = 1;                           ///< ranks of the job, all of them on this machine
    int gpus = 1;                            ///< GPUs that this process sees
    std::optional<std::string> why_no_nccl;  ///< the reason why NCCL cannot be used; unset: it can
};

/// The choice for ranks that no launcher has started.
struct GpuTransport {
    bool process_per_rank = false;  ///< processes that exchange by NCCL; otherwise threads
    /// A sentence for the person where tensors go through the host's memory on their way from one
    /// GPU to another; empty where they do not.
    std::string note;
    friend bool operator==(const GpuTransport&, const GpuTransport&) = default;
};

/// Threads of one process reach the memory of one GPU only, so that ranks on several GPUs are
/// processes over NCCL wherever that can be used and each rank has a GPU of its own. `comm` is the
/// word of --comm: auto leaves the choice to this, every other word has made it.
GpuTransport transport_between(const GpusHere& here, const std::string& comm);

/// The same sentence for ranks that are processes already and were told to do without NCCL
/// (--comm mpi, tcp); empty where a single GPU has all of them.
std::string note_of_staging(const std::string& comm, bool several_gpus);

/// What `debubble calibrate` measures between GPUs, where `ranks` threads have `gpus` of them: the
/// detour, and how to know what NCCL does; empty where a single GPU has all ranks.
std::string note_of_calibration(int ranks, int gpus);

}  // namespace debubble::exec

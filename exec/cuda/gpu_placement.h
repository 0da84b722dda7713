#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/core/communicator/communicator.h"

/// The place of ranks on the GPUs of a machine: which GPU each has, which cores are near it, and
/// how tensors are sent between them.
namespace debubble::exec {

/// The place of a rank's GPU, in the form that ranks send each other. Padded with zeros.
struct DevicePlace {
    std::array<char, 256> host{};  ///< the host's name and boot id
    std::array<char, 32> gpu{};    ///< the GPU's PCI bus id
    friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
};

/// The assignment of GPUs to ranks. Counts of ranks and GPUs do not give it: a process may see one
/// GPU of many.
struct DeviceAssignment {
    int on_this_gpu = 1;        ///< ranks on this rank's GPU
    bool some_share = false;    ///< whether some GPU has several ranks
    bool one_host = true;       ///< whether one host has all ranks
    bool several_gpus = false;  ///< whether not all ranks are on one GPU
};
DeviceAssignment assignment_of(std::span<const DevicePlace> by_rank, int rank);

/// Gathers the assignment, which is the same for all processes of `host`; all of them call it.
/// `gpu` is the PCI bus id of this one's GPU.
DeviceAssignment gather_assignment(Communicator& host, const std::string& gpu,
                                   std::chrono::nanoseconds patience);

// The processor's cores that are nearest to a GPU: those of the socket whose PCI Express it hangs
// on. From the others, launches and copies cross the link between the sockets.

/// The numbers of a list such as "0-3,8,10-11", as Linux writes lists of cores, in order; empty if
/// the text is not such a list.
std::vector<int> cores_of_list(std::string_view list);

/// The cores near the GPU with this PCI bus id, such as "0000:2A:00.0", as Linux reports them
/// (bus/pci/devices/ID/local_cpulist under `sys`); empty where it reports none.
std::vector<int> cores_near(const std::string& bus_id, const std::filesystem::path& sys = "/sys");

/// The cores to which a rank's thread is bound: those of `near` that are `allowed`. Empty if that
/// would be none or all of them: then the thread stays where the launcher put it.
std::vector<int> cores_to_use(const std::vector<int>& near, const std::vector<int>& allowed);

/// Binds the calling thread, and so those that it starts after this, to the cores near the GPU
/// (cores_near) among those that it may use. Does nothing where Linux reports no cores or allows
/// none of them.
void stay_near(const std::string& bus_id, const std::filesystem::path& sys = "/sys");

// The transport of tensors between the GPUs of one machine, decided before any rank has started.

/// The facts on which the choice depends.
struct GpusHere {
    int ranks = 1;                           ///< ranks of the job, all of them on this machine
    int gpus = 1;                            ///< GPUs that this process sees
    std::optional<std::string> why_no_nccl;  ///< the reason why NCCL cannot be used; unset: it can
};

/// The choice for ranks that no launcher has started.
struct GpuTransport {
    bool process_per_rank = false;  ///< processes that communicate by NCCL; otherwise threads
    /// A sentence for the user where tensors between GPUs are staged through the host's memory.
    std::optional<std::string> note;
    friend bool operator==(const GpuTransport&, const GpuTransport&) = default;
};

/// Threads of one process reach the memory of one GPU only, so that ranks on several GPUs are
/// processes over NCCL wherever that can be used and each rank has a GPU of its own. `comm` is the
/// word of --comm: auto leaves the choice to this function, every other word makes it.
GpuTransport transport_between(const GpusHere& here, const std::string& comm);

/// The same sentence for ranks that are already processes and do not use NCCL
/// (--comm mpi, tcp); empty where a single GPU has all of them.
std::string note_of_staging(const std::string& comm, bool several_gpus);

/// A sentence about the links that `debubble calibrate` measures between GPUs, where `ranks`
/// threads use `gpus` of them: transfers staged through the host, and how to measure NCCL; empty
/// where a single GPU has all ranks.
std::string note_of_calibration(int ranks, int gpus);

}  // namespace debubble::exec

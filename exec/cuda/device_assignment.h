#pragma once

#include <array>
#include <chrono>
#include <span>
#include <string>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// The place of a rank's GPU in the form in which ranks exchange it. Padded with zeros.
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

}  // namespace debubble::exec

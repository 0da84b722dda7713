#pragma once

#include <array>
#include <chrono>
#include <span>
#include <string>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// Where a rank's GPU is, as ranks tell each other. Padded with zeros.
struct Seat {
    std::array<char, 256> host{};  ///< its name and boot id
    std::array<char, 32> gpu{};    ///< its PCI bus id
    friend bool operator==(const Seat&, const Seat&) = default;
};

/// Who has which GPU. Counts of ranks and GPUs do not tell: a process may see one of many.
struct Seating {
    int on_this_gpu = 1;      ///< ranks
    bool some_share = false;  ///< there is a GPU that several ranks have
    bool one_host = true;     ///< has all of them
};
Seating seating_of(std::span<const Seat> by_rank, int rank);

/// The same for all processes of `host`; all of them ask. `gpu` is this one's PCI bus id.
Seating gather_seating(Communicator& host, const std::string& gpu,
                       std::chrono::nanoseconds patience);

}  // namespace debubble::exec

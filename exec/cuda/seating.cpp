#include "exec/cuda/seating.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include <unistd.h>

namespace debubble::exec {

namespace {

/// As NCCL tells hosts apart: containers may share a name, or a kernel.
Seat seat_on(const std::string& gpu) {
    char name[128] = {};
    ::gethostname(name, sizeof name - 1);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    Seat seat;
    (name + ("/" + boot)).copy(seat.host.data(), seat.host.size() - 1);
    gpu.copy(seat.gpu.data(), seat.gpu.size() - 1);
    return seat;
}

}  // namespace

Seating seating_of(std::span<const Seat> by_rank, int rank) {
    const auto me = by_rank.begin() + rank;
    Seating seating;
    seating.on_this_gpu = static_cast<int>(std::count(by_rank.begin(), by_rank.end(), *me));
    for (const Seat& seat : by_rank) {
        seating.some_share = seating.some_share || std::ranges::count(by_rank, seat) > 1;
        seating.one_host = seating.one_host && seat.host == me->host;
    }
    return seating;
}

Seating gather_seating(Communicator& host, const std::string& gpu,
                       std::chrono::nanoseconds patience) {
    std::vector<Seat> mine{seat_on(gpu)};
    std::vector<Seat> all(static_cast<std::size_t>(host.size()));
    host.all_gather({std::as_writable_bytes(std::span(mine)), DataType::Int32},
                    {std::as_writable_bytes(std::span(all)), DataType::Int32}, "GPUS")
        ->wait(within(patience));
    return seating_of(all, host.rank());
}

}  // namespace debubble::exec

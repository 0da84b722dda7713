#include "exec/cuda/gpu_placement.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include <unistd.h>

namespace debubble::exec {

namespace {

/// Hosts are distinguished as in NCCL: containers may share a name, or a kernel.
DevicePlace device_place_on(const std::string& gpu) {
    char name[128] = {};
    ::gethostname(name, sizeof name - 1);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    DevicePlace place;
    (name + ("/" + boot)).copy(place.host.data(), place.host.size() - 1);
    gpu.copy(place.gpu.data(), place.gpu.size() - 1);
    return place;
}

}  // namespace

DeviceAssignment assignment_of(std::span<const DevicePlace> by_rank, int rank) {
    const auto me = by_rank.begin() + rank;
    DeviceAssignment assignment;
    assignment.on_this_gpu = static_cast<int>(std::count(by_rank.begin(), by_rank.end(), *me));
    for (const DevicePlace& place : by_rank) {
        assignment.some_share = assignment.some_share || std::ranges::count(by_rank, place) > 1;
        assignment.one_host = assignment.one_host && place.host == me->host;
        assignment.several_gpus = assignment.several_gpus || place != *me;
    }
    return assignment;
}

DeviceAssignment gather_assignment(Communicator& host, const std::string& gpu,
                                   std::chrono::nanoseconds patience) {
    std::vector<DevicePlace> mine{device_place_on(gpu)};
    std::vector<DevicePlace> all(static_cast<std::size_t>(host.size()));
    host.all_gather({std::as_writable_bytes(std::span(mine)), DataType::Int32},
                    {std::as_writable_bytes(std::span(all)), DataType::Int32}, "GPUS")
        ->wait(within(patience));
    return assignment_of(all, host.rank());
}

}  // namespace debubble::exec

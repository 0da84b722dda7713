#include "trace/profile/formats/snapshot_peaks.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::profile {
namespace {

constexpr std::size_t kLongestSnapshot = std::size_t{2} << 30U;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50U;  ///< of a block
constexpr std::size_t kMostDevices = 4096;

struct Level {
    std::int64_t allocated = 0;
    std::int64_t reserved = 0;
};

std::vector<Level> levels_at_the_end(const Pickle& pickle, std::size_t devices,
                                     const std::string& file) {
    std::vector<Level> levels(devices);
    const Pickle::Value* const segments = pickle.find(pickle.root(), "segments");
    if (segments == nullptr) return levels;
    for (const std::uint32_t index : segments->items) {
        const Pickle::Value& segment = pickle.at(index);
        const std::int64_t device = pickle.number(segment, "device");
        if (device < 0 || device >= static_cast<std::int64_t>(kMostDevices))
            throw InputError(fmt::format("{}: a segment is of device {}", file, device));
        if (static_cast<std::size_t>(device) >= levels.size())
            levels.resize(static_cast<std::size_t>(device) + 1);
        Level& level = levels[device];
        const auto bytes = [&](std::string_view key) {
            return std::clamp<std::int64_t>(pickle.number(segment, key), 0, kMostBytes);
        };
        level.allocated += bytes("allocated_size");
        level.reserved += bytes("total_size");
    }
    return levels;
}

/// Undoes an event.
void step_back(Level& level, std::string_view action, std::int64_t size) {
    const auto add = [](std::int64_t& to, std::int64_t bytes) {
        constexpr std::int64_t kMost = kMostBytes * 1024;
        to = std::clamp(to + bytes, -kMost, kMost);
    };
    if (action == "alloc") add(level.allocated, -size);
    if (action == "free_requested") add(level.allocated, size);
    if (action == "segment_alloc" || action == "segment_map") add(level.reserved, -size);
    if (action == "segment_free" || action == "segment_unmap") add(level.reserved, size);
}

}  // namespace

bool is_pickle(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return in.get() == 0x80;
}

SnapshotPeaks snapshot_peaks(const std::string& file) {
    const Pickle pickle(read_file(file, kLongestSnapshot), file);
    const Pickle::Value* const traces = pickle.find(pickle.root(), "device_traces");
    if (traces == nullptr && pickle.find(pickle.root(), "segments") == nullptr)
        throw InputError(fmt::format(
            "{}: it has neither 'segments' nor 'device_traces', as memory snapshots of PyTorch do",
            file));
    const std::size_t devices = traces == nullptr ? 0 : traces->items.size();
    std::vector<Level> levels = levels_at_the_end(pickle, devices, file);
    Level most;
    const auto see = [&](const Level& level) {
        most.allocated = std::max(most.allocated, level.allocated);
        most.reserved = std::max(most.reserved, level.reserved);
    };
    for (std::size_t device = 0; device < levels.size(); ++device) {
        see(levels[device]);
        if (device >= devices) continue;
        const std::vector<std::uint32_t>& events = pickle.at(traces->items[device]).items;
        for (std::size_t i = events.size(); i-- > 0;) {
            const Pickle::Value& event = pickle.at(events[i]);
            step_back(levels[device], pickle.text(event, "action"),
                      std::clamp<std::int64_t>(pickle.number(event, "size"), 0, kMostBytes));
            see(levels[device]);
        }
    }
    if (most.allocated == 0 && most.reserved == 0)
        throw InputError(fmt::format("{}: the snapshot holds no allocation", file));
    return {Bytes{most.allocated}, Bytes{most.reserved}};
}

}  // namespace debubble::profile

#include "exec/core/training/optimizer_pass.h"

#include <algorithm>
#include <deque>

#include "base/check.h"
#include "exec/core/training/state/unit_state.h"

namespace debubble::exec {

namespace {

constexpr std::int64_t kAligned = 256;  ///< bytes; alignment of every tensor on a device

std::int64_t padded(std::int64_t bytes) {
    return (bytes + kAligned - 1) / kAligned * kAligned;
}

std::int64_t elements(const HostState& unit) {
    return unit.tensors.front().shape.elements();
}

std::int64_t bytes_of(const HostState& unit, std::int64_t count) {
    std::int64_t sum = 0;
    for (const TensorView& tensor : unit.tensors) sum += padded(count * size_of(tensor.type));
    return sum;
}

/// The number of elements that fit, in whole lines of every type.
std::int64_t elements_of_a_slice(const HostState& unit, std::int64_t bytes) {
    std::int64_t width = 0;
    for (const TensorView& tensor : unit.tensors) width += size_of(tensor.type);
    DEBUBBLE_CHECK(width > 0, "a unit has some state");
    return std::max(kAligned, bytes / width / kAligned * kAligned);
}

/// A ring of slices one after the other, which become free in the order in which they were taken.
class Ring {
public:
    Ring(Arena& arena, std::int64_t size)
        : size_(size),
          memory_(arena.allocate({size / 4}, DataType::Fp32, MemoryClass::Workspace,
                                 "slices of offloaded state")) {}

    /// Takes room to which `lane` will write once its last use is over.
    std::byte* take(std::int64_t bytes, DeviceLanes& lanes, DeviceLane lane) {
        DEBUBBLE_CHECK(bytes <= size_, "a slice is a part of the buffer");
        if (end_ + bytes > size_) end_ = 0;
        const TakenRange place{end_, end_ + bytes, {}};
        const auto overlaps = [&](const TakenRange& other) {
            return other.begin < place.end && place.begin < other.end;
        };
        // The marks belong to one lane, so the last that is in the way covers those before it.
        const auto last = std::find_if(taken_.rbegin(), taken_.rend(), overlaps);
        if (last != taken_.rend()) lanes.wait(lane, last->left);
        taken_.erase(taken_.begin(), last.base());
        taken_.push_back(place);
        end_ = place.end;
        return memory_.view().data + place.begin;
    }
    /// The slice that was taken last is free from that mark on.
    void leave(Mark mark) { taken_.back().left = mark; }

private:
    struct TakenRange {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        Mark left;
    };
    std::int64_t size_;
    std::int64_t end_ = 0;
    std::deque<TakenRange> taken_;
    ArenaTensor memory_;
};

std::vector<TensorView> slices_at(std::byte* at, const HostState& unit, std::int64_t count) {
    std::vector<TensorView> slices;
    for (const TensorView& tensor : unit.tensors) {
        slices.push_back({at, {count}, tensor.type});
        at += padded(slices.back().bytes());
    }
    return slices;
}

}  // namespace

void pass_through_device(std::span<const HostState> units, DeviceLanes& lanes, Arena& arena,
                         Bytes buffer) {
    std::int64_t most = 0;  // bytes of the largest slice
    std::int64_t all = 0;
    for (const HostState& unit : units) {
        const std::int64_t each = elements_of_a_slice(unit, buffer.count / 3);
        most = std::max(most, bytes_of(unit, std::min(each, elements(unit))));
        all += bytes_of(unit, elements(unit));
    }
    if (all == 0) return;
    Ring ring(arena, std::clamp(buffer.count / kAligned * kAligned, most, all));
    const DeviceLane in = lanes.lane("optimizer state in");
    const DeviceLane out = lanes.lane("optimizer state out");
    lanes.wait(in, lanes.mark(kComputeLane));
    for (const HostState& unit : units) {
        const std::int64_t each = elements_of_a_slice(unit, buffer.count / 3);
        for (std::int64_t first = 0; first < elements(unit); first += each) {
            const std::int64_t count = std::min(each, elements(unit) - first);
            const std::vector<TensorView> slices =
                slices_at(ring.take(bytes_of(unit, count), lanes, in), unit, count);
            const auto on_host = [&](std::size_t i) {
                return part_of(unit.tensors[i], first, count);
            };
            for (std::size_t i = 0; i < slices.size(); ++i)
                lanes.copy(in, on_host(i).data, slices[i].data, Bytes{slices[i].bytes()});
            lanes.wait(kComputeLane, lanes.mark(in));
            unit.step(first, slices);
            lanes.wait(out, lanes.mark(kComputeLane));
            for (std::size_t i = 0; i < slices.size(); ++i)
                lanes.copy(out, slices[i].data, on_host(i).data, Bytes{slices[i].bytes()});
            ring.leave(lanes.mark(out));
        }
    }
    lanes.wait(kComputeLane, lanes.mark(out));
}

}  // namespace debubble::exec

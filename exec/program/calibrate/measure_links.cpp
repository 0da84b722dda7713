#include "exec/program/calibrate/measure_device.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "exec/comm/transports.h"
#include "exec/core/communicator/decorators.h"

namespace debubble::exec {

namespace {

using Kind = models::Collective::Kind;

constexpr int kWarmUp = 3;
constexpr int kTimedExchanges = 20;
constexpr std::array<std::int64_t, 4> kMessageBytes{4 << 10, 64 << 10, 1 << 20, 4 << 20};

/// A rank with the memory of its messages.
class RankMemory {
public:
    RankMemory(Communicator& world, const MeasureOptions& how)
        : patience(how.patience),
          device_(how.device ? how.device(world.rank(), world.size()) : nullptr),
          arena_(Bytes{4 * kMessageBytes.back()}, device_.get()) {
        if (!device_) return;
        kernels_ = device_->make_kernels();
        pinned_ = std::make_unique<PinnedPool>(device_->lanes());
        carried_ = world.on_device(device_->lanes());
        if (!carried_) carried_ = stage_through_host(world, *kernels_, *pinned_);
    }
    /// The communicator that the executor uses for tensors in this memory.
    Communicator& world(Communicator& own) const { return carried_ ? *carried_ : own; }
    ArenaTensor tensor(std::int64_t elements) {
        return arena_.allocate({elements}, DataType::Fp32, MemoryClass::Buffers, "calibrate");
    }
    void finish() const {
        if (kernels_) kernels_->finish();
    }
    const std::chrono::nanoseconds patience;

private:
    std::shared_ptr<Device> device_;
    Arena arena_;
    std::unique_ptr<Kernels> kernels_;
    std::unique_ptr<PinnedPool> pinned_;
    std::unique_ptr<Communicator> carried_;
};

/// The median in seconds of an exchange of all members.
double timed(Communicator& members, const RankMemory& memory,
             const std::function<void()>& exchange) {
    std::vector<double> seconds;
    for (int i = 0; i < kWarmUp + kTimedExchanges; ++i) {
        members.barrier("calibrate")->wait(within(memory.patience));
        const Clock::time_point begin = Clock::now();
        exchange();
        memory.finish();
        const std::chrono::duration<double> took = Clock::now() - begin;
        if (i >= kWarmUp) seconds.push_back(took.count());
    }
    return median(std::move(seconds));
}

scenarios::MeasuredCollective fitted(const std::vector<Point>& points) {
    const Line line = fit_line(points);
    constexpr double kFastest = 1e-15;  // seconds per byte, so that no bandwidth is infinite
    return {from_seconds(line.alpha), {1 / std::max(line.beta, kFastest)}};
}

/// The seconds of one message: half the time of one there and one back.
double message_seconds(Communicator& world, std::int64_t bytes, RankMemory& memory) {
    const ArenaTensor data = memory.tensor(bytes / 4);
    const int peer = 1 - world.rank();
    const Channel channel{peer, Message::Kind::Activation};
    const auto send = [&] {
        world.send(channel, data.view(), "calibrate")->wait(within(memory.patience));
    };
    const auto receive = [&] {
        world.receive(channel, data.view(), "calibrate")->wait(within(memory.patience));
    };
    return timed(world, memory,
                 [&] {
                     if (world.rank() == 0) send();
                     receive();
                     if (world.rank() == 1) send();
                 }) /
           2;
}

double collective_seconds(Communicator& group, Kind kind, std::int64_t bytes, RankMemory& memory) {
    const std::int64_t part = bytes / 4 / group.size();
    const ArenaTensor all = memory.tensor(part * group.size()), mine = memory.tensor(part);
    return timed(group, memory, [&] {
        Pending request;
        switch (kind) {
            case Kind::AllReduce:
                request = group.all_reduce(all.view(), Reduction::Sum, "calibrate");
                break;
            case Kind::AllGather:
                request = group.all_gather(mine.view(), all.view(), "calibrate");
                break;
            case Kind::ReduceScatter:
                request =
                    group.reduce_scatter(all.view(), mine.view(), Reduction::Sum, "calibrate");
                break;
            case Kind::AllToAll: return;  // communicators do not have it
        }
        request->wait(within(memory.patience));
    });
}

std::vector<Point> at_every_size(const std::function<double(std::int64_t)>& seconds) {
    std::vector<Point> points(kMessageBytes.size());
    std::ranges::transform(kMessageBytes, points.begin(), [&](std::int64_t bytes) {
        return Point{static_cast<double>(bytes), seconds(bytes)};
    });
    return points;
}

std::vector<int> group_sizes(int ranks) {
    std::vector<int> sizes;
    for (int size = 2; size < ranks; size *= 2) sizes.push_back(size);
    sizes.push_back(ranks);
    return sizes;
}

}  // namespace

LinkTimings measure_local_links(int ranks, const MeasureOptions& how) {
    LinkTimings timings;  // written by rank 0
    run_local(ranks, Transport::Buffered, [&](Communicator& own) {
        RankMemory memory(own, how);
        Communicator& world = memory.world(own);
        for (const int size : group_sizes(ranks)) {
            if (world.rank() >= size) continue;
            std::vector<int> members(size);
            std::iota(members.begin(), members.end(), 0);
            const auto group = world.group(members);
            if (size == 2) {
                const auto points = at_every_size(
                    [&](std::int64_t bytes) { return message_seconds(*group, bytes, memory); });
                if (world.rank() == 0) timings.message = fitted(points);
            }
            for (const Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter}) {
                const auto points = at_every_size([&](std::int64_t bytes) {
                    return collective_seconds(*group, kind, bytes, memory);
                });
                if (world.rank() == 0) timings.collectives[{kind, size}] = fitted(points);
            }
        }
        world.barrier("calibrate")->wait(within(how.patience));
    });
    return timings;
}

}  // namespace debubble::exec

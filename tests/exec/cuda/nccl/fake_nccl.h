#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/core/device.h"
#include "exec/cuda/nccl/calls.h"
#include "tests/exec/support/fake_lanes.h"

namespace debubble::exec::nccl {

/// A fake NCCL with its GPUs, shared by the ranks of a job: an operation occupies its lane until
/// all ranks of its communicator have come to it. As with NCCL, a rank that comes with another
/// operation or size, or not at all, lets the others wait for ever.
class FakeLibrary {
public:
    struct Participant {
        ConstBuffer in;
        Buffer out;
        std::vector<ConstBuffer> ins = {};  ///< pieces for each rank
        std::vector<Buffer> outs = {};      ///< pieces from each rank
    };
    struct Operation {
        std::vector<Participant> participants;
        int here = 0;
        bool done = false;
    };
    struct World {
        int number = 0;
        int ranks = 0;
        int joined = 0;
        bool aborted = false;
        std::map<int, Operation> operations;
    };
    struct Joined {
        int world = 0;
        int rank = 0;
    };

    std::mutex mutex;
    std::condition_variable changed;
    std::map<Id, World> worlds;
    /// The ranks that have joined each world, in order.
    std::vector<std::pair<const void*, int>> inits;
    std::map<const void*, std::vector<Purpose>> purposes;  ///< of each rank's communicators
    /// The ranges that are registered, with the communicator's number among its rank's.
    std::map<const void*, std::vector<std::pair<std::size_t, std::span<std::byte>>>> registered;
    bool offers_memory = false;
    int ids = 0;
    bool stuck = false;  ///< kernels come to no end any more
};

/// NCCL as one rank calls it.
class FakeCalls final : public Calls {
public:
    FakeCalls(FakeLibrary& library, FakeLanes& lanes) : library_(library), lanes_(lanes) {}

    ~FakeCalls() override { lanes_.finish(); }
    FakeCalls(const FakeCalls&) = delete;
    FakeCalls& operator=(const FakeCalls&) = delete;

    /// NCCL reports it from now on.
    void breaks(const std::string& error) {
        const std::lock_guard lock(library_.mutex);
        broken_ = error;
    }

    Id fresh_id() override {
        const std::lock_guard lock(library_.mutex);
        Id id{};
        id[0] = static_cast<std::byte>(++library_.ids);
        id[1] = static_cast<std::byte>(library_.ids >> 8);
        library_.worlds[id].number = library_.ids;
        return id;
    }
    Answer init(Handle& made, int ranks, const Id& id, int rank, Purpose purpose) override;
    Answer state(Handle communicator) override;
    Answer send(Handle to, ConstBuffer data, int, DeviceLane lane) override;
    Answer receive(Handle from, Buffer data, int, DeviceLane lane) override;
    Answer all_reduce(Handle, Buffer data, Reduction reduction, DeviceLane lane) override;
    Answer all_gather(Handle, ConstBuffer mine, Buffer all, DeviceLane lane) override;
    Answer reduce_scatter(Handle, ConstBuffer all, Buffer mine, Reduction reduction,
                          DeviceLane lane) override;
    Answer all_to_all(Handle, std::span<const ConstBuffer> out, std::span<const Buffer> in,
                      DeviceLane lane) override;
    Answer reduce_scatter_uneven(Handle, int rank, std::span<const ConstBuffer> pieces, Buffer mine,
                                 Reduction reduction, DeviceLane lane) override;
    Answer broadcast(Handle, Buffer data, int root, DeviceLane lane) override;
    Point point(DeviceLane lane) override {
        points_.push_back(lanes_.moment(lane));
        return static_cast<Point>(points_.size() - 1);
    }
    bool passed(Point point) override {
        return FakeLanes::is_reached(*points_.at(static_cast<std::size_t>(point)));
    }
    std::shared_ptr<DeviceMemory> memory() override;
    Answer register_range(Handle communicator, std::span<std::byte> range) override;
    Buffer scratch() override { return {scratch_, DataType::Int32}; }
    void destroy(Handle) noexcept override {}
    void abort(std::span<const Handle> communicators) noexcept override;

private:
    struct Own {
        FakeLibrary::World* world = nullptr;
        int rank = 0;
        int next = 0;  ///< operation
    };
    using Work = std::function<void(std::vector<FakeLibrary::Participant>&)>;
    Answer occupy(Handle, DeviceLane lane, FakeLibrary::Participant participant, Work work);

    /// No kernel starts before those that were issued earlier (NCCL_LAUNCH_ORDER_IMPLICIT).
    struct Order {
        std::uint64_t issued = 0;
        std::uint64_t started = 0;
    };

    FakeLibrary& library_;
    FakeLanes& lanes_;
    Order order_;
    std::optional<std::string> broken_;
    std::vector<std::unique_ptr<Own>> own_;
    std::vector<std::shared_ptr<FakeLanes::Moment>> points_;
    std::vector<std::byte> scratch_ = std::vector<std::byte>(4);
};

}  // namespace debubble::exec::nccl

#include <atomic>

#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "exec/core/communicator/decorators.h"
#include "exec/core/rank/rank_job.h"
#include "exec/cuda/emulation/emulated_gpu.h"
#include "scenarios/cluster/measured.h"
#include "tests/exec/support/comm/comm_checks.h"
#include "tests/exec/support/parity/parity_job.h"

/// How much of a device a rank's arena takes, and when.
namespace debubble::exec::parity {
namespace {

constexpr Bytes kMebibyte{1 << 20};
constexpr Bytes kGibibyte{std::int64_t{1} << 30};

TEST(ArenaOnDevice, TakesWhatThePlanNeedsAndLeavesTheRest) {
    EXPECT_EQ(arena_on_device(10 * kGibibyte, false, 79 * kGibibyte, "a GPU"), 12 * kGibibyte);
    EXPECT_EQ(arena_need(Bytes{}), kGibibyte);
    EXPECT_EQ(arena_on_device(70 * kGibibyte, false, 78 * kGibibyte, "a GPU"), 78 * kGibibyte)
        << "a tenth more and 1 GiB are not there, but the plan fits";
}

TEST(ArenaOnDevice, TakesAllWhereThePlanIsNotTheMost) {
    EXPECT_EQ(arena_on_device(Bytes{}, false, 79 * kGibibyte, "a GPU"), 79 * kGibibyte);
    EXPECT_EQ(arena_on_device(10 * kGibibyte, true, 79 * kGibibyte, "a GPU"), 79 * kGibibyte)
        << "routers may send this rank more rows than others";
}

TEST(ArenaOnDevice, RefusesAPlanThatDoesNotFit) {
    for (const bool rows_vary : {false, true}) {
        const std::string sentence = failure_of(
            [&] { arena_on_device(80 * kGibibyte, rows_vary, 78 * kGibibyte, "the GPU"); });
        EXPECT_EQ(sentence, "by the prediction the rank needs 80 GiB; the GPU has 78 GiB for it");
    }
}

/// What a rank has asked for when its arena is reserved.
struct Seen {
    std::atomic<int> groups = 0;
    std::atomic<bool> kernels = false;
    int groups_at_reserve = -1;
    bool kernels_at_reserve = false;
    Bytes reserved;
    Bytes reserved_elsewhere;
    int taken = -1;
    ProductChoices chosen;
    std::vector<bool> times;  ///< what Device::time_products was told, in order
};

class WatchedDevice final : public Device {
public:
    explicit WatchedDevice(Seen& seen)
        : seen_(seen), inner_(cuda::make_emulated_device(64 * kMebibyte)) {}
    std::string name() const override { return inner_->name(); }
    Bytes room() const override { return inner_->room(); }
    std::int64_t widest_head() const override { return inner_->widest_head(); }
    bool takes_heads(std::int64_t keys, std::int64_t values) const override {
        return inner_->takes_heads(keys, values);
    }
    DeviceFacts facts() const override { return inner_->facts(); }
    std::byte* reserve(Bytes size) override {
        seen_.groups_at_reserve = seen_.groups;
        seen_.kernels_at_reserve = seen_.kernels;
        seen_.reserved = size;
        return inner_->reserve(size);
    }
    void release(std::byte* memory) noexcept override { inner_->release(memory); }
    std::byte* reserve_host(Bytes size) override { return inner_->reserve_host(size); }
    void release_host(std::byte* memory) noexcept override { inner_->release_host(memory); }
    std::unique_ptr<Kernels> make_kernels() override {
        seen_.kernels = true;
        return inner_->make_kernels();
    }
    DeviceLanes& lanes() override { return inner_->lanes(); }
    void leave_to_communications(int multiprocessors) override { seen_.taken = multiprocessors; }
    void choose_products(const ProductChoices& chosen) override {
        seen_.chosen = chosen;
        inner_->choose_products(chosen);
    }
    void time_products(bool times) override {
        seen_.times.push_back(times);
        inner_->time_products(times);
    }
    ProductChoices timed_products() const override { return inner_->timed_products(); }

private:
    Seen& seen_;
    std::unique_ptr<Device> inner_;
};

/// Memory that a communicator offers: it is the device's, and outlives the communicator.
class OfferedMemory final : public DeviceMemory {
public:
    OfferedMemory(Seen& seen, Device& device) : seen_(seen), device_(device) {}
    std::byte* reserve(Bytes size) override {
        seen_.reserved_elsewhere = size;
        return device_.reserve(size);
    }
    void release(std::byte* memory) noexcept override { device_.release(memory); }

private:
    Seen& seen_;
    Device& device_;
};

/// Counts the groups that are made of it, and may offer memory.
class CountingGroups final : public ForwardingCommunicator {
public:
    template <class Inner>
    CountingGroups(Seen& seen, std::shared_ptr<DeviceMemory> memory, Inner&& inner)
        : ForwardingCommunicator(std::forward<Inner>(inner)),
          seen_(seen),
          memory_(std::move(memory)) {}
    std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
        ++seen_.groups;
        return std::make_unique<CountingGroups>(seen_, memory_, inner().group(ranks));
    }
    std::unique_ptr<Communicator> on_device(DeviceLanes& lanes) override {
        return std::make_unique<CountingGroups>(seen_, memory_, inner().on_device(lanes));
    }
    std::shared_ptr<DeviceMemory> memory() override { return memory_; }
    int multiprocessors_taken() const override { return 6; }

private:
    Seen& seen_;
    std::shared_ptr<DeviceMemory> memory_;
};

/// What rank 0 of two has seen: they share gradients and a pipeline of one.
Seen& seen_by_a_rank(Seen& seen, bool offers_memory, Bytes planned) {
    Case c;
    c.parallel = "{data: 2, zero_stage: 1}";
    const Job job(c);
    run_local(2, Transport::Buffered, [&](Communicator& host) {
        Seen other;
        Seen& mine = host.rank() == 0 ? seen : other;
        const auto device = std::make_shared<WatchedDevice>(mine);
        const auto memory =
            offers_memory ? std::make_shared<OfferedMemory>(mine, *device) : nullptr;
        CountingGroups world(mine, memory, host);
        JobOptions how;
        how.patience = job.patience;
        how.device = device;
        how.planned = planned;
        RankJob rank(job.scenario, job.plan, job.options, world, how);
        const int groups = mine.groups;
        train_step(rank, job, 0);
        EXPECT_EQ(mine.groups, groups) << "no group is made in a step";
        EXPECT_EQ(rank.arena().reserved(), mine.reserved);
    });
    return seen;
}

TEST(RankArena, IsReservedOnceKernelsAndCommunicatorsExist) {
    Seen seen;
    seen_by_a_rank(seen, false, Bytes{});
    EXPECT_TRUE(seen.kernels_at_reserve);
    EXPECT_GT(seen.groups, 0);
    EXPECT_EQ(seen.groups_at_reserve, seen.groups);
    EXPECT_EQ(seen.reserved, 64 * kMebibyte);
    EXPECT_EQ(seen.reserved_elsewhere, Bytes{});
    EXPECT_EQ(seen.taken, 6) << "the device knows what communications hold";
}

TEST(RankArena, ComesFromTheCommunicatorWhereThatHasMemory) {
    Seen seen;
    seen_by_a_rank(seen, true, kMebibyte);
    EXPECT_EQ(seen.reserved_elsewhere, 64 * kMebibyte) << "1 GiB beside the plan is not there";
    EXPECT_EQ(seen.groups_at_reserve, seen.groups);
}

/// The products that a rank's device has timed by the end of a step.
ProductChoices timed_by_a_rank(Seen& seen, const ProductChoices& kept, bool times) {
    Case c;
    c.parallel = "{data: 1}";
    Job job(c);
    auto measured = std::make_shared<scenarios::Measured>();
    measured->products = kept;
    job.scenario.cluster.measured = measured;
    ProductChoices timed;
    run_local(1, Transport::Buffered, [&](Communicator& world) {
        JobOptions how;
        how.patience = job.patience;
        how.device = std::make_shared<WatchedDevice>(seen);
        how.times_products = times;
        RankJob rank(job.scenario, job.plan, job.options, world, how);
        const ProductChoices rehearsed = how.device->timed_products();
        train_step(rank, job, 0);
        timed = how.device->timed_products();
        EXPECT_EQ(timed, rehearsed) << "a step counts, and is not timed";
    });
    return timed;
}

TEST(RankProducts, TakeWhatTheClustersFileKeeps) {
    Seen seen;
    const ProductChoices kept{{"1x2x3", "130102:00"}};
    EXPECT_TRUE(timed_by_a_rank(seen, kept, false).empty());
    EXPECT_EQ(seen.chosen, kept);
    EXPECT_EQ(seen.times, (std::vector{false, false}));
}

TEST(RankProducts, AreTimedInTheRehearsalOnly) {
    Seen seen;
    EXPECT_FALSE(timed_by_a_rank(seen, {}, true).empty());
    EXPECT_EQ(seen.times, (std::vector{true, false}));
}

TEST(RankProducts, AreTimedAnewWhereTheClustersFileKeepsSome) {
    Seen first, again;
    const ProductChoices timed = timed_by_a_rank(first, {}, true);
    EXPECT_EQ(timed_by_a_rank(again, timed, true), timed) << "a second calibration loses none";
    EXPECT_TRUE(again.chosen.empty());
}

}  // namespace
}  // namespace debubble::exec::parity

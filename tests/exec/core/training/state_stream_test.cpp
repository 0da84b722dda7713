#include "exec/core/training/optimizer_pass.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <future>
#include <numeric>
#include <thread>

#include "exec/core/device.h"
#include "tests/exec/support/fake_lanes.h"

/// Optimizer state on its way through a device.
namespace debubble::exec {
namespace {

using namespace std::chrono_literals;

/// Lanes whose copies copy, and are counted.
class CopyingLanes final : public FakeLanes {
public:
    void copy(DeviceLane lane, const std::byte* from, std::byte* to, Bytes size) override {
        ask(lane, [=, this] {
            std::memcpy(to, from, static_cast<std::size_t>(size.count));
            ++copies_[static_cast<std::size_t>(lane.number)];
        });
    }
    int copies(const std::string& name) {
        return copies_[static_cast<std::size_t>(lane(name).number)];
    }

private:
    std::array<std::atomic<int>, 8> copies_{};
};

/// A device whose memory is the host's, and comes free in the order of its lanes.
class HostDevice final : public Device {
public:
    std::string name() const override { return "the host"; }
    Bytes room() const override { return Bytes{1 << 20}; }
    std::int64_t widest_head() const override { return 128; }
    DeviceFacts facts() const override { return {}; }
    std::byte* reserve(Bytes size) override {
        return new (kAligned) std::byte[static_cast<std::size_t>(size.count)];
    }
    void release(std::byte* memory) noexcept override {
        lanes_.finish();
        ::operator delete[](memory, kAligned);
    }
    std::byte* reserve_host(Bytes size) override { return reserve(size); }
    void release_host(std::byte* memory) noexcept override { release(memory); }
    std::unique_ptr<Kernels> make_kernels() override { return nullptr; }
    CopyingLanes& lanes() override { return lanes_; }

private:
    static constexpr std::align_val_t kAligned{256};
    CopyingLanes lanes_;
};

struct Stepped {
    explicit Stepped(std::int64_t count)
        : main({count}), moment({count}), lanes(device.lanes()), arena(device.room(), &device) {
        std::iota(main.as<float>().begin(), main.as<float>().end(), 0.F);
        std::iota(moment.as<float>().begin(), moment.as<float>().end(), 0.5F);
    }
    /// main += moment and moment *= 2, by the compute lane.
    HostState state() {
        return {{main.view(), moment.view()},
                [this](std::int64_t first, std::span<const TensorView> slices) {
                    firsts.push_back(first);
                    const View<float> w = slices[0].as<float>(), m = slices[1].as<float>();
                    lanes.ask(kComputeLane, [=] {
                        for (std::int64_t i = 0; i < w.size(); ++i) {
                            w[i] += m[i];
                            m[i] *= 2;
                        }
                    });
                }};
    }
    void expect_stepped() {
        const auto end = lanes.moment(kComputeLane);
        std::unique_lock lock(end->mutex);
        end->bell.wait(lock, [&] { return end->reached; });
        for (std::int64_t i = 0; i < main.shape().elements(); ++i) {
            const auto at = static_cast<float>(i);
            ASSERT_EQ(main.as<float>()[i], at + (at + 0.5F)) << i;
            ASSERT_EQ(moment.as<float>()[i], 2 * (at + 0.5F)) << i;
        }
    }

    Tensor main;
    Tensor moment;
    HostDevice device;
    CopyingLanes& lanes;
    Arena arena;
    std::vector<std::int64_t> firsts;
};

TEST(StateStream, StepsEveryElementOnceWhateverTheBuffer) {
    for (const std::int64_t buffer : {6 << 10, 20 << 10, 64 << 10, 1 << 20}) {
        for (const std::int64_t count : {1, 255, 256, 257, 5000, 12345}) {
            Stepped it(count);
            const HostState state = it.state();
            pass_through_device(std::span(&state, 1), it.lanes, it.arena, Bytes{buffer});
            it.expect_stepped();
        }
    }
}

TEST(StateStream, ComesInAsFarAsTheBufferGoesWhileTheKernelsAreBusy) {
    constexpr std::int64_t kSlice = 256;  // elements, a third of the buffer
    Stepped it(8 * kSlice);
    std::promise<void> done;
    std::future<void> kernels = done.get_future();
    const HostState state = it.state();
    const HostState busy{state.tensors,
                         [&](std::int64_t first, std::span<const TensorView> slices) {
                             if (first == 0) it.lanes.ask(kComputeLane, [&] { kernels.wait(); });
                             state.step(first, slices);
                         }};
    pass_through_device(std::span(&busy, 1), it.lanes, it.arena, Bytes{3 * kSlice * 8});
    EXPECT_EQ(it.firsts.size(), 8U) << "the host does not wait";
    const auto came = [&] { return it.lanes.copies("optimizer state in"); };
    for (int i = 0; i < 1000 && came() < 3 * 2; ++i) std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(50ms);  // for what must not come
    EXPECT_EQ(came(), 3 * 2) << "three slices of two tensors";
    EXPECT_EQ(it.lanes.copies("optimizer state out"), 0);
    done.set_value();
    it.expect_stepped();
    EXPECT_EQ(it.lanes.copies("optimizer state out"), 8 * 2);
}

TEST(StateStream, TakesNoMoreOfTheArenaThanThereIsState) {
    Stepped it(1000);
    const HostState state = it.state();
    it.arena.note("OPT");
    pass_through_device(std::span(&state, 1), it.lanes, it.arena, Bytes{1 << 20});
    EXPECT_EQ(total(it.arena.highest()), Bytes{2 * 4096}) << "two tensors of 4000 B, in lines";
    EXPECT_EQ(total(it.arena.held()), Bytes{});
    it.expect_stepped();
}

}  // namespace
}  // namespace debubble::exec

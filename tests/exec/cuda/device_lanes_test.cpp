#include "exec/core/device_lanes.h"

#include <gmock/gmock.h>

#include <numeric>
#include <thread>
#include <vector>

#include "exec/comm/local/meeting.h"
#include "exec/core/pinned_pool.h"
#include "exec/cuda/emulation/emulated_gpu.h"
#include "exec/cuda/lanes.h"
#include "tests/exec/support/comm/comm_checks.h"

/// Lanes of a device and the marks between them, on the emulated GPU.
namespace debubble::exec {
namespace {

constexpr Bytes kRoom{1 << 20};
constexpr cuda::EmulatedDelays kSlowCompute{2ms, {}};
constexpr cuda::EmulatedDelays kSlowOthers{{}, 2ms};

/// A device with memory for some numbers.
struct LanesOfOneDevice {
    explicit LanesOfOneDevice(const cuda::EmulatedDelays& pace = {})
        : device(cuda::make_emulated_device(kRoom, pace)),
          lanes(device->lanes()),
          kernels(device->make_kernels()),
          memory(device->reserve(kRoom)) {
        lanes.begin_step();
    }
    ~LanesOfOneDevice() { device->release(memory); }
    LanesOfOneDevice(const LanesOfOneDevice&) = delete;
    LanesOfOneDevice& operator=(const LanesOfOneDevice&) = delete;

    TensorView floats(int index) const { return {memory + index * 1024, {4}, DataType::Fp32}; }
    std::vector<float> read(const TensorView& there) const {
        const Tensor host(there.shape);
        kernels->download(there, host.view());
        return {host.as<float>().begin(), host.as<float>().end()};
    }

    std::unique_ptr<Device> device;
    DeviceLanes& lanes;
    std::unique_ptr<Kernels> kernels;
    std::byte* memory;
};

Tensor numbers(float first) {
    Tensor host({4});
    std::iota(host.as<float>().begin(), host.as<float>().end(), first);
    return host;
}

class Lanes : public testing::TestWithParam<cuda::EmulatedDelays> {};

TEST_P(Lanes, WaitForMarksOfEachOther) {
    LanesOfOneDevice place(GetParam());
    const DeviceLane other = place.lanes.lane("other");
    place.kernels->fill_zero(place.floats(1));
    for (int time = 0; time < 5; ++time) {
        place.kernels->upload(numbers(static_cast<float>(time)).view(), place.floats(0));
        place.lanes.wait(other, place.lanes.mark(kComputeLane));
        place.lanes.copy(other, place.floats(0).data, place.floats(1).data, Bytes{16});
        place.lanes.hold_compute(place.lanes.mark(other));
        place.kernels->add(place.floats(1), place.floats(0));
    }
    EXPECT_THAT(place.read(place.floats(0)), testing::ElementsAre(8, 10, 12, 14));
}

TEST_P(Lanes, TellWhenMarksWereReached) {
    LanesOfOneDevice place(GetParam());
    const auto before = std::chrono::steady_clock::now();
    const Mark first = place.lanes.mark(kComputeLane);
    place.kernels->fill_zero(place.floats(0));
    const Mark second = place.lanes.mark(kComputeLane);
    const DeviceLane other = place.lanes.lane("other");
    place.lanes.wait(other, second);
    place.lanes.copy(other, place.floats(0).data, place.floats(1).data, Bytes{16});
    const Mark third = place.lanes.mark(other);
    place.lanes.hold_compute(third);
    place.lanes.finish();
    const auto after = std::chrono::steady_clock::now();
    EXPECT_TRUE(place.lanes.reached(third));
    const auto error = place.lanes.clock_error();
    EXPECT_LE(before - error, place.lanes.time_of(first));
    EXPECT_LE(place.lanes.time_of(first), place.lanes.time_of(second));
    EXPECT_LE(place.lanes.time_of(second), place.lanes.time_of(third));
    EXPECT_LE(place.lanes.time_of(third), after + error);
    ASSERT_EQ(place.lanes.holds().size(), 1U);
    const MarkedInterval hold = place.lanes.holds().front();
    EXPECT_LE(place.lanes.time_of(third), place.lanes.time_of(hold.end));
}

INSTANTIATE_TEST_SUITE_P(Paces, Lanes,
                         testing::Values(cuda::EmulatedDelays{}, kSlowCompute, kSlowOthers));

TEST(DeviceLanes, OnlyTheFirstOfEqualStepsMakesEventsAndLanes) {
    LanesOfOneDevice place;
    const auto step = [&] {
        place.lanes.begin_step();
        for (int i = 0; i < 1000; ++i)
            place.lanes.wait(place.lanes.lane("group 1"), place.lanes.mark(kComputeLane));
        place.lanes.finish();
        return cuda::counts_of(*place.device);
    };
    const cuda::EmulatedCounts first = step();
    EXPECT_EQ(step(), first);
    EXPECT_EQ(step(), first);
}

TEST(DeviceLanes, GiveADeviceUpThatIsNotDoneInTime) {
    LanesOfOneDevice place({300ms, {}});
    place.lanes.set_patience(30ms);
    place.kernels->fill_zero(place.floats(0));
    EXPECT_THROW(place.kernels->finish(), DeviceStalled);
    place.lanes.set_patience(10s);
    EXPECT_NO_THROW(place.lanes.finish());
}

TEST(DeviceLanes, HavePatienceAsLongAsMarksAreReached) {
    LanesOfOneDevice place({30ms, {}});
    place.lanes.set_patience(300ms);
    for (int i = 0; i < 25; ++i) {
        place.kernels->fill_zero(place.floats(0));
        place.lanes.mark(kComputeLane);
    }
    const auto asked = std::chrono::steady_clock::now();
    EXPECT_NO_THROW(place.lanes.finish());
    EXPECT_GT(std::chrono::steady_clock::now() - asked, 600ms) << "else it proves nothing";
}

TEST(Scratch, GrowsWithoutWaitingForWorkInIt) {
    cuda::EmulatedGpu gpu({500ms, {}}, 0);
    cuda::Lanes lanes(gpu);
    cuda::Queue& queue = lanes.queue(kComputeLane);
    cuda::Scratch scratch(queue);
    queue.fill_zero(scratch.floats(16), 64);
    const auto asked = std::chrono::steady_clock::now();
    EXPECT_NE(scratch.floats(1024), nullptr);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 250ms);
    lanes.begin_step();
}

TEST(DeviceLanes, SumTheBitsThatTheHostSums) {
    LanesOfOneDevice place;
    for (const DataType type : kAllTypes) {
        for (const Reduction reduction : {Reduction::Sum, Reduction::Max}) {
            const std::int64_t count = 1001;
            std::vector<std::vector<std::byte>> operands, expected;
            std::vector<const std::byte*> sources;
            std::vector<std::byte*> targets;
            std::vector<ConstBuffer> in;
            for (int r = 0; r < 3; ++r)
                operands.push_back(encode(
                    table(count, [&](int i) { return (i * 37 % 101 - 50) * (0.1 + r) - i % 7; }),
                    type));
            expected = operands;
            for (auto& bytes : operands) {
                sources.push_back(bytes.data());
                targets.push_back(bytes.data());
            }
            for (auto& bytes : expected) in.push_back(as_buffer(bytes, type));
            std::vector<std::byte> sum(operands[0].size());
            const Buffer out = as_buffer(sum, type);
            reduce(in, std::span(&out, 1), reduction, 0, count);
            place.lanes.reduce(kComputeLane, sources, targets, type, reduction, count);
            place.lanes.finish();
            for (const auto& bytes : operands) EXPECT_EQ(bytes, sum);
        }
    }
}

TEST(HostRing, TakesMoreThanItHolds) {
    constexpr std::int64_t kCount = 12 << 20;  // elements of 4 bytes: three halves
    const auto device = cuda::make_emulated_device(Bytes{4 * kCount});
    const auto kernels = device->make_kernels();
    std::byte* const memory = device->reserve(Bytes{4 * kCount});
    Tensor host({kCount}, DataType::Int32), back({kCount}, DataType::Int32);
    std::iota(host.as<std::int32_t>().begin(), host.as<std::int32_t>().end(), 0);
    const Tensor wanted = host.clone();
    kernels->upload(host.view(), {memory, {kCount}, DataType::Int32});
    std::ranges::fill(host.as<std::int32_t>(), -1);  // the device has it, or the ring
    kernels->download({memory, {kCount}, DataType::Int32}, back.view());
    EXPECT_TRUE(std::ranges::equal(back.as<std::int32_t>(), wanted.as<std::int32_t>()));
    device->release(memory);
}

TEST(PinnedPool, GivesWhatCameBackToTheNext) {
    LanesOfOneDevice place;
    PinnedPool pool(place.lanes);
    const int before = cuda::counts_of(*place.device).pins;
    const std::byte* first = nullptr;
    {
        const auto one = pool.take(Bytes{1000}), two = pool.take(Bytes{1000});
        EXPECT_NE(one.data(), two.data());
        first = one.data();
    }
    {
        auto again = pool.take(Bytes{900});
        auto moved = std::move(again);
        EXPECT_TRUE(moved.data() != nullptr && first != nullptr);
        EXPECT_EQ(cuda::counts_of(*place.device).pins, before + 2);
        const auto large = pool.take(Bytes{100'000});
        EXPECT_EQ(cuda::counts_of(*place.device).pins, before + 3);
    }
}

}  // namespace
}  // namespace debubble::exec

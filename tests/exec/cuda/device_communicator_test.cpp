#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "exec/cuda/emulation/emulated_gpu.h"
#include "tests/exec/cuda/looked_at.h"
#include "tests/exec/support/comm/comm_conformance.h"

/// The promises of the local communicator hold for lanes of devices, too. Those of the emulated GPU
/// also reach the host's memory, where the suite keeps its numbers.
namespace debubble::exec {
namespace {

class DeviceCommunicator
    : public testing::TestWithParam<std::tuple<Transport, int, ConformanceCase>> {};

TEST_P(DeviceCommunicator, KeepsThePromise) {
    const auto& [transport, ranks, promise] = GetParam();
    EXPECT_NO_THROW(run_local(ranks, transport, [&](Communicator& world) {
        const auto device = cuda::make_emulated_device(Bytes{1 << 20});
        auto inner = world.on_device(device->lanes());
        ASSERT_NE(inner, nullptr);
        LookedAt looked(std::move(inner), [&](Request&) { device->lanes().finish(); });
        promise.body(looked);
    }));
}

INSTANTIATE_TEST_SUITE_P(Conformance, DeviceCommunicator,
                         testing::Combine(testing::Values(Transport::Buffered, Transport::Own),
                                          testing::Values(2, 3),
                                          testing::ValuesIn(conformance_cases())),
                         [](const auto& run) {
                             const bool buffered = std::get<0>(run.param) == Transport::Buffered;
                             return (buffered ? "Buffered" : "Rendezvous") +
                                    std::to_string(std::get<1>(run.param)) +
                                    std::get<2>(run.param).name;
                         });

}  // namespace
}  // namespace debubble::exec

#include <gtest/gtest.h>

#include "exec/comm/local.h"
#include "exec/cuda/emulation/emulated_device.h"
#include "tests/exec/comm_conformance.h"

/// What the local communicator promises holds for what lanes of devices move. The emulated GPU's
/// reach the host's memory too, where the suite keeps its numbers.
namespace debubble::exec {
namespace {

/// Waits for the lanes where the suite, on the host, is about to look.
class Looked final : public Request {
public:
    Looked(Pending inner, DeviceLanes& lanes) : inner_(std::move(inner)), lanes_(lanes) {}
    Interval wait(Deadline deadline) override {
        const Interval when = inner_->wait(deadline);
        lanes_.finish();
        return when;
    }
    bool done() override { return inner_->done(); }

private:
    Pending inner_;
    DeviceLanes& lanes_;
};

class LookedAt final : public Communicator {
public:
    LookedAt(std::unique_ptr<Communicator> inner, DeviceLanes& lanes)
        : inner_(std::move(inner)), lanes_(lanes) {}
    int rank() const override { return inner_->rank(); }
    std::span<const int> ranks() const override { return inner_->ranks(); }
    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        return looked(inner_->send(to, data, label));
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        return looked(inner_->receive(from, data, label));
    }
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        return looked(inner_->all_reduce(data, reduction, label));
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        return looked(inner_->all_gather(mine, all, label));
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        return looked(inner_->reduce_scatter(all, mine, reduction, label));
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        return looked(inner_->broadcast(data, root, label));
    }
    Pending barrier(std::string_view label) override { return looked(inner_->barrier(label)); }
    std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
        return std::make_unique<LookedAt>(inner_->group(ranks), lanes_);
    }
    void abort(const std::string& sentence) override { inner_->abort(sentence); }

private:
    Pending looked(Pending request) { return std::make_unique<Looked>(std::move(request), lanes_); }
    std::unique_ptr<Communicator> inner_;
    DeviceLanes& lanes_;
};

class DeviceCommunicator
    : public testing::TestWithParam<std::tuple<Transport, int, ConformanceCase>> {};

TEST_P(DeviceCommunicator, KeepsThePromise) {
    const auto& [transport, ranks, promise] = GetParam();
    EXPECT_NO_THROW(run_local(ranks, transport, [&](Communicator& world) {
        const auto device = cuda::make_emulated_device(Bytes{1 << 20});
        auto inner = world.on_device(device->lanes());
        ASSERT_NE(inner, nullptr);
        LookedAt looked(std::move(inner), device->lanes());
        promise.body(looked);
    }));
}

INSTANTIATE_TEST_SUITE_P(
    Conformance, DeviceCommunicator,
    testing::Combine(testing::Values(Transport::Buffered, Transport::Rendezvous),
                     testing::Values(2, 3), testing::ValuesIn(conformance_cases())),
    [](const auto& run) {
        const bool buffered = std::get<0>(run.param) == Transport::Buffered;
        return (buffered ? "Buffered" : "Rendezvous") + std::to_string(std::get<1>(run.param)) +
               std::get<2>(run.param).name;
    });

}  // namespace
}  // namespace debubble::exec

#include "exec/program/run/device_world.h"

namespace debubble::exec {

namespace {

class DeviceWorld final : public Communicator {
public:
    DeviceWorld(Communicator& host, ConnectDevices connect)
        : host_(host), connect_(std::move(connect)) {}

    int rank() const override { return host_.rank(); }
    std::span<const int> ranks() const override { return host_.ranks(); }
    Pending send(const Channel& to, ConstBuffer data, std::string_view label) override {
        return host_.send(to, data, label);
    }
    Pending receive(const Channel& from, Buffer data, std::string_view label) override {
        return host_.receive(from, data, label);
    }
    Pending all_reduce(Buffer data, Reduction reduction, std::string_view label) override {
        return host_.all_reduce(data, reduction, label);
    }
    Pending all_gather(ConstBuffer mine, Buffer all, std::string_view label) override {
        return host_.all_gather(mine, all, label);
    }
    Pending reduce_scatter(ConstBuffer all, Buffer mine, Reduction reduction,
                           std::string_view label) override {
        return host_.reduce_scatter(all, mine, reduction, label);
    }
    Pending broadcast(Buffer data, int root, std::string_view label) override {
        return host_.broadcast(data, root, label);
    }
    Pending barrier(std::string_view label) override { return host_.barrier(label); }
    std::unique_ptr<Communicator> group(std::span<const int> global_ranks) override {
        return host_.group(global_ranks);
    }
    std::unique_ptr<Communicator> on_device(DeviceLanes& lanes) override {
        return connect_(host_, lanes);
    }
    void abort(const std::string& sentence) override { host_.abort(sentence); }

private:
    Communicator& host_;
    ConnectDevices connect_;
};

}  // namespace

std::unique_ptr<Communicator> with_devices(Communicator& host, ConnectDevices connect) {
    return std::make_unique<DeviceWorld>(host, std::move(connect));
}

}  // namespace debubble::exec

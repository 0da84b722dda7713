#include "exec/program/run/world/launch.h"

#include <utility>

#include "exec/core/communicator/decorators.h"

namespace debubble::exec {

namespace {

class DeviceWorld final : public ForwardingCommunicator {
public:
    DeviceWorld(Communicator& host, ConnectDevices connect)
        : ForwardingCommunicator(host), connect_(std::move(connect)) {}

    std::unique_ptr<Communicator> on_device(DeviceLanes& lanes) override {
        return connect_(inner(), lanes);
    }

private:
    ConnectDevices connect_;
};

}  // namespace

std::unique_ptr<Communicator> with_devices(Communicator& host, ConnectDevices connect) {
    return std::make_unique<DeviceWorld>(host, std::move(connect));
}

}  // namespace debubble::exec

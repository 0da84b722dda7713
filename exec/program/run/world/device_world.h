#pragma once

#include <functional>
#include <memory>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// Makes a communicator of devices' memory over the ranks of `host`.
using ConnectDevices =
    std::function<std::unique_ptr<Communicator>(Communicator& host, DeviceLanes& lanes)>;

/// `host` with `connect` in place of its on_device(): processes communicate over sockets or MPI,
/// and their GPUs by themselves. `host` must outlive it.
std::unique_ptr<Communicator> with_devices(Communicator& host, ConnectDevices connect);

}  // namespace debubble::exec

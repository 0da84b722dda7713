#include "base/diagnostic.h"
#include "exec/cuda/load_module.h"
#include "tests/exec/support/tested_device.h"

namespace debubble::exec {

std::unique_ptr<Device> tested_device(int rank, int ranks) {
    static const CudaModule cuda = CudaModule::load();
    return cuda.device_of(rank, ranks);
}

std::string why_no_device() {
    try {
        CudaModule::load();
    } catch (const WorldError& error) {
        return error.what();
    }
    return {};
}

}  // namespace debubble::exec

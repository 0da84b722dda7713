#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "exec/core/device_lanes.h"

namespace debubble::exec {
class Device;
}

/// The functions that the module exports; everything else is found through these.
extern "C" {
/// The number of GPUs of this machine, at least one. Throws WorldError with the reason if there is
/// none.
int debubble_cuda_count();
/// Writes the PCI bus id of a GPU, ended by a zero. Throws WorldError.
void debubble_cuda_bus_id(int device, char* text, int size);
/// Makes the GPU as rank `part` of the ranks that share it has it; where `part` is negative, no
/// rank has multiprocessors of its own. The caller deletes it, after everything that it made. The
/// thread that asks is the one that uses it.
debubble::exec::Device* debubble_cuda_device(int device, int part, int ranks_on_it);
/// The cudaStream_t of a lane of one of the module's devices, on which NCCL works.
void* debubble_cuda_stream(debubble::exec::DeviceLanes& lanes, debubble::exec::DeviceLane lane);
}

namespace debubble::exec::cuda {

/// The facts when CUDA shows no GPU; versions as CUDA counts them, 13.1 as 13010.
struct NoGpu {
    struct Error {
        std::string_view name;   ///< as CUDA's enumerator
        std::string_view words;  ///< the same in CUDA's words
    };
    std::optional<int> driver;   ///< the newest CUDA that the driver knows, if one is installed
    int build = 0;               ///< the CUDA that this program was built with
    std::optional<Error> error;  ///< unset where CUDA counted no GPU
};

/// A sentence that says why there is no GPU, and what to do where that is known.
inline std::string sentence_of(const NoGpu& found) {
    const std::string none = "there is no GPU for CUDA to use: ";
    if (!found.driver) return none + "no NVIDIA driver is installed";
    if (!found.error) return none + "the driver shows none; CUDA_VISIBLE_DEVICES may hide it";
    const std::string all = fmt::format("{}{} ({})", none, found.error->name, found.error->words);
    if (*found.driver / 1000 < found.build / 1000)
        return fmt::format(
            "{}; the driver is for CUDA {}.{}, and this program was built with CUDA {}.{}, which "
            "needs a driver for CUDA {}.0 or later (tests/gpu/pack.sh --cuda12 builds for older "
            "ones)",
            all, *found.driver / 1000, *found.driver % 1000 / 10, found.build / 1000,
            found.build % 1000 / 10, found.build / 1000);
    if (found.error->name == "cudaErrorSystemNotReady")
        return all +
               "; GPUs connected by NVSwitch need NVIDIA's fabric manager, which may not be "
               "running (systemctl status nvidia-fabricmanager)";
    return all;
}

}  // namespace debubble::exec::cuda

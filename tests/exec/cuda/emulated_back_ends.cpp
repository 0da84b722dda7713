#include "exec/cuda/emulation/emulated_gpu.h"
#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {

/// The operators of exec/cuda where there is no GPU.
std::vector<BackEnd> back_ends() {
    return {{"cuda_emulated", nullptr,
             [] { return cuda::make_emulated_device(Bytes{std::int64_t{64} << 20}); }}};
}

}  // namespace debubble::exec

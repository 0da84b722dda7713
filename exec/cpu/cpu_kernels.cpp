#include "exec/cpu/cpu_kernels.h"

#include "base/diagnostic.h"

namespace debubble::exec {

#ifndef DEBUBBLE_HAS_ONEDNN
std::unique_ptr<Kernels> make_onednn_kernels(int) {
    cpu_back_end(name_of(CpuBackEnd::OneDnn));  // throws
    return nullptr;
}
#endif

std::unique_ptr<Kernels> make_cpu_kernels(std::string_view name, int threads) {
    if (threads < 1) {
        throw InputError("kernels need at least one thread, not " + std::to_string(threads));
    }
    switch (cpu_back_end(name)) {
        case CpuBackEnd::OneDnn: return make_onednn_kernels(threads);
        case CpuBackEnd::FixedOrder: return make_fixed_order_kernels();
    }
    return nullptr;
}

}  // namespace debubble::exec

#include "exec/cpu/cpu_kernels.h"

#include <string>

#include "base/diagnostic.h"
#include "exec/cpu/fixed_order/kernels.h"

namespace debubble::exec {

#ifndef DEBUBBLE_HAS_ONEDNN
bool has_onednn() {
    return false;
}

std::string onednn_version() {
    return {};
}

std::string onednn_instructions() {
    return {};
}

std::unique_ptr<Kernels> make_onednn_kernels(int) {
    throw InputError(
        "this build has no oneDNN: install libdnnl-dev and configure again, "
        "or choose the kernels of fixed order (fixed-order)");
}
#endif

std::unique_ptr<Kernels> make_cpu_kernels(std::string_view name, int threads) {
    if (threads < 1) {
        throw InputError("kernels run on one thread at least, not " + std::to_string(threads));
    }
    if (is_fixed_order(name)) return make_fixed_order_kernels();
    if (name == "onednn") return make_onednn_kernels(threads);
    if (name == "auto") {
        return has_onednn() ? make_onednn_kernels(threads) : make_fixed_order_kernels();
    }
    throw InputError("there are no kernels '" + std::string(name) +
                     "'; choose auto, onednn or fixed-order");
}

}  // namespace debubble::exec

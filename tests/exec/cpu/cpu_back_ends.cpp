#include "exec/cpu/cpu_kernels.h"
#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {

std::vector<BackEnd> back_ends() {
    std::vector<BackEnd> all = {{"fixed_order", [] { return make_fixed_order_kernels(); }}};
    if (!has_onednn()) return all;
    all.push_back({"onednn", [] { return make_onednn_kernels(1); }});
    all.push_back({"onednn_on_three_threads", [] { return make_onednn_kernels(3); }});
    return all;
}

}  // namespace debubble::exec

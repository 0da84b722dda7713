#include "models/build/experts/route.h"

#include <initializer_list>
#include <utility>

namespace debubble::models {

namespace {

struct Moved {
    const char* name;
    std::int64_t read;
    std::int64_t written;
    std::int64_t launches = 1;
};

/// Kernels of PyTorch over `elements` elements, whose bytes `moved` gives for each.
std::vector<Kernel> eager(const GraphBuilder& builder, const std::string& of, int layer,
                          std::int64_t elements, std::initializer_list<Moved> moved) {
    std::vector<Kernel> kernels;
    for (const Moved& each : moved) {
        Kernel kernel = moves(of + each.name, layer, elements * each.read, elements * each.written);
        auto& work = std::get<Traffic>(kernel.work);
        work.pace = builder.how().kernels.eager_pace;
        work.launches = each.launches;
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

}  // namespace

/// Either half of the input is clamped and both are put together again, before the fused activation
/// reads them; so are their gradients (weighted_bias_quick_geglu_impl, Megatron-LM
/// megatron/core/fusions/fused_bias_geglu.py).
void ExpertRoute::clamp() const {
    if (!builder.how().kernels.eager_experts || experts.activation != Activation::ClampedSwiglu)
        return;
    Operator& op = builder.graph.operators.back();
    const std::int64_t wide = 2 * size().all_expert_rows() * size().expert_ffn;
    const std::int64_t e = size().element;
    const auto kernels = [&](std::initializer_list<Moved> moved) {
        return eager(builder, "experts.act", layer, wide, moved);
    };
    append(op.forward, kernels({{".clamp", e, e}, {".join", e, e}}));
    if (op.kept_copy) append(op.kept_copy->again, kernels({{".clamp", e, e}, {".join", e, e}}));
    append(op.backward_input, kernels({{".clamp.dx", 2 * e, e}, {".join.dx", e, e}}));
}

/// t + b p of every expert's rows, biases b and weights p of the router in fp32, put together and
/// cast back (TEGroupedMLP._apply_bias in Megatron-LM, megatron/core/transformer/moe/experts.py);
/// the biases' and the weights' gradients are products of their own, whose sums are apart.
void ExpertRoute::add_biases(std::int64_t columns) const {
    if (!builder.how().kernels.eager_experts || !experts.bias) return;
    Operator& op = builder.graph.operators.back();
    const std::int64_t e = size().element;
    const std::int64_t n = size().experts;
    const std::string name = "experts.fc2";
    const std::int64_t all = size().all_expert_rows() * columns;
    append(op.forward, eager(builder, name, layer, all,
                             {{".bias.weigh", 0, 4, n},
                              {".bias.add", 4 + e, 4, n},
                              {".bias.join", 4, 4},
                              {".bias.cast", 4, e}}));
    std::vector<Kernel> back = eager(builder, name, layer, all,
                                     {{".bias.cast.dx", e, 4},
                                      {".bias.add.dx", 4, e, n},
                                      {".bias.join.dx", e, e},
                                      {".bias.weigh.db", 4, 4, n},
                                      {".bias.weigh.dp", 4, 4, n},
                                      {".bias.sum.dp", 4, 0, n}});
    append(back, std::move(op.backward_input));
    op.backward_input = std::move(back);
}

}  // namespace debubble::models

#include <algorithm>

#include "models/build/attention/core.h"

/// Fused attention in 8 bits: its casts, and which of them are kept. TransformerEngine's
/// FusedAttnFunc (9c61cd7, pytorch/attention/dot_product_attention/backends.py) keeps queries, keys
/// and values in 8 bits, and the result too with delayed scales, else in the compute type. Recipes
/// without kernels of their own (fp8-blockwise, nvfp4) take the scales of fp8-current. cuDNN's
/// MXFP8 kernels read queries and keys in blocks along a head and in blocks over tokens, since the
/// backward sums over both.
namespace debubble::models {

namespace {

Narrow type_of(Recipe recipe) {
    return recipe == Recipe::MxFp8 ? Narrow::MxFp8 : Narrow::Fp8;
}

}  // namespace

bool AttentionCore::is_narrow() const {
    const LowPrecision& how = builder.how().low_precision;
    return builder.how().attention == AttentionKernel::Flash && how.attention && place.layer &&
           how.quantises(*place.layer);
}

std::int64_t AttentionCore::sent_chunk() const {
    const Sizes& size = builder.size;
    const bool one_scale = is_narrow() && builder.how().slices == 1 &&
                           type_of(builder.how().low_precision.recipe) == Narrow::Fp8;
    return one_scale ? size.tokens * (size.key_width + size.value_width) : chunk();
}

/// The casts precede the ring, which passes them on while attention runs.
void AttentionCore::cast_operands() {
    if (!is_narrow()) return;
    const Recipe recipe = builder.how().low_precision.recipe;
    const Narrow type = type_of(recipe);
    const int copies = type == Narrow::MxFp8 ? 2 : 1;
    const Sizes& size = builder.size;
    const std::int64_t heads = size.tokens * (size.query_width + size.key_width + size.value_width);
    const std::int64_t context = size.tokens * size.context_width;
    const auto casts = [&](const char* suffix, std::int64_t elements) {
        const std::int64_t wide = size.element * elements;
        std::vector<Kernel> kernels;
        if (type == Narrow::Fp8 && recipe != Recipe::Fp8Delayed) {
            Kernel largest = moves(place.kernel + suffix + ".amax", place.layer, wide, 0);
            std::get<Traffic>(largest.work).pace = amax_pace();
            kernels.push_back(std::move(largest));
        }
        kernels.push_back(
            moves(place.kernel + suffix, place.layer, wide, copies * narrow_bytes(type, elements)));
        return kernels;
    };
    const auto begins_with = [](std::vector<Kernel>& kernels, const std::vector<Kernel>& first) {
        kernels.insert(kernels.begin(), first.begin(), first.end());
    };
    begins_with(op.forward, casts(".cast", heads));
    begins_with(op.backward_input, casts(".dy.cast", context));
    if (recipe == Recipe::Fp8Delayed) {  // the kernel's results have 8 bits, too
        op.forward.push_back(
            moves(place.kernel + ".uncast", place.layer, context, size.element * context));
        op.backward_input.push_back(
            moves(place.kernel + ".dx.uncast", place.layer, heads, size.element * heads));
    }
    // A later slice reads the keys and values of this one in the compute type.
    if (builder.how().slices == 1) keep_casts();
}

void AttentionCore::keep_casts() {
    const Recipe recipe = builder.how().low_precision.recipe;
    const Narrow type = type_of(recipe);
    const Sizes& size = builder.size;
    const std::int64_t of_queries_and_keys = size.tokens * (size.query_width + size.key_width);
    const std::int64_t of_values = size.tokens * size.value_width;
    const std::int64_t of_context = size.tokens * size.context_width;
    const auto bytes = [&](std::int64_t elements) { return narrow_bytes(type, elements); };
    const auto drop = [](std::vector<int>& tensors, int tensor) { std::erase(tensors, tensor); };
    std::vector<int> kept;
    const auto keep = [&](const char* suffix, std::int64_t elements) {
        kept.push_back(builder.tensor(place.kernel + suffix, bytes(elements)));
        return kept.back();
    };
    op::NarrowAttention casts;
    casts.heads = keep(".fp8", of_queries_and_keys + of_values);
    if (type == Narrow::MxFp8) {
        casts.heads_by_token = keep(".fp8.columns", of_queries_and_keys);
        casts.values_by_token = builder.scratch(place.kernel + ".fp8.values", bytes(of_values));
        op.forward_uses.push_back(*casts.values_by_token);
    }
    const int copies = type == Narrow::MxFp8 ? 2 : 1;
    casts.context_gradient =
        builder.scratch("d." + place.kernel + ".out.fp8", copies * bytes(of_context));
    op.backward_input_uses.push_back(casts.context_gradient);
    for (const std::optional<op::Value>& heads :
         {std::optional<op::Value>(roles.in.queries), roles.in.keys})
        if (heads) {
            drop(op.saved, heads->tensor);
            drop(op.backward_input_uses, heads->tensor);
        }
    if (recipe == Recipe::Fp8Delayed) {
        casts.context = keep(".out.fp8", of_context);
        casts.heads_gradient =
            builder.scratch("d." + place.kernel + ".fp8", bytes(of_queries_and_keys + of_values));
        op.backward_input_uses.push_back(*casts.heads_gradient);
        drop(op.saved, out.tensor);
        drop(op.backward_input_uses, out.tensor);
    }
    for (std::vector<int>* uses : {&op.saved, &op.forward_uses, &op.backward_input_uses})
        uses->insert(uses->end(), kept.begin(), kept.end());
    roles.narrow = casts;
}

}  // namespace debubble::models

#include "models/build/graph_builder.h"

namespace debubble::models {

namespace {

Value with_branch(GraphBuilder& builder, Value x, const Branch& branch, int gradient) {
    return residual(builder, branch.place, x, branch.value, gradient, branch.biased);
}

/// The sum of x and a part of the layer; `gradient` is that of the sum.
Value after_part(GraphBuilder& builder, Value x, const auto& part, int gradient) {
    return with_branch(builder, x, part(builder, x, PartGradients{gradient, gradient}), gradient);
}

/// Attention and MLP of the same input, and the sum of all three, whose gradient must be a tensor
/// of its own: attention's backward still reads it when the MLP's has added to that of x.
Value parallel_parts(GraphBuilder& builder, Value x, int gradient) {
    // With one norm, nothing has reached x when its backward comes.
    const int through = builder.layer().one_norm ? gradient : x.gradient;
    const Branch attention = mixer_branch(builder, x, {gradient, through});
    const Branch mlp = mlp_branch(builder, x, {gradient, gradient});
    return with_branch(builder, with_branch(builder, x, attention, gradient), mlp, gradient);
}

/// A part between the streams that it reads and those that it leaves.
Value streamed_part(GraphBuilder& builder, Value x, const auto& part, const char* name,
                    int gradient) {
    const Value in = open_streams(builder, x, name);
    const int of_branch = builder.tensor("d.branch", builder.size.stream_bytes());
    return close_streams(builder, x, part(builder, in, PartGradients{of_branch, of_branch}),
                         gradient, name);
}

}  // namespace

Value build_layer(GraphBuilder& builder, int index, Value x, const LayerGradients& gradients) {
    builder.begin_layer(index);
    const std::int64_t bytes = builder.size.stream_bytes();
    const Layer& parts = builder.layer();
    // Sums are accumulated in place. But where a projection's weight gradient also needs one, each
    // sum is a new tensor.
    const bool waits = builder.how().split_backward || builder.how().delays_weights;
    const bool in_place = !waits || builder.drops();
    const auto sum = [&](const char* name, bool ends) {
        if (ends && gradients.result != nullptr) return builder.tensor(gradients.result, bytes);
        return in_place ? gradients.stream : builder.tensor(name, bytes);
    };
    if (builder.model().mixes_streams()) {
        const std::int64_t wide = bytes * builder.model().streams;
        const bool before = parts.has_mlp();
        if (parts.mixes())
            x = streamed_part(
                builder, x, mixer_branch, "attn",
                builder.tensor(
                    before || gradients.result == nullptr ? "d.attn.stream" : gradients.result,
                    wide));
        if (parts.has_mlp())
            x = streamed_part(
                builder, x, mlp_branch, "mlp",
                builder.tensor(gradients.result != nullptr ? gradients.result : "d.mlp.stream",
                               wide));
        return x;
    }
    if (parts.parallel) {
        const char* name = gradients.result != nullptr ? gradients.result : "d.mlp.stream";
        return parallel_parts(builder, x, builder.tensor(name, bytes));
    }
    if (parts.mixes())
        x = after_part(builder, x, mixer_branch, sum("d.attn.stream", !parts.has_mlp()));
    if (parts.has_mlp()) x = after_part(builder, x, mlp_branch, sum("d.mlp.stream", true));
    return x;
}

}  // namespace debubble::models

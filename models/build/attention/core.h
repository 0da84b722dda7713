#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

/// The core of an attention: scores, softmax and context, and what context parallelism and slices
/// of the sequence add; and the GEMMs of latent attention around it. Private to the folder.
namespace debubble::models {

inline void append_uses(std::vector<int>& uses, std::initializer_list<int> more) {
    uses.insert(uses.end(), more);
}

/// The attention core of one layer: its inputs and its gradients.
struct AttentionCore {
    GraphBuilder& builder;
    OperatorPlace place;
    models::op::Value qkv;
    Value out;  ///< context, [T, q]
    Operator op;
    models::op::Attention roles;

    std::int64_t out_bytes() const {
        return builder.size.element * builder.size.tokens * builder.size.context_width;
    }
    std::int64_t scores() const {
        const Sizes& size = builder.size;
        return size.samples * size.heads * size.queries * size.keys;
    }
    /// Keys and values of this rank's tokens.
    std::int64_t chunk() const {
        return builder.size.element * builder.size.tokens *
               (builder.size.key_width + builder.size.value_width);
    }
    /// The same as transferred: a ring passes on tensors cast with one scale.
    std::int64_t sent_chunk() const;
    bool drops() const {
        return builder.how().attention_dropout || builder.how().kernels.dropout_masks_always;
    }
    Kernel product(const char* suffix, std::int64_t m, std::int64_t n, std::int64_t k) const {
        const Sizes& size = builder.size;
        return gemm(builder, place.kernel + suffix, place.layer,
                    {size.samples * size.heads, m, n, k, {}});
    }

    void flash();
    /// True where products are in 8 bits (LowPrecision::attention).
    bool is_narrow() const;
    void cast_operands();
    void keep_casts();
    void see_less(FlashAttention& work) const;
    void add_sinks();
    void unfused();
    models::op::Probabilities probabilities(const char* suffix) const;
    void unfused_forward(std::vector<Kernel>& kernels, std::vector<int>& uses,
                         const models::op::Probabilities& kept) const;
    void context_parallel();
    Kernel travel(const char* suffix, Collective work) const;
    void ring();
    void gathered_keys();
    void earlier_slices();
};

/// Adds the operator. `split` are the heads, `packed` the product that they come from.
Value attention_core(GraphBuilder& builder, const OperatorPlace& place, const op::Heads& split,
                     Value packed);

// The products of multi-head latent attention and their norms.

struct Latent {
    GraphBuilder& builder;
    const LayerNames& names;
    const Attention& attention = builder.attention();
    const LatentAttention& latent = *attention.latent;

    OperatorPlace at(const char* name, const char* kernel) const {
        return {names.prefix + names.attention + name, kernel, builder.layer_index};
    }
    std::int64_t own_columns() const { return attention.head_dim - latent.rope_dim; }

    /// A product into a narrow value, over the tokens of the stream.
    Value down(const char* name, const char* kernel, Value x, std::int64_t outputs,
               bool adds_gradient) const {
        const std::int64_t hidden = builder.size.hidden;
        const int weight =
            builder.whole_parameter(at(name, kernel).name + ".weight", {outputs, hidden});
        LinearShape shape{hidden, outputs, Sharding::Replicated};
        shape.rows = builder.size.stream_tokens;
        shape.adds_gradient = adds_gradient;
        shape.keeps_original = builder.leaves_to_replay(Module::LayerNorm);
        return linear(builder, at(name, kernel), shape, {{weight}, {}}, x);
    }
    /// The norm is fused with the product after it, and made again with it
    /// (TELayerNormColumnParallelLinear in Megatron-LM 00611e6, models/gpt/gpt_layer_specs.py).
    Value normed(const char* name, const char* kernel, Value x, std::int64_t columns) const {
        const int gain = builder.norm_weight(at(name, kernel).name + ".weight", columns);
        const std::size_t first = builder.next_operator();
        const Value y = norm_of_columns(builder, at(name, kernel), gain, x, columns);
        builder.mark(first, Module::MlaUpProjection);
        return y;
    }
    /// A product out of a narrow value, of `columns` for each head.
    Value up(const char* name, const char* kernel, Value x, std::int64_t inputs,
             std::int64_t columns, bool adds_gradient = false) const {
        const std::string weight = at(name, kernel).name + ".weight";
        const int index = builder.parameter({weight,
                                             {attention.heads * columns, inputs},
                                             builder.sharding_of(weight, {Sharding::Column}),
                                             0,
                                             1,
                                             {}});
        LinearShape shape{inputs, builder.size.heads * columns, Sharding::Column};
        shape.adds_gradient = adds_gradient;
        const std::size_t first = builder.next_operator();
        const Value y = linear(builder, at(name, kernel), shape, {{index}, {}}, x);
        builder.mark(first, Module::MlaUpProjection);
        return y;
    }

    /// Queries of the rank's heads, and the narrow value that they are made from, if there is one.
    struct Queries {
        Value heads;
        std::optional<Value> narrow = {};
    };
    Queries queries(Value x) const;
    SplitValue joined(Value queries, Value keys_values, Value rotated) const;
};

}  // namespace debubble::models

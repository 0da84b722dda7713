#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "models/build/graph_builder.h"

/// The core of an attention: scores, softmax and context, and what context parallelism and slices
/// of the sequence add. Private to the folder.
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

}  // namespace debubble::models

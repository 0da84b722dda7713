#include <array>

#include "tests/exec/kernels/kernels_twins.h"

namespace debubble::exec {
namespace {

using Side = Twins::Side;

struct AttentionCase {
    std::string name;
    Shape q;  ///< [samples, queries, heads, head_dim]
    std::int64_t keys = 0;
    std::int64_t kv_heads = 0;
    bool causal = true;
    std::int64_t first_query = 0;
    bool dropout = false;
    std::int64_t window = 0;
    double soft_cap = 0;
    std::int64_t value_dim = 0;  ///< 0: the width of a key
    std::int64_t chunk = 0;
    std::int64_t alibi_heads = 0;  ///< 0: scores fall by nothing

    void mask(Attention& how) const {
        if (window > 0) how.window = window;
        if (soft_cap > 0) how.soft_cap = soft_cap;
        if (chunk > 0) how.chunk = chunk;
    }
};

/// Around the blocks: shorter, longer, a few rows over; slices that stand late in the sequence.
std::vector<AttentionCase> attention_cases() {
    return {{"one key", {1, 1, 1, 8}, 1, 1},
            {"short", {2, 17, 2, 20}, 17, 2},
            {"several blocks", {1, 261, 2, 64}, 261, 2},
            {"grouped", {2, 70, 6, 33}, 70, 2},
            {"a later slice", {2, 70, 4, 16}, 250, 4, true, 180},
            {"a slice in the second block", {1, 3, 2, 8}, 70, 2, true, 65},
            {"an earlier slice", {2, 3, 4, 3}, 7, 2, true, 2},
            {"a middle slice with later keys unseen", {1, 70, 4, 16}, 250, 2, true, 101},
            {"bidirectional", {2, 197, 3, 16}, 197, 3, false},
            {"wide heads", {1, 90, 2, 128}, 90, 1},
            {"wide heads, several blocks, grouped", {1, 133, 2, 128}, 133, 1},
            {"more keys than queries, grouped", {2, 40, 4, 64}, 200, 2, false},
            {"heads between the widths", {1, 33, 2, 80}, 70, 2, true, 37},
            {"with dropout", {2, 130, 4, 32}, 130, 4, true, 0, true},
            {"a window within a block", {2, 70, 2, 16}, 70, 2, true, 0, false, 5},
            {"a window of one", {1, 70, 2, 8}, 70, 1, true, 0, false, 1},
            {"a window over blocks", {1, 300, 2, 64}, 300, 1, true, 0, false, 100},
            {"a window as long as the sequence", {1, 40, 2, 8}, 40, 2, true, 0, false, 40},
            {"a later slice through a window", {2, 70, 4, 16}, 250, 2, true, 180, false, 33},
            {"a window of wide heads", {1, 261, 2, 128}, 261, 2, true, 0, false, 65},
            {"a window with dropout", {2, 130, 4, 32}, 130, 4, true, 0, true, 30},
            {"a window before many keys", {1, 3, 2, 8}, 1100, 1, true, 600, false, 40},
            {"capped", {2, 70, 4, 16}, 70, 2, true, 0, false, 0, 1.5},
            {"capped through a window with dropout", {1, 70, 4, 16}, 70, 2, true, 0, true, 9, 1.5},
            {"narrow values", {2, 70, 4, 24}, 70, 4, true, 0, false, 0, 0, 16},
            {"heads of latent attention", {1, 133, 2, 192}, 133, 2, true, 0, false, 0, 0, 128},
            {"narrow values of odd widths", {1, 90, 2, 130}, 90, 2, true, 0, true, 0, 0, 77},
            {"wide values", {1, 70, 2, 40}, 70, 1, true, 0, false, 0, 0, 72},
            {"chunks", {1, 200, 2, 64}, 200, 1, true, 0, false, 0, 0, 0, 75},
            {"chunks within a block", {2, 40, 4, 16}, 40, 2, true, 0, true, 0, 0, 0, 7},
            {"a later slice in chunks", {1, 70, 2, 128}, 250, 1, true, 180, false, 0, 0, 0, 64},
            {"slopes", {1, 133, 4, 16}, 133, 4, true, 0, false, 0, 0, 0, 0, 8},
            {"slopes of six heads", {2, 70, 2, 64}, 70, 1, true, 0, true, 0, 0, 0, 0, 6},
            {"slopes of a later slice", {1, 70, 2, 8}, 250, 2, true, 180, false, 0, 0, 0, 0, 3}};
}

TEST_P(KernelsTest, Attention) {
    for (const AttentionCase& test : attention_cases()) {
        const std::int64_t samples = test.q[0], queries = test.q[1], heads = test.q[2];
        const std::int64_t value_dim = test.value_dim > 0 ? test.value_dim : test.q[3];
        const Shape keys{samples, test.keys, test.kv_heads, test.q[3]};
        const Shape values{samples, test.keys, test.kv_heads, value_dim};
        const Shape results{samples, queries, heads, value_dim};
        Attention how{test.causal, test.first_query, 1 / std::sqrt(double(test.q[3])), {}};
        test.mask(how);
        if (test.alibi_heads > 0) how.alibi = Alibi{test.alibi_heads, test.alibi_heads - heads};
        if (test.dropout) {
            how.dropout = {.dropout = {0.2, stream_of(1, "attention")},
                           .all_heads = 8,
                           .all_positions = 131,  // odd: pairs of keys share no random numbers
                           .first_sample = 3,
                           .first_head = 2};
        }
        const Twins q = random(test.q), k = random(keys), v = random(values);
        const Twins out = random(results), log_sum = fp32({samples, heads, queries});
        const Twins dout = random(results), dq = random(test.q);
        const Twins dk = random(keys), dv = random(values);
        const Twins dk_alone = random(keys), dv_alone = random(values);
        both([&](Kernels& kernels, Side side) {
            kernels.scale(4, side(q));  // so that some keys matter more than others
            kernels.attention_forward(how, side(q), side(k), side(v), side(out), side(log_sum));
            kernels.attention_backward_input(how, side(dout), side(q), side(k), side(v), side(out),
                                             side(log_sum), side(dq), side(dk), side(dv));
            how.key_gradients = Write::Overwrite;
            kernels.attention_backward_input(how, side(dout), side(q), side(k), side(v), side(out),
                                             side(log_sum), side(dq), side(dk_alone),
                                             side(dv_alone));
            how.key_gradients = Write::Add;
        });
        expect_alike(out, test.name + ": out");
        expect_alike(log_sum, test.name + ": log_sum");
        expect_alike(dk, test.name + ": dk");
        expect_alike(dv, test.name + ": dv");
        expect_alike(dv_alone, test.name + ": dv where nothing was");
        if (test.keys == 1 || test.window == 1) continue;  // whose only score changes nothing
        expect_alike(dq, test.name + ": dq", 2);
        expect_alike(dk_alone, test.name + ": dk where nothing was", 2);
    }
}

/// The columns of a packed tensor, or of its gradient, by the sizes of its parts.
struct Columns {
    TensorView q, k, v;
    Columns(const TensorView& packed, const Shape& queries, const Shape& keys)
        : q{packed.data, queries, packed.type},
          k{packed.data + queries[2] * queries[3] * size_of(packed.type), keys, packed.type},
          v{k.data + keys[2] * keys[3] * size_of(packed.type), keys, packed.type} {}
};

/// Where the oracle splits the packed product and puts its gradient together, the tested kernels
/// work on it as it is.
TEST_P(KernelsTest, AttentionOnThePackedProduct) {
    for (const AttentionCase& test : attention_cases()) {
        if (test.keys != test.q[1] || test.keys == 1 || test.window == 1 || test.value_dim > 0)
            continue;
        const std::int64_t samples = test.q[0], rows = test.q[1], heads = test.q[2];
        const Shape keys{samples, rows, test.kv_heads, test.q[3]};
        const std::int64_t width = (heads + 2 * test.kv_heads) * test.q[3];
        Attention split{test.causal, 0, 1 / std::sqrt(double(test.q[3])), {}, Write::Overwrite};
        test.mask(split);
        if (test.alibi_heads > 0) split.alibi = Alibi{test.alibi_heads, 0};
        Attention whole = split;
        whole.packed_row = width;
        const Twins packed = random({samples, rows, width}),
                    dpacked = random({samples, rows, width});
        const Twins out = random(test.q), log_sum = fp32({samples, heads, rows});
        const Twins dout = random(test.q);
        both([&](Kernels& kernels, Side side) {
            if (!side.oracle) {
                const Columns x(side(packed), test.q, keys), dx(side(dpacked), test.q, keys);
                kernels.attention_forward(whole, x.q, x.k, x.v, side(out), side(log_sum));
                kernels.attention_backward_input(whole, side(dout), x.q, x.k, x.v, side(out),
                                                 side(log_sum), dx.q, dx.k, dx.v);
                return;
            }
            constexpr auto kType = DataType::Fp64;
            const Tensor q(test.q, kType), k(keys, kType), v(keys, kType);
            const Tensor dq(test.q, kType), dk(keys, kType), dv(keys, kType);
            kernels.split_heads_forward(0, side(packed), q.view(), k.view(), v.view());
            kernels.attention_forward(split, q.view(), k.view(), v.view(), side(out),
                                      side(log_sum));
            kernels.attention_backward_input(split, side(dout), q.view(), k.view(), v.view(),
                                             side(out), side(log_sum), dq.view(), dk.view(),
                                             dv.view());
            kernels.split_heads_backward_input(0, dq.view(), dk.view(), dv.view(), side(dpacked));
        });
        expect_alike(out, test.name + ": out");
        expect_alike(log_sum, test.name + ": log_sum");
        expect_alike(dpacked, test.name + ": gradients", 2);
    }
}

}  // namespace
}  // namespace debubble::exec

#include <cmath>

#include "exec/cpu/fixed_order/attention.h"
#include "exec/cpu/loops/exponential.h"
#include "exec/cpu/loops/sums.h"

namespace debubble::exec::fixed_order {

namespace {

using loops::exponential;
using loops::sum_of;

/// The matrices of one block of queries by keys, computed again in the backward.
struct Scratch {
    std::vector<float> probabilities = std::vector<float>(kBlockQueries * kBlockKeys);
    std::vector<float> gradients = std::vector<float>(kBlockQueries * kBlockKeys);
    std::vector<float> dots = std::vector<float>(kBlockQueries);  ///< dout . out of each query
    std::vector<float> slopes;  ///< of capped scores; empty if none are

    static Matrix<float> matrix(std::vector<float>& block) { return {block.data(), kBlockKeys, 1}; }
    static Matrix<const float> read(const std::vector<float>& block) {
        return {block.data(), kBlockKeys, 1};
    }
};

/// Turns scores into probabilities by the log of their sum; zero where the mask hides the key.
void probabilities_of(const Block& block, const float* log_sum, float* scores) {
    const auto scale = static_cast<float>(block.attention.scale);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t i = 0; i < block.queries; ++i) {
            float* row = scores + i * kBlockKeys;
            const std::int64_t hidden = block.hidden(i), visible = block.visible(i);
            const float shift = log_sum[i];
            for (std::int64_t j = 0; j < hidden; ++j) row[j] = 0.F;
            for (std::int64_t j = hidden; j < visible; ++j)
                row[j] = exponential(row[j] * scale - shift);
            for (std::int64_t j = visible; j < block.keys; ++j) row[j] = 0.F;
        }
    });
}

/// Turns gradients of the probabilities into those of the scores before scaling, in place: ds = p
/// (dp - sum over keys of p dp), where that sum is dout . out.
void score_gradients(const Block& block, const float* probabilities, const float* dots,
                     float* gradients) {
    const auto scale = static_cast<float>(block.attention.scale);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t i = 0; i < block.queries; ++i) {
            const float* p = probabilities + i * kBlockKeys;
            float* row = gradients + i * kBlockKeys;
            const float dot = dots[i];
            for (std::int64_t j = 0; j < block.keys; ++j) row[j] = p[j] * (row[j] - dot) * scale;
        }
    });
}

/// One pair of blocks. With m the dropout's mask and scale, out = (p m) v, so
/// dv += (p m)^T dout and dp = m (dout v^T).
struct Step {
    const Block& block;
    Matrix<const float> q, k, v, dout;  ///< starting at the blocks' first rows
    Matrix<float> dq, dk, dv;
    Scratch& scratch;

    void run(const float* log_sum, Write write_dq) {
        const std::int64_t head_dim = block.shape.head_dim, value_dim = block.shape.value_dim;
        const ProductSizes of_values{block.keys, value_dim, block.queries};
        float* p = scratch.probabilities.data();
        float* dp = scratch.gradients.data();

        multiply({block.queries, block.keys, head_dim}, q, transposed(k),
                 Scratch::matrix(scratch.probabilities), Write::Overwrite);
        if (block.attention.soft_cap) cap(p);
        if (block.attention.alibi)
            for (std::int64_t i = 0; i < block.queries; ++i)
                loops::lower_scores(block, i, p + i * kBlockKeys);
        probabilities_of(block, log_sum, p);
        if (block.attention.dropout) {
            std::copy_n(p, block.queries * kBlockKeys, dp);
            drop_rows(dp);
            multiply(of_values, transposed(Scratch::read(scratch.gradients)), dout, dv, Write::Add);
        } else {
            multiply(of_values, transposed(Scratch::read(scratch.probabilities)), dout, dv,
                     Write::Add);
        }
        multiply({block.queries, block.keys, value_dim}, dout, transposed(v),
                 Scratch::matrix(scratch.gradients), Write::Overwrite);
        drop_rows(dp);
        score_gradients(block, p, scratch.dots.data(), dp);
        for (std::size_t i = 0; i < scratch.slopes.size(); ++i) dp[i] *= scratch.slopes[i];
        const Matrix<const float> ds = Scratch::read(scratch.gradients);
        multiply({block.queries, head_dim, block.keys}, ds, k, dq, write_dq);
        multiply({block.keys, head_dim, block.queries}, transposed(ds), q, dk, Write::Add);
    }

    void cap(float* scores) const {
        scratch.slopes.resize(kBlockQueries * kBlockKeys);
        for (std::int64_t i = 0; i < block.queries; ++i)
            loops::cap_scores(block.attention, block.keys, scores + i * kBlockKeys,
                              scratch.slopes.data() + i * kBlockKeys);
    }

    void drop_rows(float* rows) const {
        for (std::int64_t i = 0; i < block.queries; ++i) block.drop(i, rows + i * kBlockKeys);
    }
};

}  // namespace

void attention_backward_input(const Attention& attention, In dout, In q, In k, In v, In out,
                              In log_sum, Out dq, Out dk, Out dv) {
    const AttentionShape shape(q.shape, k.shape, v.shape);
    assert(dout.shape == shape.of_results() && out.shape == dout.shape && dq.shape == q.shape &&
           "dout has the shape of out, dq that of q");
    assert(dk.shape == k.shape && dv.shape == v.shape && "dk has the shape of k, dv that of v");
    if (attention.key_gradients == Write::Overwrite) {
        for (const Out& sums : {dk, dv}) {
            const std::int64_t width = shape.kv_heads * sums.shape[3];
            for (std::int64_t row = 0; row < shape.samples * shape.keys; ++row)
                std::fill_n(sums.data + row * attention.packed_row.value_or(width), width, 0.F);
        }
    }
    Scratch scratch;
    for_each_query_block(attention, shape, [&](Block block) {
        const auto rows = [&](const auto& x, std::optional<std::int64_t> packed_row) {
            return head_of(x, block.sample, block.head, block.first_query, packed_row);
        };
        const std::optional<std::int64_t> packed = attention.packed_row;
        const Matrix<const float> up = rows(dout, {});
        const Matrix<const float> result = rows(out, {});
        for (std::int64_t i = 0; i < block.queries; ++i) {
            const float* a = up.data + i * up.row_stride;
            const float* b = result.data + i * result.row_stride;
            scratch.dots[i] =
                sum_of<float>(shape.value_dim, [=](std::int64_t d) { return a[d] * b[d]; });
        }
        const float* logs = log_sum.data +
                            (block.sample * shape.heads + block.head) * shape.queries +
                            block.first_query;
        const std::int64_t first = block.first_seen();
        for (std::int64_t key = first; key < block.seen_keys(); key += kBlockKeys) {
            block.meet(key);
            const auto of_head = [&](const auto& x) {
                return head_of(x, block.sample, block.kv_head(), key, packed);
            };
            Step{block,       rows(q, packed), of_head(k), of_head(v), up, rows(dq, packed),
                 of_head(dk), of_head(dv),     scratch}
                .run(logs, key == first ? Write::Overwrite : Write::Add);
        }
    });
}

}  // namespace debubble::exec::fixed_order

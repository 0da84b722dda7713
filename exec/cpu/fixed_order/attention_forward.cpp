#include <cmath>

#include "exec/cpu/fixed_order/attention.h"
#include "exec/cpu/loops/exponential.h"
#include "exec/cpu/loops/sums.h"

namespace debubble::exec::fixed_order {

namespace {

using loops::exponential;
using loops::largest_of;
using loops::sum_of;

/// The softmax so far of each query of a block: probabilities are relative to the largest score
/// seen, and the sums are scaled down when a larger one comes.
struct OnlineSoftmax {
    std::int64_t value_dim;
    std::vector<float> scores = std::vector<float>(kBlockQueries * kBlockKeys);
    std::vector<float> gathered = std::vector<float>(kBlockQueries * value_dim);
    std::vector<float> largest = std::vector<float>(kBlockQueries);
    std::vector<float> sum = std::vector<float>(kBlockQueries);

    void restart() {
        std::ranges::fill(gathered, 0.F);
        std::ranges::fill(largest, -std::numeric_limits<float>::infinity());
        std::ranges::fill(sum, 0.F);
    }
    Matrix<float> score_matrix() { return {scores.data(), kBlockKeys, 1}; }
    Matrix<float> gathered_matrix() { return {gathered.data(), value_dim, 1}; }

    /// Turns the scores of a query into probabilities; those of keys that it does not see are zero.
    DEBUBBLE_INLINE void take_row(const Block& block, std::int64_t query, float scale) {
        float* const whole = scores.data() + query * kBlockKeys;
        const std::int64_t hidden = block.hidden(query), end = block.visible(query);
        for (std::int64_t j = 0; j < hidden; ++j) whole[j] = 0.F;
        for (std::int64_t j = end; j < block.keys; ++j) whole[j] = 0.F;
        if (end == hidden) return;
        const std::int64_t visible = end - hidden;
        float* const row = whole + hidden;
        for (std::int64_t j = 0; j < visible; ++j) row[j] *= scale;
        const float before = largest[query];
        const float peak = std::max(before, largest_of(visible, row));
        for (std::int64_t j = 0; j < visible; ++j) row[j] = exponential(row[j] - peak);
        const float shrink = exponential(before - peak);
        sum[query] =
            sum[query] * shrink + sum_of<float>(visible, [=](std::int64_t j) { return row[j]; });
        float* values = gathered.data() + query * value_dim;
        for (std::int64_t d = 0; d < value_dim; ++d) values[d] *= shrink;
        largest[query] = peak;
    }
    void cap(const Block& block) {
        for (std::int64_t i = 0; i < block.queries; ++i)
            loops::cap_scores(block.attention, block.keys, scores.data() + i * kBlockKeys, nullptr);
    }
};

}  // namespace

void attention_forward(const Attention& attention, In q, In k, In v, Out out, Out log_sum) {
    const AttentionShape shape(q.shape, k.shape, v.shape);
    assert(out.shape == shape.of_results() && "out [samples, queries, heads, value_dim]");
    assert(log_sum.size() == shape.samples * shape.heads * shape.queries &&
           "log_sum [samples, heads, queries]");
    OnlineSoftmax softmax{shape.value_dim};
    for_each_query_block(attention, shape, [&](Block block) {
        const auto keys = head_of(k, block.sample, block.kv_head(), 0, attention.packed_row);
        const auto values = head_of(v, block.sample, block.kv_head(), 0, attention.packed_row);
        const auto queries =
            head_of(q, block.sample, block.head, block.first_query, attention.packed_row);
        softmax.restart();
        for (std::int64_t key = block.first_seen(); key < block.seen_keys(); key += kBlockKeys) {
            block.meet(key);
            multiply({block.queries, block.keys, shape.head_dim}, queries,
                     transposed(from_row(keys, key)), softmax.score_matrix(), Write::Overwrite);
            if (attention.soft_cap) softmax.cap(block);
            if (attention.alibi)
                for (std::int64_t i = 0; i < block.queries; ++i)
                    loops::lower_scores(block, i, softmax.scores.data() + i * kBlockKeys);
            vectorised([&]() DEBUBBLE_INLINE {
                for (std::int64_t i = 0; i < block.queries; ++i)
                    softmax.take_row(block, i, static_cast<float>(attention.scale));
            });
            for (std::int64_t i = 0; i < block.queries; ++i) {
                block.drop(i, softmax.scores.data() + i * kBlockKeys);
            }
            const auto weights = softmax.score_matrix();
            multiply({block.queries, shape.value_dim, block.keys}, {weights.data, kBlockKeys, 1},
                     from_row(values, key), softmax.gathered_matrix(), Write::Add);
        }
        const auto result = head_of(out, block.sample, block.head, block.first_query);
        float* logs = log_sum.data + (block.sample * shape.heads + block.head) * shape.queries;
        for (std::int64_t i = 0; i < block.queries; ++i) {
            logs[block.first_query + i] = softmax.largest[i] + std::log(softmax.sum[i]);
            for (std::int64_t d = 0; d < shape.value_dim; ++d) {
                result.data[i * result.row_stride + d] =
                    softmax.gathered[i * shape.value_dim + d] / softmax.sum[i];
            }
        }
    });
}

}  // namespace debubble::exec::fixed_order

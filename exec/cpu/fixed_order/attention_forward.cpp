#include <cmath>

#include "exec/cpu/fixed_order/attention_block.h"
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
    std::int64_t head_dim;
    std::vector<float> scores = std::vector<float>(kBlockQueries * kBlockKeys);
    std::vector<float> gathered = std::vector<float>(kBlockQueries * head_dim);
    std::vector<float> largest = std::vector<float>(kBlockQueries);
    std::vector<float> sum = std::vector<float>(kBlockQueries);

    void restart() {
        std::ranges::fill(gathered, 0.F);
        std::ranges::fill(largest, -std::numeric_limits<float>::infinity());
        std::ranges::fill(sum, 0.F);
    }
    Matrix<float> score_matrix() { return {scores.data(), kBlockKeys, 1}; }
    Matrix<float> gathered_matrix() { return {gathered.data(), head_dim, 1}; }

    /// Turns a row of scores, `visible` of `keys`, into probabilities; the rest are zero.
    DEBUBBLE_INLINE void take_row(std::int64_t query, std::int64_t visible, std::int64_t keys,
                                  float scale) {
        float* row = scores.data() + query * kBlockKeys;
        for (std::int64_t j = visible; j < keys; ++j) row[j] = 0.F;
        if (visible == 0) return;
        for (std::int64_t j = 0; j < visible; ++j) row[j] *= scale;
        const float before = largest[query];
        const float peak = std::max(before, largest_of(visible, row));
        for (std::int64_t j = 0; j < visible; ++j) row[j] = exponential(row[j] - peak);
        const float shrink = exponential(before - peak);
        sum[query] =
            sum[query] * shrink + sum_of<float>(visible, [=](std::int64_t j) { return row[j]; });
        float* values = gathered.data() + query * head_dim;
        for (std::int64_t d = 0; d < head_dim; ++d) values[d] *= shrink;
        largest[query] = peak;
    }
};

}  // namespace

void attention_forward(const Attention& attention, In q, In k, In v, Out out, Out log_sum) {
    const AttentionShape shape(q.shape, k.shape);
    assert(v.shape == k.shape && out.shape == q.shape && "v is like k, out like q");
    assert(log_sum.size() == shape.samples * shape.heads * shape.queries &&
           "log_sum [samples, heads, queries]");
    OnlineSoftmax softmax{shape.head_dim};
    for_each_query_block(attention, shape, [&](Block block) {
        const auto keys = head_of(k, block.sample, block.kv_head(), 0, attention.packed_row);
        const auto values = head_of(v, block.sample, block.kv_head(), 0, attention.packed_row);
        const auto queries =
            head_of(q, block.sample, block.head, block.first_query, attention.packed_row);
        softmax.restart();
        for (std::int64_t key = 0; key < block.seen_keys(); key += kBlockKeys) {
            block.meet(key);
            multiply({block.queries, block.keys, shape.head_dim}, queries,
                     transposed(from_row(keys, key)), softmax.score_matrix(), Write::Overwrite);
            vectorised([&]() DEBUBBLE_INLINE {
                for (std::int64_t i = 0; i < block.queries; ++i) {
                    softmax.take_row(i, block.visible(i), block.keys,
                                     static_cast<float>(attention.scale));
                }
            });
            for (std::int64_t i = 0; i < block.queries; ++i) {
                block.drop(i, softmax.scores.data() + i * kBlockKeys);
            }
            const auto weights = softmax.score_matrix();
            multiply({block.queries, shape.head_dim, block.keys}, {weights.data, kBlockKeys, 1},
                     from_row(values, key), softmax.gathered_matrix(), Write::Add);
        }
        const auto result = head_of(out, block.sample, block.head, block.first_query);
        float* logs = log_sum.data + (block.sample * shape.heads + block.head) * shape.queries;
        for (std::int64_t i = 0; i < block.queries; ++i) {
            logs[block.first_query + i] = softmax.largest[i] + std::log(softmax.sum[i]);
            for (std::int64_t d = 0; d < shape.head_dim; ++d) {
                result.data[i * result.row_stride + d] =
                    softmax.gathered[i * shape.head_dim + d] / softmax.sum[i];
            }
        }
    });
}

}  // namespace debubble::exec::fixed_order

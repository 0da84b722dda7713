#include <cmath>

#include "exec/cpu/fixed_order/attention_block.h"
#include "exec/cpu/fixed_order/exponential.h"

namespace debubble::exec::fixed_order {

namespace {

/// The softmax so far of each query of a block: probabilities are relative to the largest score
/// seen, and the sums are scaled down when a larger one comes.
template <class T>
struct OnlineSoftmax {
    std::int64_t head_dim;
    std::vector<T> scores = std::vector<T>(kBlockQueries * kBlockKeys);
    std::vector<T> gathered = std::vector<T>(kBlockQueries * head_dim);
    std::vector<T> largest = std::vector<T>(kBlockQueries);
    std::vector<T> sum = std::vector<T>(kBlockQueries);

    void restart() {
        std::ranges::fill(gathered, T{0});
        std::ranges::fill(largest, -std::numeric_limits<T>::infinity());
        std::ranges::fill(sum, T{0});
    }
    Matrix<T> score_matrix() { return {scores.data(), kBlockKeys, 1}; }
    Matrix<T> gathered_matrix() { return {gathered.data(), head_dim, 1}; }

    /// Turns a row of scores, `visible` of `keys`, into probabilities; the rest are zero.
    DEBUBBLE_INLINE void take_row(std::int64_t query, std::int64_t visible, std::int64_t keys,
                                  T scale) {
        T* row = scores.data() + query * kBlockKeys;
        for (std::int64_t j = visible; j < keys; ++j) row[j] = T{0};
        if (visible == 0) return;
        for (std::int64_t j = 0; j < visible; ++j) row[j] *= scale;
        const T before = largest[query];
        const T peak = std::max(before, largest_of(visible, row));
        for (std::int64_t j = 0; j < visible; ++j) row[j] = exponential(row[j] - peak);
        const T shrink = exponential(before - peak);
        sum[query] =
            sum[query] * shrink + sum_of<T>(visible, [=](std::int64_t j) { return row[j]; });
        T* values = gathered.data() + query * head_dim;
        for (std::int64_t d = 0; d < head_dim; ++d) values[d] *= shrink;
        largest[query] = peak;
    }
};

}  // namespace

template <Real T>
void attention_forward(const Attention& attention, In<T> q, In<T> k, In<T> v, Out<T> out,
                       Out<T> log_sum) {
    const AttentionShape shape(q.shape, k.shape);
    assert(v.shape == k.shape && out.shape == q.shape && "v is like k, out like q");
    assert(log_sum.size() == shape.samples * shape.heads * shape.queries &&
           "log_sum [samples, heads, queries]");
    OnlineSoftmax<T> softmax{shape.head_dim};
    for_each_query_block(attention, shape, [&](Block block) {
        const auto keys = head_of(k, block.sample, block.kv_head(), 0, attention.packed_row);
        const auto values = head_of(v, block.sample, block.kv_head(), 0, attention.packed_row);
        const auto queries =
            head_of(q, block.sample, block.head, block.first_query, attention.packed_row);
        softmax.restart();
        for (std::int64_t key = 0; key < block.seen_keys(); key += kBlockKeys) {
            block.meet(key);
            multiply({block.queries, block.keys, shape.head_dim}, queries,
                     transpose(from_row(keys, key)), softmax.score_matrix(), Write::Overwrite);
            vectorised([&]() DEBUBBLE_INLINE {
                for (std::int64_t i = 0; i < block.queries; ++i) {
                    softmax.take_row(i, block.visible(i), block.keys,
                                     static_cast<T>(attention.scale));
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
        T* logs = log_sum.data + (block.sample * shape.heads + block.head) * shape.queries;
        for (std::int64_t i = 0; i < block.queries; ++i) {
            logs[block.first_query + i] = softmax.largest[i] + std::log(softmax.sum[i]);
            for (std::int64_t d = 0; d < shape.head_dim; ++d) {
                result.data[i * result.row_stride + d] =
                    softmax.gathered[i * shape.head_dim + d] / softmax.sum[i];
            }
        }
    });
}

template void attention_forward<float>(const Attention&, In<float>, In<float>, In<float>,
                                       Out<float>, Out<float>);
template void attention_forward<double>(const Attention&, In<double>, In<double>, In<double>,
                                        Out<double>, Out<double>);

}  // namespace debubble::exec::fixed_order

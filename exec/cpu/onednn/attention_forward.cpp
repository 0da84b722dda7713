#include <cmath>
#include <limits>

#include "exec/cpu/loops/attention/attention_block.h"
#include "exec/cpu/loops/exponential.h"
#include "exec/cpu/loops/sums.h"
#include "exec/cpu/onednn/attention.h"
#include "exec/cpu/workers.h"

namespace debubble::exec::onednn {

namespace {

using loops::AttentionShape;
using loops::Block;
using loops::exponential;
using loops::largest_of;
using loops::sum_of;

struct Forward {
    const Attention& attention;
    const AttentionShape& shape;
    ConstTensorView q, k, v;
    TensorView out;
    View<float> log_sum;

    Operand of(const ConstTensorView& x, const Block& block, std::int64_t row,
               std::int64_t head) const {
        return head_rows(x, block.sample, row, head, attention.packed_row);
    }

    void query_block(AttentionWorker& worker, Block block) const {
        std::ranges::fill(worker.largest, -std::numeric_limits<float>::infinity());
        std::ranges::fill(worker.sum, 0.F);
        const Operand queries = of(q, block, block.first_query, block.head);
        const std::int64_t first = block.first_seen();
        for (std::int64_t key = first; key < block.seen_keys(); key += kKeysAtOnce) {
            block.meet(key);
            const Operand keys = of(k, block, key, block.kv_head());
            worker.matmul({block.queries, block.keys, shape.head_dim, queries, keys.transposed(),
                           into(worker.scores, kKeysAtOnce)});
            if (attention.soft_cap)
                for (std::int64_t i = 0; i < block.queries; ++i)
                    loops::cap_scores(attention, block.keys, worker.scores.data() + i * kKeysAtOnce,
                                      nullptr);
            if (attention.alibi)
                for (std::int64_t i = 0; i < block.queries; ++i)
                    loops::lower_scores(block, i, worker.scores.data() + i * kKeysAtOnce);
            take_scores(worker, block, key == first);
            const bool halved = q.type != DataType::Fp32;
            if (halved) {
                narrow_rows(worker.scores, block.queries, kKeysAtOnce, block.keys, worker.weights);
            }
            worker.matmul({block.queries, shape.value_dim, block.keys,
                           halved ? block_of(worker.weights, kKeysAtOnce)
                                  : block_of(worker.scores, kKeysAtOnce),
                           of(v, block, key, block.kv_head()),
                           into(worker.gathered, shape.value_dim),
                           key == first ? Write::Overwrite : Write::Add});
        }
        store(worker, block);
    }

    /// Turns scores into probabilities relative to the largest score so far, and scales down what
    /// was summed before.
    void take_scores(AttentionWorker& worker, const Block& block, bool first) const {
        const auto scale = static_cast<float>(attention.scale);
        float* scores = worker.scores.data();
        float* largest = worker.largest.data();
        float* sums = worker.sum.data();
        float* gathered = worker.gathered.data();
        const std::int64_t value_dim = shape.value_dim;
        vectorised([=]() DEBUBBLE_INLINE {
            for (std::int64_t i = 0; i < block.queries; ++i) {
                float* const whole = scores + i * kKeysAtOnce;
                const std::int64_t hidden = block.hidden(i), end = block.visible(i);
                for (std::int64_t j = 0; j < hidden; ++j) whole[j] = 0;
                for (std::int64_t j = end; j < block.keys; ++j) whole[j] = 0;
                const std::int64_t visible = end - hidden;
                float* const row = whole + hidden;
                if (visible == 0) continue;
                const float before = largest[i];
                const float peak = std::max(before, largest_of(visible, row) * scale);
                for (std::int64_t j = 0; j < visible; ++j) {
                    row[j] = exponential(row[j] * scale - peak);
                }
                const float sum = sum_of<float>(visible, [=](std::int64_t j) { return row[j]; });
                const float shrink = exponential(before - peak);
                sums[i] = sums[i] * shrink + sum;
                largest[i] = peak;
                if (first) continue;
                float* values = gathered + i * value_dim;
                for (std::int64_t d = 0; d < value_dim; ++d) values[d] *= shrink;
            }
        });
        if (!attention.dropout) return;
        for (std::int64_t i = 0; i < block.queries; ++i) {
            block.drop(i, worker.scores.data() + i * kKeysAtOnce);
        }
    }

    void store(AttentionWorker& worker, const Block& block) const {
        float* logs = log_sum.data + (block.sample * shape.heads + block.head) * shape.queries +
                      block.first_query;
        for (std::int64_t i = 0; i < block.queries; ++i) {
            float* values = worker.gathered.data() + i * shape.value_dim;
            const float sum = worker.sum[i];
            logs[i] = worker.largest[i] + std::log(sum);
            for (std::int64_t d = 0; d < shape.value_dim; ++d) values[d] /= sum;
            narrow(
                values,
                piece(out, element_of(out.shape, block.sample, block.first_query + i, block.head),
                      shape.value_dim));
        }
    }
};

}  // namespace

BlockedAttention::BlockedAttention(int workers) : workers_(workers) {
    for (AttentionWorker& worker : workers_) {
        for (auto* block : {&worker.scores, &worker.gradients}) {
            block->resize(kQueriesAtOnce * kKeysAtOnce);
        }
        for (auto* block : {&worker.weights, &worker.narrow_gradients}) {
            block->resize(kQueriesAtOnce * kKeysAtOnce);
        }
        for (auto* column : {&worker.largest, &worker.sum, &worker.dots}) {
            column->resize(kQueriesAtOnce);
        }
        worker.mask.resize(kKeysAtOnce);
    }
}

void BlockedAttention::forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                               ConstTensorView v, TensorView out, View<float> log_sum) {
    const AttentionShape shape(q.shape, k.shape, v.shape);
    assert(out.shape == shape.of_results() && "out [samples, queries, heads, value_dim]");
    const Forward task{attention, shape, q, k, v, out, log_sum};
    const std::int64_t heads = shape.samples * shape.heads;
    const int workers = static_cast<int>(std::min<std::int64_t>(std::ssize(workers_), heads));
    on_workers(std::max(workers, 1), [&](int which) {
        AttentionWorker& worker = workers_[which];
        worker.gathered.resize(kQueriesAtOnce * shape.value_dim);
        const Share mine = share_of(heads, which, std::max(workers, 1));
        for (std::int64_t head = mine.first; head < mine.end; ++head) {
            for (std::int64_t query = 0; query < shape.queries; query += kQueriesAtOnce) {
                const std::int64_t queries = std::min(kQueriesAtOnce, shape.queries - query);
                task.query_block(worker, {attention, shape, head / shape.heads, head % shape.heads,
                                          query, queries, kKeysAtOnce});
            }
        }
    });
}

}  // namespace debubble::exec::onednn

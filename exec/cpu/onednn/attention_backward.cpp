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
using loops::sum_of;

struct Backward {
    const Attention& attention;
    const AttentionShape& shape;
    ConstTensorView dout, q, k, v, out;
    View<const float> log_sum;
    TensorView dq, dk, dv;

    bool halved() const { return q.type != DataType::Fp32; }

    /// Computes one head of keys, with all heads of queries that read it.
    void key_head(AttentionWorker& worker, std::int64_t sample, std::int64_t kv_head) const {
        const std::int64_t group = shape.heads / shape.kv_heads;
        std::ranges::fill(worker.dk, 0.F);
        std::ranges::fill(worker.dv, 0.F);
        for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
            for (std::int64_t query = 0; query < shape.queries; query += kQueriesAtOnce) {
                const std::int64_t queries = std::min(kQueriesAtOnce, shape.queries - query);
                query_block(worker, {attention, shape, sample, head, query, queries, kKeysAtOnce});
            }
        }
        for (std::int64_t key = 0; key < shape.keys; ++key) {
            const std::int64_t element =
                element_of(dk.shape, sample, key, kv_head, attention.packed_row);
            add_row(worker, worker.dk, key, piece(dk, element, shape.head_dim));
            const std::int64_t value =
                element_of(dv.shape, sample, key, kv_head, attention.packed_row);
            add_row(worker, worker.dv, key, piece(dv, value, shape.value_dim));
        }
    }

    void query_block(AttentionWorker& worker, Block block) const {
        const Operand queries =
            head_rows(q, block.sample, block.first_query, block.head, attention.packed_row);
        const Operand above = head_rows(dout, block.sample, block.first_query, block.head);
        dots_of(worker, block);
        const std::int64_t first = block.first_seen();
        for (std::int64_t key = first; key < block.seen_keys(); key += kKeysAtOnce) {
            block.meet(key);
            const Operand keys =
                head_rows(k, block.sample, key, block.kv_head(), attention.packed_row);
            const Operand values =
                head_rows(v, block.sample, key, block.kv_head(), attention.packed_row);
            const auto by_keys = [&](std::int64_t width, const Operand& a, const Operand& b,
                                     std::vector<float>& c) {
                worker.matmul(
                    {block.queries, block.keys, width, a, b.transposed(), into(c, kKeysAtOnce)});
            };
            const auto to_keys = [&](std::int64_t width, const Operand& a, const Operand& b,
                                     std::vector<float>& c) {
                worker.matmul({block.keys, width, block.queries, a.transposed(), b,
                               into(c, width, key), Write::Add});
            };
            by_keys(shape.head_dim, queries, keys, worker.scores);
            if (attention.soft_cap) cap(worker, block);
            if (attention.alibi)
                for (std::int64_t i = 0; i < block.queries; ++i)
                    loops::lower_scores(block, i, worker.scores.data() + i * kKeysAtOnce);
            probabilities_of(worker, block);
            by_keys(shape.value_dim, above, values, worker.gradients);
            score_gradients(worker, block);
            to_keys(shape.value_dim, stored(worker.scores, worker.weights, block), above,
                    worker.dv);
            const Operand ds = stored(worker.gradients, worker.narrow_gradients, block);
            worker.matmul({block.queries, shape.head_dim, block.keys, ds, keys,
                           into(worker.gathered, shape.head_dim),
                           key == first ? Write::Overwrite : Write::Add});
            to_keys(shape.head_dim, ds, queries, worker.dk);
        }
        for (std::int64_t i = 0; i < block.queries; ++i) {
            const std::int64_t element = element_of(dq.shape, block.sample, block.first_query + i,
                                                    block.head, attention.packed_row);
            narrow(worker.gathered.data() + i * shape.head_dim, piece(dq, element, shape.head_dim));
        }
    }

    /// Computes dout . out of each query.
    void dots_of(AttentionWorker& worker, const Block& block) const {
        for (std::int64_t i = 0; i < block.queries; ++i) {
            const std::int64_t element =
                element_of(dout.shape, block.sample, block.first_query + i, block.head);
            float* a = worker.row.data();
            float* b = a + shape.value_dim;
            widen(piece(dout, element, shape.value_dim), a);
            widen(piece(out, element, shape.value_dim), b);
            worker.dots[i] =
                sum_of<float>(shape.value_dim, [=](std::int64_t d) { return a[d] * b[d]; });
        }
    }

    void cap(AttentionWorker& worker, const Block& block) const {
        worker.slopes.resize(kQueriesAtOnce * kKeysAtOnce);
        for (std::int64_t i = 0; i < block.queries; ++i)
            loops::cap_scores(attention, block.keys, worker.scores.data() + i * kKeysAtOnce,
                              worker.slopes.data() + i * kKeysAtOnce);
    }

    /// Turns scores into probabilities by the log of their sum; zero where the mask hides the key.
    void probabilities_of(AttentionWorker& worker, const Block& block) const {
        const auto scale = static_cast<float>(attention.scale);
        const float* logs = log_sum.data +
                            (block.sample * shape.heads + block.head) * shape.queries +
                            block.first_query;
        float* scores = worker.scores.data();
        vectorised([=]() DEBUBBLE_INLINE {
            for (std::int64_t i = 0; i < block.queries; ++i) {
                float* row = scores + i * kKeysAtOnce;
                const std::int64_t hidden = block.hidden(i), visible = block.visible(i);
                const float shift = logs[i];
                for (std::int64_t j = 0; j < hidden; ++j) row[j] = 0;
                for (std::int64_t j = hidden; j < visible; ++j) {
                    row[j] = exponential(row[j] * scale - shift);
                }
                for (std::int64_t j = visible; j < block.keys; ++j) row[j] = 0;
            }
        });
    }

    /// Computes gradients = p (m dp - dot) scale and, for dv, scores = m p, with m the dropout's
    /// mask and scale.
    void score_gradients(AttentionWorker& worker, const Block& block) const {
        const auto scale = static_cast<float>(attention.scale);
        const std::int64_t keys = block.keys;
        for (std::int64_t i = 0; i < block.queries; ++i) {
            float* p = worker.scores.data() + i * kKeysAtOnce;
            float* ds = worker.gradients.data() + i * kKeysAtOnce;
            const float dot = worker.dots[i];
            if (attention.soft_cap) {  // the cap's slope is a factor of the gradient
                const float* slopes = worker.slopes.data() + i * kKeysAtOnce;
                float* mask = worker.mask.data();
                std::fill_n(mask, keys, 1.F);
                block.drop(i, mask);
                for (std::int64_t j = 0; j < keys; ++j) {
                    ds[j] = p[j] * (mask[j] * ds[j] - dot) * scale * slopes[j];
                    p[j] *= mask[j];
                }
                continue;
            }
            if (!attention.dropout) {
                vectorised([=]() DEBUBBLE_INLINE {
                    for (std::int64_t j = 0; j < keys; ++j) ds[j] = p[j] * (ds[j] - dot) * scale;
                });
                continue;
            }
            float* mask = worker.mask.data();
            std::fill_n(mask, keys, 1.F);
            block.drop(i, mask);
            vectorised([=]() DEBUBBLE_INLINE {
                for (std::int64_t j = 0; j < keys; ++j) {
                    ds[j] = p[j] * (mask[j] * ds[j] - dot) * scale;
                    p[j] *= mask[j];
                }
            });
        }
    }

    /// A block of fp32 in the type that the GEMMs take.
    Operand stored(std::vector<float>& block, std::vector<std::uint16_t>& copy,
                   const Block& of) const {
        if (!halved()) return block_of(block, kKeysAtOnce);
        narrow_rows(block, of.queries, kKeysAtOnce, of.keys, copy);
        return block_of(copy, kKeysAtOnce);
    }

    void add_row(AttentionWorker& worker, const std::vector<float>& sums, std::int64_t row,
                 const TensorView& total) const {
        const std::int64_t width = total.shape.elements();
        const float* from = sums.data() + row * width;
        float* to = worker.row.data();
        if (attention.key_gradients == Write::Overwrite) return narrow(from, total);
        widen(total, to);
        for (std::int64_t d = 0; d < width; ++d) to[d] += from[d];
        narrow(to, total);
    }
};

}  // namespace

void BlockedAttention::backward(const Attention& attention, ConstTensorView dout, ConstTensorView q,
                                ConstTensorView k, ConstTensorView v, ConstTensorView out,
                                View<const float> log_sum, TensorView dq, TensorView dk,
                                TensorView dv) {
    const AttentionShape shape(q.shape, k.shape, v.shape);
    assert(dout.shape == shape.of_results() && out.shape == dout.shape && dq.shape == q.shape &&
           "dout has the shape of out, dq that of q");
    assert(dk.shape == k.shape && dv.shape == v.shape && "dk has the shape of k, dv that of v");
    const Backward task{attention, shape, dout, q, k, v, out, log_sum, dq, dk, dv};
    const std::int64_t heads = shape.samples * shape.kv_heads;
    const int used = static_cast<int>(
        std::clamp<std::int64_t>(std::ssize(workers_), 1, std::max<std::int64_t>(heads, 1)));
    on_workers(used, [&](int which) {
        AttentionWorker& worker = workers_[which];
        worker.gathered.resize(kQueriesAtOnce * shape.head_dim);
        worker.row.resize(2 * std::max(shape.head_dim, shape.value_dim));
        worker.dk.resize(shape.keys * shape.head_dim);
        worker.dv.resize(shape.keys * shape.value_dim);
        const Share mine = share_of(heads, which, used);
        for (std::int64_t head = mine.first; head < mine.end; ++head) {
            task.key_head(worker, head / shape.kv_heads, head % shape.kv_heads);
        }
    });
}

}  // namespace debubble::exec::onednn

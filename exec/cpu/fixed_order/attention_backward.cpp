#include <cmath>

#include "exec/cpu/fixed_order/attention_block.h"
#include "exec/cpu/fixed_order/exponential.h"

namespace debubble::exec::fixed_order {

namespace {

/// The matrices of one block of queries by keys, computed again in the backward.
template <class T>
struct Scratch {
    std::vector<T> probabilities = std::vector<T>(kBlockQueries * kBlockKeys);
    std::vector<T> gradients = std::vector<T>(kBlockQueries * kBlockKeys);
    std::vector<T> dots = std::vector<T>(kBlockQueries);  ///< dout . out of each query

    static Matrix<T> matrix(std::vector<T>& block) { return {block.data(), kBlockKeys, 1}; }
    static Matrix<const T> read(const std::vector<T>& block) {
        return {block.data(), kBlockKeys, 1};
    }
};

/// Turns scores into probabilities by the log of their sum; zero where the mask hides the key.
template <class T>
void probabilities_of(const Block& block, const T* log_sum, T* scores) {
    const auto scale = static_cast<T>(block.attention.scale);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t i = 0; i < block.queries; ++i) {
            T* row = scores + i * kBlockKeys;
            const std::int64_t visible = block.visible(i);
            const T shift = log_sum[i];
            for (std::int64_t j = 0; j < visible; ++j) row[j] = exponential(row[j] * scale - shift);
            for (std::int64_t j = visible; j < block.keys; ++j) row[j] = T{0};
        }
    });
}

/// Turns gradients of the probabilities into those of the scores before scaling, in place: ds = p
/// (dp - sum over keys of p dp), where that sum is dout . out.
template <class T>
void score_gradients(const Block& block, const T* probabilities, const T* dots, T* gradients) {
    const auto scale = static_cast<T>(block.attention.scale);
    vectorised([=]() DEBUBBLE_INLINE {
        for (std::int64_t i = 0; i < block.queries; ++i) {
            const T* p = probabilities + i * kBlockKeys;
            T* row = gradients + i * kBlockKeys;
            const T dot = dots[i];
            for (std::int64_t j = 0; j < block.keys; ++j) row[j] = p[j] * (row[j] - dot) * scale;
        }
    });
}

/// One pair of blocks. With m the dropout's mask and scale, out = (p m) v, so
/// dv += (p m)^T dout and dp = m (dout v^T).
template <class T>
struct Step {
    const Block& block;
    Matrix<const T> q, k, v, dout;  ///< starting at the blocks' first rows
    Matrix<T> dq, dk, dv;
    Scratch<T>& scratch;

    void run(const T* log_sum, Write write_dq) {
        const std::int64_t head_dim = block.shape.head_dim;
        const ProductSizes by_keys{block.queries, block.keys, head_dim};
        const ProductSizes of_keys{block.keys, head_dim, block.queries};
        T* p = scratch.probabilities.data();
        T* dp = scratch.gradients.data();

        multiply(by_keys, q, transpose(k), Scratch<T>::matrix(scratch.probabilities),
                 Write::Overwrite);
        probabilities_of(block, log_sum, p);
        if (block.attention.dropout) {
            std::copy_n(p, block.queries * kBlockKeys, dp);
            drop_rows(dp);
            multiply(of_keys, transpose(Scratch<T>::read(scratch.gradients)), dout, dv, Write::Add);
        } else {
            multiply(of_keys, transpose(Scratch<T>::read(scratch.probabilities)), dout, dv,
                     Write::Add);
        }
        multiply(by_keys, dout, transpose(v), Scratch<T>::matrix(scratch.gradients),
                 Write::Overwrite);
        drop_rows(dp);
        score_gradients(block, p, scratch.dots.data(), dp);
        const Matrix<const T> ds = Scratch<T>::read(scratch.gradients);
        multiply({block.queries, head_dim, block.keys}, ds, k, dq, write_dq);
        multiply(of_keys, transpose(ds), q, dk, Write::Add);
    }

    void drop_rows(T* rows) const {
        for (std::int64_t i = 0; i < block.queries; ++i) block.drop(i, rows + i * kBlockKeys);
    }
};

}  // namespace

template <Real T>
void attention_backward_input(const Attention& attention, In<T> dout, In<T> q, In<T> k, In<T> v,
                              In<T> out, In<T> log_sum, Out<T> dq, Out<T> dk, Out<T> dv) {
    const AttentionShape shape(q.shape, k.shape);
    assert(dout.shape == q.shape && out.shape == q.shape && dq.shape == q.shape &&
           "dout, out and dq are like q");
    assert(v.shape == k.shape && dk.shape == k.shape && dv.shape == k.shape &&
           "v, dk and dv are like k");
    if (attention.key_gradients == Write::Overwrite) {
        const std::int64_t width = shape.kv_heads * shape.head_dim;
        for (const Out<T>& sums : {dk, dv})
            for (std::int64_t row = 0; row < shape.samples * shape.keys; ++row)
                std::fill_n(sums.data + row * std::max(attention.packed_row, width), width, T{});
    }
    Scratch<T> scratch;
    for_each_query_block(attention, shape, [&](Block block) {
        const auto rows = [&](const auto& x, std::int64_t packed_row) {
            return head_of(x, block.sample, block.head, block.first_query, packed_row);
        };
        const std::int64_t packed = attention.packed_row;
        const Matrix<const T> up = rows(dout, 0);
        const Matrix<const T> result = rows(out, 0);
        for (std::int64_t i = 0; i < block.queries; ++i) {
            const T* a = up.data + i * up.row_stride;
            const T* b = result.data + i * result.row_stride;
            scratch.dots[i] =
                sum_of<T>(shape.head_dim, [=](std::int64_t d) { return a[d] * b[d]; });
        }
        const T* logs = log_sum.data + (block.sample * shape.heads + block.head) * shape.queries +
                        block.first_query;
        for (std::int64_t key = 0; key < block.seen_keys(); key += kBlockKeys) {
            block.meet(key);
            const auto of_head = [&](const auto& x) {
                return head_of(x, block.sample, block.kv_head(), key, packed);
            };
            Step<T>{block,       rows(q, packed), of_head(k), of_head(v), up, rows(dq, packed),
                    of_head(dk), of_head(dv),     scratch}
                .run(logs, key == 0 ? Write::Overwrite : Write::Add);
        }
    });
}

template void attention_backward_input<float>(const Attention&, In<float>, In<float>, In<float>,
                                              In<float>, In<float>, In<float>, Out<float>,
                                              Out<float>, Out<float>);
template void attention_backward_input<double>(const Attention&, In<double>, In<double>, In<double>,
                                               In<double>, In<double>, In<double>, Out<double>,
                                               Out<double>, Out<double>);

}  // namespace debubble::exec::fixed_order

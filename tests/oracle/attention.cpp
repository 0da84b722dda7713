#include <cmath>
#include <vector>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

namespace {

/// The sizes of an attention: q [samples, queries, heads, head_dim], k and v [samples, keys,
/// kv_heads, head_dim].
struct AttentionSizes {
    std::int64_t samples, queries, keys, heads, kv_heads, head_dim;
    AttentionSizes(const Shape& q, const Shape& k)
        : samples(q[0]), queries(q[1]), keys(k[1]), heads(q[2]), kv_heads(k[2]), head_dim(q[3]) {}
    Shape of_queries() const { return {samples, queries, heads, head_dim}; }
    Shape of_keys() const { return {samples, keys, kv_heads, head_dim}; }
    std::int64_t kv_head(std::int64_t head) const { return head / (heads / kv_heads); }

    template <class Body>
    void each_query(const Body& body) const {
        for (std::int64_t s = 0; s < samples; ++s)
            for (std::int64_t h = 0; h < heads; ++h)
                for (std::int64_t i = 0; i < queries; ++i) body(s, h, i);
    }
};

bool sees(const Attention& attention, std::int64_t query, std::int64_t key) {
    return !attention.causal || key <= attention.first_query + query;
}

/// The factor of a probability: 0 or the dropout's scale; 1 without dropout.
double kept(const Attention& attention, std::int64_t sample, std::int64_t head, std::int64_t query,
            std::int64_t key) {
    if (!attention.dropout) return 1;
    const AttentionDropout& how = *attention.dropout;
    const std::int64_t line = (how.first_sample + sample) * how.all_heads + how.first_head + head;
    const auto element = static_cast<std::uint64_t>(
        (line * how.all_positions + attention.first_query + query) * how.all_positions + key);
    const std::uint32_t word = how.dropout.stream.block(element / 4)[element % 4];
    return word < how.dropout.threshold() ? 0 : how.dropout.scale();
}

double score(const Attention& attention, const AttentionSizes& all, const Array<const double>& q,
             const Array<const double>& k, std::int64_t s, std::int64_t h, std::int64_t i,
             std::int64_t j) {
    double sum = 0;
    for (std::int64_t d = 0; d < all.head_dim; ++d)
        sum += q(s, i, h, d) * k(s, j, all.kv_head(h), d);
    return sum * attention.scale;
}

/// Turns each pair by its position's angle, or back by direction -1.
void turn(double direction, std::int64_t first_position, std::int64_t heads,
          const ConstTensorView& cosines, const ConstTensorView& sines, const TensorView& x) {
    const std::int64_t half = x.shape[3] / 2, positions = rows_of(cosines);
    const auto cosine = read(cosines, {positions, half}), sine = read(sines, {positions, half});
    const auto in_place = write(x, x.shape);
    for (std::int64_t s = 0; s < x.shape[0]; ++s)
        for (std::int64_t row = 0; row < x.shape[1]; ++row)
            for (std::int64_t h = 0; h < heads; ++h)
                for (std::int64_t i = 0; i < half; ++i) {
                    double& low = in_place(s, row, h, i);
                    double& high = in_place(s, row, h, i + half);
                    const double c = cosine(first_position + row, i);
                    const double n = direction * sine(first_position + row, i), before = low;
                    low = before * c - high * n;
                    high = high * c + before * n;
                }
}

}  // namespace

void Oracle::split_heads_forward(std::int64_t first_row, ConstTensorView packed, TensorView q,
                                 TensorView k, TensorView v) {
    const std::int64_t samples = q.shape[0], rows = q.shape[1], all_rows = k.shape[1];
    const std::int64_t query = q.shape.elements() / (samples * rows);
    const std::int64_t key = k.shape.elements() / (samples * all_rows);
    const auto from = read(packed, {samples, rows, query + 2 * key});
    const auto queries = write(q, {samples, rows, query});
    const auto keys = write(k, {samples, all_rows, key}),
               values = write(v, {samples, all_rows, key});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t j = 0; j < query; ++j) queries(s, r, j) = from(s, r, j);
            for (std::int64_t j = 0; j < key; ++j) {
                keys(s, first_row + r, j) = from(s, r, query + j);
                values(s, first_row + r, j) = from(s, r, query + key + j);
            }
        }
}

void Oracle::split_heads_backward_input(std::int64_t first_row, ConstTensorView dq,
                                        ConstTensorView dk, ConstTensorView dv,
                                        TensorView dpacked) {
    const std::int64_t samples = dq.shape[0], rows = dq.shape[1], all_rows = dk.shape[1];
    const std::int64_t query = dq.shape.elements() / (samples * rows);
    const std::int64_t key = dk.shape.elements() / (samples * all_rows);
    const auto queries = read(dq, {samples, rows, query});
    const auto keys = read(dk, {samples, all_rows, key}),
               values = read(dv, {samples, all_rows, key});
    const auto to = write(dpacked, {samples, rows, query + 2 * key});
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t j = 0; j < query; ++j) to(s, r, j) = queries(s, r, j);
            for (std::int64_t j = 0; j < key; ++j) {
                to(s, r, query + j) = keys(s, first_row + r, j);
                to(s, r, query + key + j) = values(s, first_row + r, j);
            }
        }
}

void Oracle::rope_forward(std::int64_t first_position, std::int64_t heads, ConstTensorView cosines,
                          ConstTensorView sines, TensorView x) {
    turn(1, first_position, heads, cosines, sines, x);
}

void Oracle::rope_backward_input(std::int64_t first_position, std::int64_t heads,
                                 ConstTensorView cosines, ConstTensorView sines, TensorView dx) {
    turn(-1, first_position, heads, cosines, sines, dx);
}

/// out = softmax(scale q k^T) v over all keys that a query sees, whose row of probabilities is made
/// whole.
void Oracle::attention_forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                               ConstTensorView v, TensorView out, TensorView log_sum) {
    assert(attention.packed_row == 0 && "q, k and v lie by themselves");
    const AttentionSizes all(q.shape, k.shape);
    const auto queries = read(q, all.of_queries());
    const auto keys = read(k, all.of_keys()), values = read(v, all.of_keys());
    const auto result = write(out, all.of_queries());
    const auto logs = write(log_sum, {all.samples, all.heads, all.queries});
    all.each_query([&](std::int64_t s, std::int64_t h, std::int64_t i) {
        std::vector<double> scores;
        for (std::int64_t j = 0; j < all.keys && sees(attention, i, j); ++j)
            scores.push_back(score(attention, all, queries, keys, s, h, i, j));
        double sum = 0;
        for (const double each : scores) sum += std::exp(each);
        logs(s, h, i) = std::log(sum);
        std::vector<double> weights;
        for (std::int64_t j = 0; j < std::ssize(scores); ++j)
            weights.push_back(std::exp(scores[static_cast<std::size_t>(j)]) / sum *
                              kept(attention, s, h, i, j));
        for (std::int64_t d = 0; d < all.head_dim; ++d) {
            double weighted = 0;
            for (std::int64_t j = 0; j < std::ssize(weights); ++j)
                weighted += weights[static_cast<std::size_t>(j)] * values(s, j, all.kv_head(h), d);
            result(s, i, h, d) = weighted;
        }
    });
}

/// With p the probabilities and m what dropout multiplies them by: dv += p m dout, dp = m (dout v),
/// ds = p (dp - the sum of p dp over the keys), dq = scale ds k, dk += scale ds q.
void Oracle::attention_backward_input(const Attention& attention, ConstTensorView dout,
                                      ConstTensorView q, ConstTensorView k, ConstTensorView v,
                                      ConstTensorView /*out*/, ConstTensorView log_sum,
                                      TensorView dq, TensorView dk, TensorView dv) {
    assert(attention.packed_row == 0 && "q, k and v lie by themselves");
    if (attention.key_gradients == Write::Overwrite) {
        fill_zero(dk);
        fill_zero(dv);
    }
    fill_zero(dq);
    const AttentionSizes all(q.shape, k.shape);
    const auto above = read(dout, all.of_queries()), queries = read(q, all.of_queries());
    const auto keys = read(k, all.of_keys()), values = read(v, all.of_keys());
    const auto logs = read(log_sum, {all.samples, all.heads, all.queries});
    const auto dqueries = write(dq, all.of_queries());
    const auto dkeys = write(dk, all.of_keys()), dvalues = write(dv, all.of_keys());
    all.each_query([&](std::int64_t s, std::int64_t h, std::int64_t i) {
        const std::int64_t kv = all.kv_head(h);
        std::vector<double> p, dp;
        double mean = 0;
        for (std::int64_t j = 0; j < all.keys && sees(attention, i, j); ++j) {
            const double mask = kept(attention, s, h, i, j);
            p.push_back(std::exp(score(attention, all, queries, keys, s, h, i, j) - logs(s, h, i)));
            dp.push_back(0);
            for (std::int64_t d = 0; d < all.head_dim; ++d) {
                dp.back() += mask * above(s, i, h, d) * values(s, j, kv, d);
                dvalues(s, j, kv, d) += p.back() * mask * above(s, i, h, d);
            }
            mean += p.back() * dp.back();
        }
        for (std::int64_t j = 0; j < std::ssize(p); ++j) {
            const auto at = static_cast<std::size_t>(j);
            const double dscore = p[at] * (dp[at] - mean) * attention.scale;
            for (std::int64_t d = 0; d < all.head_dim; ++d) {
                dqueries(s, i, h, d) += dscore * keys(s, j, kv, d);
                dkeys(s, j, kv, d) += dscore * queries(s, i, h, d);
            }
        }
    });
}

}  // namespace debubble::exec

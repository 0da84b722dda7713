#include <cmath>
#include <vector>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

namespace {

/// The sizes of an attention: q [samples, queries, heads, head_dim], k [samples, keys, kv_heads,
/// head_dim], v [samples, keys, kv_heads, value_dim].
struct AttentionSizes {
    std::int64_t samples, queries, keys, heads, kv_heads, head_dim, value_dim;
    AttentionSizes(const Shape& q, const Shape& v)
        : samples(q[0]),
          queries(q[1]),
          keys(v[1]),
          heads(q[2]),
          kv_heads(v[2]),
          head_dim(q[3]),
          value_dim(v[3]) {}
    Shape of_queries() const { return {samples, queries, heads, head_dim}; }
    Shape of_results() const { return {samples, queries, heads, value_dim}; }
    Shape of_keys() const { return {samples, keys, kv_heads, head_dim}; }
    Shape of_values() const { return {samples, keys, kv_heads, value_dim}; }
    std::int64_t kv_head(std::int64_t head) const { return head / (heads / kv_heads); }

    template <class Body>
    void each_query(const Body& body) const {
        for (std::int64_t s = 0; s < samples; ++s)
            for (std::int64_t h = 0; h < heads; ++h)
                for (std::int64_t i = 0; i < queries; ++i) body(s, h, i);
    }
};

bool sees(const Attention& attention, std::int64_t query, std::int64_t key) {
    const std::int64_t position = attention.first_query + query;
    if (attention.window && key <= position - *attention.window) return false;
    if (attention.chunk && key / *attention.chunk != position / *attention.chunk) return false;
    return !attention.causal || key <= position;
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
    const double scaled = sum * attention.scale, cap = attention.soft_cap.value_or(0);
    const double capped = cap > 0 ? cap * std::tanh(scaled / cap) : scaled;
    if (!attention.alibi) return capped;
    return capped - attention.alibi->slope(h) * double(attention.first_query + i - j);
}

/// The derivative of a score with respect to the product of query and key.
double score_slope(const Attention& attention, double score) {
    const double capped = attention.soft_cap ? score / *attention.soft_cap : 0;
    return attention.scale * (1 - capped * capped);
}

/// Turns each pair by its position's angle, or back by direction -1.
void turn(double direction, const Rotary& how, const ConstTensorView& cosines,
          const ConstTensorView& sines, const TensorView& x) {
    const std::int64_t half = cosines.shape.columns(), positions = rows_of(cosines);
    const bool neighbours = how.pairs == RotaryPairs::Neighbours;
    const auto cosine = read(cosines, {positions, half}), sine = read(sines, {positions, half});
    const auto in_place = write(x, x.shape);
    for (std::int64_t s = 0; s < x.shape[0]; ++s)
        for (std::int64_t row = 0; row < x.shape[1]; ++row)
            for (std::int64_t h = 0; h < how.heads; ++h)
                for (std::int64_t i = 0; i < half; ++i) {
                    const std::int64_t first = how.first_column + (neighbours ? 2 * i : i);
                    double& low = in_place(s, row, h, first);
                    double& high = in_place(s, row, h, first + (neighbours ? 1 : half));
                    const double c = cosine(how.first_position + row, i);
                    const double n = direction * sine(how.first_position + row, i), before = low;
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

void Oracle::rope_forward(const Rotary& how, ConstTensorView cosines, ConstTensorView sines,
                          TensorView x) {
    turn(1, how, cosines, sines, x);
}

void Oracle::rope_backward_input(const Rotary& how, ConstTensorView cosines, ConstTensorView sines,
                                 TensorView dx) {
    turn(-1, how, cosines, sines, dx);
}

/// out = softmax(scale q k^T) v over all keys that a query sees, whose row of probabilities is made
/// whole.
void Oracle::attention_forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                               ConstTensorView v, TensorView out, TensorView log_sum) {
    assert(!attention.packed_row && "q, k and v lie by themselves");
    const AttentionSizes all(q.shape, v.shape);
    const auto queries = read(q, all.of_queries());
    const auto keys = read(k, all.of_keys()), values = read(v, all.of_values());
    const auto result = write(out, all.of_results());
    const auto logs = write(log_sum, {all.samples, all.heads, all.queries});
    all.each_query([&](std::int64_t s, std::int64_t h, std::int64_t i) {
        std::vector<double> weights(static_cast<std::size_t>(all.keys));
        double sum = 0;
        for (std::int64_t j = 0; j < all.keys; ++j) {
            if (!sees(attention, i, j)) continue;
            weights[static_cast<std::size_t>(j)] =
                std::exp(score(attention, all, queries, keys, s, h, i, j));
            sum += weights[static_cast<std::size_t>(j)];
        }
        logs(s, h, i) = std::log(sum);
        for (std::int64_t d = 0; d < all.value_dim; ++d) {
            double weighted = 0;
            for (std::int64_t j = 0; j < all.keys; ++j)
                weighted += weights[static_cast<std::size_t>(j)] / sum *
                            kept(attention, s, h, i, j) * values(s, j, all.kv_head(h), d);
            result(s, i, h, d) = weighted;
        }
    });
}

/// With p the probabilities and m what dropout multiplies them by: dv += p m dout, dp = m (dout v),
/// ds = p (dp - dout out), dq = slope ds k, dk += slope ds q, with the slope of the score. Without
/// sinks, dout out is the sum of p dp over the keys.
void Oracle::attention_backward_input(const Attention& attention, ConstTensorView dout,
                                      ConstTensorView q, ConstTensorView k, ConstTensorView v,
                                      ConstTensorView out, ConstTensorView log_sum, TensorView dq,
                                      TensorView dk, TensorView dv) {
    assert(!attention.packed_row && "q, k and v lie by themselves");
    if (attention.key_gradients == Write::Overwrite) {
        fill_zero(dk);
        fill_zero(dv);
    }
    fill_zero(dq);
    const AttentionSizes all(q.shape, v.shape);
    const auto above = read(dout, all.of_results()), result = read(out, all.of_results());
    const auto queries = read(q, all.of_queries());
    const auto keys = read(k, all.of_keys()), values = read(v, all.of_values());
    const auto logs = read(log_sum, {all.samples, all.heads, all.queries});
    const auto dqueries = write(dq, all.of_queries());
    const auto dkeys = write(dk, all.of_keys()), dvalues = write(dv, all.of_values());
    all.each_query([&](std::int64_t s, std::int64_t h, std::int64_t i) {
        const std::int64_t kv = all.kv_head(h);
        double mean = 0;
        for (std::int64_t d = 0; d < all.value_dim; ++d)
            mean += above(s, i, h, d) * result(s, i, h, d);
        for (std::int64_t j = 0; j < all.keys; ++j) {
            if (!sees(attention, i, j)) continue;
            const double scored = score(attention, all, queries, keys, s, h, i, j);
            const double p = std::exp(scored - logs(s, h, i)), mask = kept(attention, s, h, i, j);
            double dp = 0;
            for (std::int64_t d = 0; d < all.value_dim; ++d) {
                dp += mask * above(s, i, h, d) * values(s, j, kv, d);
                dvalues(s, j, kv, d) += p * mask * above(s, i, h, d);
            }
            const double dscore = p * (dp - mean) * score_slope(attention, scored);
            for (std::int64_t d = 0; d < all.head_dim; ++d) {
                dqueries(s, i, h, d) += dscore * keys(s, j, kv, d);
                dkeys(s, j, kv, d) += dscore * queries(s, i, h, d);
            }
        }
    });
}

}  // namespace debubble::exec

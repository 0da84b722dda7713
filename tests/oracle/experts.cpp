#include <vector>

#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

namespace {

struct Row {
    std::int64_t token = 0;
    std::int64_t expert = 0;
};

/// The rows of all experts: one expert's after the other's, each in the order of its tokens.
std::vector<Row> rows_by_expert(const Array<const double>& weights) {
    std::vector<Row> rows;
    for (std::int64_t e = 0; e < weights.extent(1); ++e)
        for (std::int64_t t = 0; t < weights.extent(0); ++t)
            if (weights(t, e) != 0) rows.push_back({t, e});
    return rows;
}

/// weights [tokens, experts].
Array<const double> read_weights(const ConstTensorView& weights) {
    return read(weights, {rows_of(weights), weights.shape.columns()});
}

}  // namespace

void Oracle::first_rows_of_experts(ConstTensorView weights, TensorView first_rows) {
    const View<std::int32_t> first = first_rows.as<std::int32_t>();
    std::ranges::fill(first, 0);
    for (const Row& row : rows_by_expert(read_weights(weights)))
        for (std::int64_t e = row.expert + 1; e < first.size(); ++e) ++first[e];
}

void Oracle::permute_forward(ConstTensorView weights, ConstTensorView x, TensorView rows) {
    const std::int64_t hidden = x.shape.columns();
    const auto in = read(x, {rows_of(x), hidden});
    const auto out = write(rows, {rows_of(rows), hidden});
    std::int64_t r = 0;
    for (const Row& row : rows_by_expert(read_weights(weights))) {
        for (std::int64_t j = 0; j < hidden; ++j) out(r, j) = in(row.token, j);
        ++r;
    }
}

void Oracle::permute_backward_input(ConstTensorView weights, ConstTensorView drows, TensorView dx) {
    const std::int64_t hidden = dx.shape.columns();
    const auto dout = read(drows, {rows_of(drows), hidden});
    const auto din = write(dx, {rows_of(dx), hidden});
    fill_zero(dx);
    std::int64_t r = 0;
    for (const Row& row : rows_by_expert(read_weights(weights))) {
        for (std::int64_t j = 0; j < hidden; ++j) din(row.token, j) += dout(r, j);
        ++r;
    }
}

void Oracle::combine_forward(ConstTensorView weights, ConstTensorView rows, TensorView y) {
    const std::int64_t hidden = y.shape.columns();
    const auto w = read_weights(weights), in = read(rows, {rows_of(rows), hidden});
    const auto out = write(y, {rows_of(y), hidden});
    fill_zero(y);
    std::int64_t r = 0;
    for (const Row& row : rows_by_expert(w)) {
        for (std::int64_t j = 0; j < hidden; ++j)
            out(row.token, j) += w(row.token, row.expert) * in(r, j);
        ++r;
    }
}

void Oracle::combine_backward_input(ConstTensorView weights, ConstTensorView dy,
                                    ConstTensorView rows, TensorView drows, TensorView dweights) {
    const std::int64_t hidden = dy.shape.columns();
    const auto w = read_weights(weights);
    const auto dout = read(dy, {rows_of(dy), hidden});
    const std::vector<Row> all = rows_by_expert(w);
    for (std::int64_t r = 0; drows && r < std::ssize(all); ++r) {
        const auto [token, expert] = all[static_cast<std::size_t>(r)];
        for (std::int64_t j = 0; j < hidden; ++j)
            write(drows, {rows_of(drows), hidden})(r, j) = w(token, expert) * dout(token, j);
    }
    if (!dweights) return;
    const auto in = read(rows, {rows_of(rows), hidden});
    const auto dw = write(dweights, {w.extent(0), w.extent(1)});
    fill_zero(dweights);
    std::int64_t r = 0;
    for (const Row& row : all) {
        for (std::int64_t j = 0; j < hidden; ++j)
            dw(row.token, row.expert) += dout(row.token, j) * in(r, j);
        ++r;
    }
}

}  // namespace debubble::exec

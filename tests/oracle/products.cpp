#include "tests/oracle/array.h"
#include "tests/oracle/oracle.h"

namespace debubble::exec {

namespace {

/// A weight by input and output, whichever of them lie side by side.
template <class T>
struct Weight {
    WeightLayout layout;
    Array<T> elements;
    T& operator()(std::int64_t input, std::int64_t output) const {
        return layout == WeightLayout::InputsOutputs ? elements(input, output)
                                                     : elements(output, input);
    }
};

Shape weight_shape(WeightLayout layout, std::int64_t inputs, std::int64_t outputs) {
    return layout == WeightLayout::InputsOutputs ? Shape{inputs, outputs} : Shape{outputs, inputs};
}

}  // namespace

void Oracle::linear_forward(WeightLayout layout, ConstTensorView x, ConstTensorView weight,
                            ConstTensorView bias, TensorView y) {
    const std::int64_t tokens = rows_of(x), inputs = x.shape.columns();
    const std::int64_t outputs = y.shape.columns();
    const auto in = read(x, {tokens, inputs});
    const Weight<const double> w{layout, read(weight, weight_shape(layout, inputs, outputs))};
    const auto out = write(y, {tokens, outputs});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t o = 0; o < outputs; ++o) {
            double sum = bias ? read(bias, {outputs})(o) : 0;
            for (std::int64_t i = 0; i < inputs; ++i) sum += in(t, i) * w(i, o);
            out(t, o) = sum;
        }
}

void Oracle::linear_backward_input(WeightLayout layout, ConstTensorView dy, ConstTensorView weight,
                                   TensorView dx, Write write_dx) {
    const std::int64_t tokens = rows_of(dy), outputs = dy.shape.columns();
    const std::int64_t inputs = dx.shape.columns();
    const auto dout = read(dy, {tokens, outputs});
    const Weight<const double> w{layout, read(weight, weight_shape(layout, inputs, outputs))};
    const auto din = write(dx, {tokens, inputs});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t i = 0; i < inputs; ++i) {
            double sum = write_dx == Write::Add ? din(t, i) : 0;
            for (std::int64_t o = 0; o < outputs; ++o) sum += dout(t, o) * w(i, o);
            din(t, i) = sum;
        }
}

void Oracle::linear_backward_weight(WeightLayout layout, ConstTensorView x, ConstTensorView dy,
                                    TensorView dweight, TensorView dbias) {
    const std::int64_t tokens = rows_of(x), inputs = x.shape.columns();
    const std::int64_t outputs = dy.shape.columns();
    const auto in = read(x, {tokens, inputs});
    const auto dout = read(dy, {tokens, outputs});
    const Weight<double> dw{layout, write(dweight, weight_shape(layout, inputs, outputs))};
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t i = 0; i < inputs; ++i)
            for (std::int64_t o = 0; o < outputs; ++o) dw(i, o) += in(t, i) * dout(t, o);
    if (dbias) bias_backward_weight(dy, dbias);
}

void Oracle::add_bias(ConstTensorView bias, TensorView y) {
    const std::int64_t tokens = rows_of(y), outputs = y.shape.columns();
    const auto b = read(bias, {outputs});
    const auto out = write(y, {tokens, outputs});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t o = 0; o < outputs; ++o) out(t, o) += b(o);
}

void Oracle::bias_backward_weight(ConstTensorView dy, TensorView dbias) {
    const std::int64_t tokens = rows_of(dy), outputs = dy.shape.columns();
    const auto dout = read(dy, {tokens, outputs});
    const auto db = write(dbias, {outputs});
    for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t o = 0; o < outputs; ++o) db(o) += dout(t, o);
}

void Oracle::token_embedding_forward(ConstTensorView tokens, std::int64_t first_entry,
                                     ConstTensorView table, TensorView y) {
    const auto ids = integers_of(tokens);
    const std::int64_t entries = rows_of(table), hidden = table.shape.columns();
    const auto rows = read(table, {entries, hidden});
    const auto out = write(y, {ids.extent(0), hidden});
    for (std::int64_t t = 0; t < ids.extent(0); ++t) {
        const std::int64_t entry = ids(t) - first_entry;
        const bool here = 0 <= entry && entry < entries;
        for (std::int64_t j = 0; j < hidden; ++j) out(t, j) = here ? rows(entry, j) : 0;
    }
}

void Oracle::token_embedding_backward_weight(ConstTensorView tokens, std::int64_t first_entry,
                                             ConstTensorView dy, TensorView dtable) {
    const auto ids = integers_of(tokens);
    const std::int64_t entries = rows_of(dtable), hidden = dtable.shape.columns();
    const auto dout = read(dy, {ids.extent(0), hidden});
    const auto drows = write(dtable, {entries, hidden});
    for (std::int64_t t = 0; t < ids.extent(0); ++t) {
        const std::int64_t entry = ids(t) - first_entry;
        if (entry < 0 || entry >= entries) continue;
        for (std::int64_t j = 0; j < hidden; ++j) drows(entry, j) += dout(t, j);
    }
}

}  // namespace debubble::exec

#include "exec/core/kernels.h"

#include "base/check.h"

/// Operators that are composed of others where a back end has no faster one.
namespace debubble::exec {

namespace {

/// `count` elements from `first` on.
ConstTensorView piece(const ConstTensorView& x, std::int64_t first, std::int64_t count) {
    return {x.data + first * size_of(x.type), {count}, x.type};
}
TensorView piece(const TensorView& x, std::int64_t first, std::int64_t count) {
    return {x.data + first * size_of(x.type), {count}, x.type};
}

/// Calls body(first row, rows, expert) for each expert that has rows.
template <class Body>
void each_expert(std::span<const std::int64_t> first_rows, const Body& body) {
    for (std::size_t expert = 0; expert + 1 < first_rows.size(); ++expert)
        if (const std::int64_t count = first_rows[expert + 1] - first_rows[expert]; count > 0)
            body(first_rows[expert], count, static_cast<std::int64_t>(expert));
}

/// Rows [first, first + count) of x [rows, columns].
template <class AnyView>
AnyView rows_of(const AnyView& x, std::int64_t first, std::int64_t count) {
    const std::int64_t columns = x.shape.columns();
    return {x.data + first * columns * size_of(x.type), {count, columns}, x.type};
}

/// The weight of one expert, [outputs, inputs], where those of all experts are contiguous.
template <class AnyView>
AnyView weight_of(const AnyView& weights, std::int64_t expert, std::int64_t outputs,
                  std::int64_t inputs) {
    return {weights.data + expert * outputs * inputs * size_of(weights.type),
            {outputs, inputs},
            weights.type};
}

/// Prepares dx as the start of a norm's gradient; returns whether there is something to add to.
Write begin_gradient(Kernels& kernels, const ConstTensorView& through, const TensorView& dx) {
    if (!through) return Write::Overwrite;
    if (through.data != dx.data) kernels.copy(through, dx);
    return Write::Add;
}

}  // namespace

void Kernels::copy_blocks(const Blocks& blocks, ConstTensorView from, TensorView to) {
    DEBUBBLE_CHECK(from.type == to.type, "blocks keep their type");
    const std::int64_t bytes = size_of(from.type);
    const Shape each{blocks.rows, blocks.width};
    for (std::int64_t i = 0; i < blocks.count; ++i)
        copy({from.data + i * blocks.from_stride * bytes, each, from.type},
             {to.data + i * blocks.to_stride * bytes, each, to.type});
}

void Kernels::position_embedding_forward(std::int64_t first_position, ConstTensorView x,
                                         ConstTensorView table, TensorView y) {
    DEBUBBLE_CHECK(x.shape.rank() == 3, "x, y [samples, rows, hidden]");
    DEBUBBLE_CHECK((first_position + x.shape[1]) * x.shape[2] <= table.shape.elements(),
                   "the table has all positions");
    const std::int64_t size = x.shape[1] * x.shape[2];
    const ConstTensorView positions = piece(table, first_position * x.shape[2], size);
    for (std::int64_t sample = 0; sample < x.shape[0]; ++sample)
        residual_forward(piece(x, sample * size, size), positions, piece(y, sample * size, size));
}

void Kernels::position_embedding_backward_weight(std::int64_t first_position, ConstTensorView dy,
                                                 TensorView dtable) {
    DEBUBBLE_CHECK(dy.shape.rank() == 3, "dy [samples, rows, hidden]");
    DEBUBBLE_CHECK((first_position + dy.shape[1]) * dy.shape[2] <= dtable.shape.elements(),
                   "the table has all positions");
    const std::int64_t size = dy.shape[1] * dy.shape[2];
    const TensorView positions = piece(dtable, first_position * dy.shape[2], size);
    for (std::int64_t sample = 0; sample < dy.shape[0]; ++sample)
        add(piece(dy, sample * size, size), positions);
}

void Kernels::experts_forward(std::span<const std::int64_t> first_rows, ConstTensorView x,
                              ConstTensorView weights, TensorView y) {
    const std::int64_t inputs = x.shape.columns(), outputs = y.shape.columns();
    each_expert(first_rows, [&](std::int64_t first, std::int64_t count, std::int64_t expert) {
        linear_forward(WeightLayout::OutputsInputs, rows_of(x, first, count),
                       weight_of(weights, expert, outputs, inputs), {}, rows_of(y, first, count));
    });
}

void Kernels::experts_backward_input(std::span<const std::int64_t> first_rows, ConstTensorView dy,
                                     ConstTensorView weights, TensorView dx) {
    const std::int64_t inputs = dx.shape.columns(), outputs = dy.shape.columns();
    each_expert(first_rows, [&](std::int64_t first, std::int64_t count, std::int64_t expert) {
        linear_backward_input(WeightLayout::OutputsInputs, rows_of(dy, first, count),
                              weight_of(weights, expert, outputs, inputs),
                              rows_of(dx, first, count), Write::Overwrite);
    });
}

void Kernels::experts_backward_weight(std::span<const std::int64_t> first_rows, ConstTensorView x,
                                      ConstTensorView dy, TensorView dweights) {
    const std::int64_t inputs = x.shape.columns(), outputs = dy.shape.columns();
    each_expert(first_rows, [&](std::int64_t first, std::int64_t count, std::int64_t expert) {
        linear_backward_weight(WeightLayout::OutputsInputs, rows_of(x, first, count),
                               rows_of(dy, first, count),
                               weight_of(dweights, expert, outputs, inputs), {});
    });
}

void Kernels::linear_activation_forward(WeightLayout layout, Nonlinearity kind, ConstTensorView x,
                                        ConstTensorView weight, ConstTensorView bias,
                                        TensorView wide, TensorView y) {
    linear_forward(layout, x, weight, bias, wide);
    activation_forward(kind, wide, y);
}

void Kernels::linear_activation_backward_input(WeightLayout layout, Nonlinearity kind,
                                               ConstTensorView dy, ConstTensorView weight,
                                               ConstTensorView wide, TensorView dwide) {
    linear_backward_input(layout, dy, weight, dwide, Write::Overwrite);
    activation_backward_input(kind, dwide, wide, dwide);
}

void Kernels::residual_layer_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                          ConstTensorView weight, ConstTensorView bias,
                                          TensorView sum, TensorView y, TensorView statistics) {
    residual_forward(x, branch, sum);
    layer_norm_forward(eps, sum, weight, bias, y, statistics);
}

void Kernels::residual_rms_norm_forward(double eps, ConstTensorView x, ConstTensorView branch,
                                        ConstTensorView weight, TensorView sum, TensorView y,
                                        TensorView statistics) {
    residual_forward(x, branch, sum);
    rms_norm_forward(eps, sum, weight, y, statistics);
}

void Kernels::layer_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                  ConstTensorView statistics, ConstTensorView through,
                                  TensorView dx, TensorView dweight, TensorView dbias) {
    layer_norm_backward_weight(dy, x, statistics, dweight, dbias);
    layer_norm_backward_input(dy, x, weight, statistics, dx, begin_gradient(*this, through, dx));
}

void Kernels::rms_norm_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                ConstTensorView statistics, ConstTensorView through, TensorView dx,
                                TensorView dweight) {
    rms_norm_backward_weight(dy, x, statistics, dweight);
    rms_norm_backward_input(dy, x, weight, statistics, dx, begin_gradient(*this, through, dx));
}

}  // namespace debubble::exec

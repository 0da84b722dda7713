#include "models/graph_builder.h"

namespace debubble::models {

namespace {

using Kind = Collective::Kind;

/// Bytes that adding one weight's gradient into the main gradient costs beyond the
/// product itself: a fused product reads and writes the main gradient instead of
/// writing its result; an unfused one is read again and added.
std::int64_t accumulation_bytes(const Execution& how) {
    const std::int64_t gradient = size_of(how.gradients);
    const std::int64_t element = size_of(how.compute);
    return how.kernels.gradient_accumulation_fusion ? 2 * gradient - element
                                                    : element + 2 * gradient;
}

struct LinearBuilder {
    GraphBuilder& builder;
    const OperatorPlace& place;
    const LinearShape& shape;
    Value x;
    Value y;
    Operator op;

    std::int64_t tokens() const { return shape.rows.value_or(builder.size.tokens); }
    bool gathers_input() const {
        return builder.size.scattered &&
               (shape.sharding == Sharding::Column || shape.sharding == Sharding::Vocabulary);
    }
    bool cuts_outputs() const {
        return shape.sharding == Sharding::Column || shape.sharding == Sharding::Vocabulary;
    }
    bool scatters_output() const {
        return builder.size.scattered && shape.sharding == Sharding::Row;
    }
    std::int64_t input_bytes() const {
        return builder.size.element * shape.products * tokens() * shape.inputs;
    }
    std::int64_t output_bytes() const {
        return builder.size.element * shape.products * tokens() * shape.outputs;
    }
    std::vector<Kernel> communicate(const char* suffix, Kind kind, std::int64_t bytes) const {
        return collective(builder, place.kernel + suffix, place.layer, kind, bytes);
    }

    void gather_into(std::vector<int>& uses, const char* suffix) {
        if (shape.own_gather_buffer && !keeps_gathered()) return;
        uses.push_back(builder.scratch(place.kernel + suffix, input_bytes()));
    }
    bool keeps_gathered() const { return gathers_input() && builder.how().kernels.keeps_gathered; }

    void forward() {
        op.saved = {x.tensor};
        op.forward_uses = {x.tensor};
        if (gathers_input()) {
            gather_into(op.forward_uses, ".gathered");
            if (keeps_gathered()) op.saved = {op.forward_uses.back()};
            append(op.forward, communicate(".gather", Kind::AllGather, input_bytes()));
        }
        op.forward.push_back(gemm(builder, place.kernel, place.layer,
                                  {shape.products, tokens(), shape.outputs, shape.inputs, {}}));
        if (scatters_output()) {
            op.forward_uses.push_back(builder.scratch(place.kernel + ".partial", output_bytes()));
            append(op.forward, communicate(".scatter", Kind::ReduceScatter, output_bytes()));
        } else if (shape.sharding == Sharding::Row) {
            append(op.forward, communicate(".reduce", Kind::AllReduce, output_bytes()));
        }
        op.forward_uses.push_back(y.tensor);
    }

    /// `dy`: the output gradient, gathered where sequence parallelism scattered it.
    void backward_input(int dy) {
        op.backward_input_uses = {y.gradient};
        if (dy != y.gradient) {
            op.backward_input_uses.push_back(dy);
            append(op.backward_input, communicate(".dy.gather", Kind::AllGather, output_bytes()));
        }
        if (!shape.input_gradient) return;
        op.backward_input.push_back(
            gemm(builder, place.kernel + ".dx", place.layer,
                 {shape.products, tokens(), shape.inputs, shape.outputs, {}}));
        if (gathers_input()) {
            op.backward_input_uses.push_back(
                builder.scratch("d." + place.kernel + ".partial", input_bytes()));
            append(op.backward_input,
                   communicate(".dx.scatter", Kind::ReduceScatter, input_bytes()));
        } else if (cuts_outputs()) {
            append(op.backward_input, communicate(".dx.reduce", Kind::AllReduce, input_bytes()));
        }
        op.backward_input_uses.push_back(x.gradient);
    }

    void backward_weight(int dy) {
        op.backward_weight_uses = {op.saved[0], dy};
        if (gathers_input() && !keeps_gathered()) {
            gather_into(op.backward_weight_uses, ".regathered");
            append(op.backward_weight, communicate(".dw.gather", Kind::AllGather, input_bytes()));
        }
        const std::int64_t weights = shape.products * shape.inputs * shape.outputs;
        const std::int64_t extra = weights * accumulation_bytes(builder.how());
        Gemm product{shape.products, shape.inputs, shape.outputs, tokens(), {}};
        if (builder.how().kernels.gradient_accumulation_fusion) product.accumulated = Bytes{extra};
        op.backward_weight.push_back(gemm(builder, place.kernel + ".dw", place.layer, product));
        if (!builder.how().kernels.gradient_accumulation_fusion) {
            const std::int64_t written = weights * size_of(builder.how().gradients);
            op.backward_weight_uses.push_back(
                builder.scratch("d." + place.kernel + ".weight", builder.size.element * weights));
            op.backward_weight.push_back(
                moves(place.kernel + ".dw.accumulate", place.layer, extra - written, written));
        }
        if (shape.bias) {
            op.backward_weight.push_back(
                moves(place.kernel + ".db", place.layer, output_bytes(), 0));
        }
    }
};

}  // namespace

Value linear(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
             std::vector<int> parameters, Value x, std::optional<int> output_gradient) {
    const OperatorPlace input{place.name, place.kernel + ".in", place.layer};
    x = shape.sharding == Sharding::Row ? sliced(builder, input, x) : gathered(builder, input, x);
    LinearBuilder part{builder, place, shape, x, {}, start(place, OperatorKind::Linear)};
    const std::int64_t bytes =
        part.scatters_output() ? part.output_bytes() / builder.size.tensor : part.output_bytes();
    part.y.tensor = builder.tensor(place.kernel + ".out", bytes);
    part.y.gradient =
        output_gradient ? *output_gradient : builder.tensor("d." + place.kernel + ".out", bytes);
    part.y.cut = part.cuts_outputs() && builder.size.tensor > 1;
    part.op.inputs = {x.tensor};
    part.op.outputs = {part.y.tensor};
    part.op.output_gradient = part.y.gradient;
    if (shape.input_gradient) part.op.input_gradient = x.gradient;
    part.op.parameters = std::move(parameters);
    const int dy = part.scatters_output()
                       ? builder.tensor("d." + place.kernel + ".gathered", part.output_bytes())
                       : part.y.gradient;
    part.forward();
    part.backward_input(dy);
    part.backward_weight(dy);
    builder.graph.operators.push_back(std::move(part.op));
    return part.y;
}

Value linear_to_stream(GraphBuilder& builder, const OperatorPlace& place, const LinearShape& shape,
                       std::vector<int> parameters, Value x, int output_gradient) {
    if (shape.sharding != Sharding::Column || builder.size.tensor == 1) {
        return linear(builder, place, shape, std::move(parameters), x, output_gradient);
    }
    const Value y = linear(builder, place, shape, std::move(parameters), x);
    return gathered(builder, {place.name, place.kernel + ".out", place.layer}, y, output_gradient);
}

}  // namespace debubble::models

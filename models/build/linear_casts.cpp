#include "models/build/linear_casts.h"

#include <fmt/format.h>

namespace debubble::models {

LinearCasts::LinearCasts(GraphBuilder& graph_builder, const OperatorPlace& of,
                         const LinearShape& linear, int input, std::int64_t rows, bool gathers,
                         bool scatters)
    : builder(graph_builder),
      place(of),
      shape(linear),
      x(input),
      tokens(rows),
      gathers_x(gathers),
      scatters_y(scatters),
      how(graph_builder.how().low_precision),
      rule(cast_rule(how)) {}

std::int64_t LinearCasts::inputs() const {
    return shape.products * tokens * shape.inputs / (gathers_x ? builder.size.tensor : 1);
}

std::int64_t LinearCasts::outputs() const {
    return shape.products * tokens * shape.outputs / (scatters_y ? builder.size.tensor : 1);
}

void LinearCasts::check_widths() const {
    const std::int64_t multiple = width_multiple(how.recipe);
    const auto check = [&](std::int64_t size, const char* what) {
        if (size % multiple != 0)
            builder.refuse(fmt::format(
                "the GEMM {} of layer {} has {} {} on each rank, and {} needs multiples of {}",
                place.kernel, place.layer.value_or(0), size, what, name_of(how.recipe), multiple));
    };
    check(tokens, "rows");
    check(shape.inputs, "inputs");
    check(shape.outputs, "outputs");
}

Kernel LinearCasts::casts(const std::string& name, std::int64_t elements, int copies) const {
    Kernel kernel =
        moves(name, place.layer, builder.size.element * elements, copies * bytes(elements));
    std::get<Traffic>(kernel.work).pace = rule.pace;
    if (!builder.how().kernels.fused_experts)
        std::get<Traffic>(kernel.work).launches = shape.products;
    return kernel;
}

/// The pass over a tensor for its largest value. Ranks that gather the tensor agree on one scale,
/// unless each block has its own.
void LinearCasts::find_largest(std::vector<Kernel>& kernels, const std::string& name,
                               std::int64_t elements, bool gathered) const {
    Kernel pass = moves(name, place.layer, builder.size.element * elements, 0);
    std::get<Traffic>(pass.work).pace = amax_pace();
    kernels.push_back(std::move(pass));
    constexpr std::int64_t kScale = 4;
    if (gathered && how.recipe != Recipe::Fp8Rowwise)
        append(kernels, collective(builder, name + ".reduce", place.layer,
                                   Collective::Kind::AllReduce, kScale));
}

Kernel LinearCasts::transposes(const char* suffix, std::int64_t elements) const {
    Kernel kernel = moves(place.kernel + suffix, place.layer, bytes(elements), bytes(elements));
    std::get<Traffic>(kernel.work).pace = rule.pace;
    return kernel;
}

/// Weights are cast once per step (static, see weight_bytes), unless nothing keeps the casts.
void LinearCasts::cast_weight(Operator& op, bool backward) {
    if (how.keeps_casts || how.narrow_parameters) return;
    const std::int64_t elements = shape.products * shape.inputs * shape.outputs;
    const std::string name = place.kernel + (backward ? ".weight.recast" : ".weight.cast");
    std::vector<Kernel>& kernels = backward ? op.backward_input : op.forward;
    if (rule.reads_twice) find_largest(kernels, name + ".amax", elements, false);
    kernels.push_back(casts(name, elements, 1));
    (backward ? roles.weight_again : roles.weight) = builder.scratch(name, bytes(elements));
    (backward ? op.backward_input_uses : op.forward_uses)
        .push_back(backward ? *roles.weight_again : *roles.weight);
}

void LinearCasts::forward(Operator& op) {
    const std::int64_t elements = inputs();
    const std::string name = place.kernel + ".cast";
    // LayerNormLinear's norm finds the largest value, and with a delayed scale writes the copy.
    const bool fused = shape.after_norm && how.keeps_casts;
    const bool by_norm = fused && how.recipe == Recipe::Fp8Delayed;
    // A copy that will be gathered is transposed afterwards.
    const bool later = rule.second_is_transpose && gathers_x;
    const bool both = rule.copies == 2 && !keeps_x() && !later;
    if (rule.reads_twice && !(fused && how.recipe == Recipe::Fp8Current))
        find_largest(op.forward, name + ".amax", elements, gathers_x);
    if (by_norm && both)
        op.forward.push_back(transposes(".cast.transpose", elements));
    else if (!by_norm && !shape.cast_before)
        op.forward.push_back(casts(name, elements, both ? 2 : 1));
    const bool one_is_kept = !keeps_x() && !both;
    const auto make = [&](bool kept, const std::string& of) {
        return kept ? builder.tensor(of, bytes(elements)) : builder.scratch(of, bytes(elements));
    };
    roles.x_rows = roles.x_columns = make(one_is_kept, name);
    op.forward_uses.push_back(roles.x_rows);
    if (both) {
        roles.x_columns = make(true, name + ".columns");
        op.forward_uses.push_back(roles.x_columns);
    }
    if (!keeps_x())
        op.saved = {roles.x_columns};
    else if (keeps_copy())
        op.saved = {*shape.kept_copy};
    cast_weight(op, false);
}

void LinearCasts::backward_input(Operator& op, int y_gradient) {
    cast_weight(op, true);
    const std::int64_t elements = outputs();
    const std::int64_t whole = shape.products * tokens * shape.outputs;
    const std::string name = "d." + place.kernel + ".cast";
    const bool later = rule.second_is_transpose && scatters_y;
    const bool both = rule.copies == 2 && !later;
    if (rule.reads_twice)
        find_largest(op.backward_input, place.kernel + ".dy.amax", elements, scatters_y);
    if (!shape.gradient_cast_before)
        op.backward_input.push_back(casts(place.kernel + ".dy.cast", elements, both ? 2 : 1));
    const auto make = [&](const std::string& of, std::int64_t count) {
        op.backward_input_uses.push_back(builder.scratch(of, bytes(count)));
        return op.backward_input_uses.back();
    };
    roles.y_gradient = y_gradient;
    roles.y_gradient_rows = roles.y_gradient_columns = make(name, elements);
    if (both) roles.y_gradient_columns = make(name + ".columns", elements);
    if (scatters_y) {
        const auto gather = [&](const char* suffix, Collective::Pieces pieces) {
            std::vector<Kernel> made = collective(builder, place.kernel + suffix, place.layer,
                                                  Collective::Kind::AllGather, bytes(whole));
            for (Kernel& kernel : made) std::get<Collective>(kernel.work).pieces = pieces;
            append(op.backward_input, std::move(made));
            add_pieces(builder, op.backward_input_uses, "d." + place.kernel + suffix, bytes(whole),
                       shape.sharding != Sharding::Vocabulary);
            return make("d." + place.kernel + suffix, whole);
        };
        using Pieces = Collective::Pieces;
        if (both) roles.gathered_columns = gather(".dy.gather.columns", Pieces::None);
        roles.gathered_rows = gather(".dy.gather", Pieces::OfNext);
        if (!both) roles.gathered_columns = roles.gathered_rows;
    }
}

void LinearCasts::backward_weight_begins(Operator& op, bool keeps_gathered) {
    op.backward_weight_uses.push_back(roles.gathered_columns.value_or(roles.y_gradient_columns));
    if (keeps_gathered) return;
    if (!keeps_x()) {
        op.backward_weight_uses.push_back(roles.x_columns);
        return;
    }
    const std::string name = place.kernel + ".recast";
    if (rule.reads_twice) find_largest(op.backward_weight, name + ".amax", inputs(), gathers_x);
    op.backward_weight.push_back(casts(name, inputs(), 1));
    roles.x_again = builder.scratch(name, bytes(inputs()));
    const int kept = keeps_copy() ? *shape.kept_copy : x;
    if (keeps_copy())
        std::get<Traffic>(op.backward_weight.back().work).read = builder.graph.tensors[kept].bytes;
    op.backward_weight_uses.push_back(kept);
    op.backward_weight_uses.push_back(*roles.x_again);
}

void LinearCasts::backward_weight_reads(Operator& op) {
    if (!rule.second_is_transpose) return;
    if (scatters_y) {
        const std::int64_t whole = shape.products * tokens * shape.outputs;
        op.backward_weight.push_back(transposes(".dy.transpose", whole));
        roles.y_gradient_transposed =
            builder.scratch("d." + place.kernel + ".cast.transposed", bytes(whole));
        op.backward_weight_uses.push_back(*roles.y_gradient_transposed);
    }
    if (!gathers_x) return;
    const std::int64_t whole = shape.products * tokens * shape.inputs;
    op.backward_weight.push_back(transposes(".dw.transpose", whole));
    roles.x_transposed = builder.scratch(place.kernel + ".transposed", bytes(whole));
    op.backward_weight_uses.push_back(*roles.x_transposed);
}

void LinearCasts::backward_bias(Operator& op, int y_gradient) const {
    if (how.keeps_casts && (how.recipe == Recipe::Fp8Delayed || how.recipe == Recipe::MxFp8))
        return;
    op.backward_weight.push_back(
        moves(place.kernel + ".db", place.layer, builder.size.element * outputs(), 0));
    op.backward_weight_uses.push_back(y_gradient);
}

}  // namespace debubble::models

#include "models/build/recurrent/recurrent.h"
#include "models/execution/laws.h"

/// Mamba-1 (Gu and Dao 2023, arXiv:2312.00752) as transformers runs it (modeling_jamba.py): a
/// product into values and gate, a convolution, a product into the narrow value of the steps, B and
/// C, with norms in Jamba (arXiv:2403.19887), a product into a step for each column, and
/// mamba_ssm's scan with its gate, which keeps its result before the gate and the states at every
/// 2,048 tokens. Tensor parallelism cuts columns; the narrow value is a sum over the ranks, and
/// whole on each.
namespace debubble::models {

namespace {

using PlannedKind = op::Planned::Kind;

constexpr std::int64_t kKept = 2048;  ///< tokens between states that the scan keeps

struct Selective {
    GraphBuilder& builder;
    const LayerNames& names;
    const Mamba& whole;
    Recurrence rank = recurrence(builder, kKept);
    std::int64_t width = share(builder, rank, whole.inner(), "columns of a state-space layer");

    std::string name(const char* parameter) const {
        return names.prefix + names.attention + parameter;
    }
    OperatorPlace at(const char* operation, const char* kernel) const {
        return {name(operation), kernel, builder.layer_index};
    }
    std::int64_t bytes(std::int64_t columns) const {
        return builder.size.element * rank.tokens() * columns;
    }
    Value value(const std::string& kernel, std::int64_t columns, bool cut) const {
        return {builder.tensor(kernel + ".out", bytes(columns)),
                builder.tensor("d." + kernel + ".out", bytes(columns)), cut};
    }
    Kernel copies(const char* kernel, std::int64_t read, std::int64_t written) const {
        return moves(kernel, builder.layer_index, bytes(read), bytes(written));
    }
    Kernel product(const char* kernel, std::int64_t m, std::int64_t n, std::int64_t k) const {
        return gemm(builder, kernel, builder.layer_index, {1, m, n, k, {}});
    }
    int gain(const char* parameter, std::int64_t columns) const {
        return builder.whole_parameter(name(parameter) + ".weight", {columns}, Initial::Ones);
    }
    Value convolved(Value projected) const;
    Value narrow(Value convolved) const;
    Value normed(Value narrow) const;
    Value steps(Value narrow) const;
    Value scanned(Value convolved, Value projected, Value steps, Value narrow) const;
};

Value Selective::convolved(Value projected) const {
    const Value y = value("ssm.conv", width, projected.cut);
    PlannedParts parts{PlannedKind::Copy, {projected}, {y}};
    parts.parameters = {
        cut_by_heads(builder, name(".conv1d.weight"), {whole.inner(), 1, whole.convolution})};
    if (whole.convolution_bias)
        parts.parameters.push_back(
            cut_by_heads(builder, name(".conv1d.bias"), {whole.inner()}, Initial::Zeros));
    parts.saved = {projected.tensor};
    parts.forward = {copies("ssm.conv", width, width)};
    parts.backward = {copies("ssm.conv.dx", 2 * width, width), copies("ssm.conv.dw", 2 * width, 0)};
    add_planned(builder, at(".conv1d", "ssm.conv"), std::move(parts));
    return y;
}

/// Each rank has the part of its columns, and the sum of all is whole on every rank.
Value Selective::narrow(Value convolved) const {
    const std::int64_t columns = whole.narrow();
    const Value y = value("ssm.narrow", columns, false);
    const std::string weight = name(".x_proj.weight");
    PlannedParts parts{PlannedKind::Copy, {convolved}, {y}};
    parts.parameters = {builder.parameter({weight,
                                           {columns, whole.inner()},
                                           builder.sharding_of(weight, {Sharding::Row}),
                                           1,
                                           1,
                                           {}})};
    parts.saved = {convolved.tensor};
    parts.forward = {product("ssm.narrow", rank.tokens(), columns, width)};
    append(parts.forward, collective(builder, "ssm.narrow.reduce", builder.layer_index,
                                     Collective::Kind::AllReduce, bytes(columns)));
    parts.backward = collective(builder, "ssm.narrow.reduce.dx", builder.layer_index,
                                Collective::Kind::AllReduce, bytes(columns));
    append(parts.backward, {product("ssm.narrow.dx", rank.tokens(), width, columns),
                            product("ssm.narrow.dw", columns, width, rank.tokens())});
    add_planned(builder, at(".x_proj", "ssm.narrow"), std::move(parts));
    return y;
}

Value Selective::normed(Value narrow) const {
    const std::int64_t columns = whole.narrow();
    const Value y = value("ssm.norms", columns, false);
    PlannedParts parts{PlannedKind::ScaleNorm, {narrow}, {y}};
    parts.parameters = {gain(".dt_layernorm", *whole.step_rank), gain(".b_layernorm", whole.state),
                        gain(".c_layernorm", whole.state)};
    parts.saved = {narrow.tensor, builder.tensor("ssm.norms.statistics", 3 * 4 * rank.tokens())};
    parts.forward = {copies("ssm.norms", columns, columns)};
    parts.backward = {copies("ssm.norms.dx", 2 * columns, columns),
                      copies("ssm.norms.dw", 2 * columns, 0)};
    add_planned(builder, at(".norms", "ssm.norms"), std::move(parts));
    return y;
}

/// The bias of the steps is added by the scan.
Value Selective::steps(Value narrow) const {
    const Value y = value("ssm.steps", width, builder.size.tensor > 1);
    const std::int64_t inputs = *whole.step_rank;
    PlannedParts parts{PlannedKind::Copy, {narrow}, {y}};
    parts.parameters = {cut_by_heads(builder, name(".dt_proj.weight"), {whole.inner(), inputs})};
    parts.saved = {narrow.tensor};
    parts.forward = {product("ssm.steps", rank.tokens(), width, inputs)};
    parts.backward = {product("ssm.steps.dx", rank.tokens(), inputs, width),
                      product("ssm.steps.dw", width, inputs, rank.tokens())};
    add_planned(builder, at(".dt_proj", "ssm.steps"), std::move(parts));
    return y;
}

/// It reads values, steps and gate, and writes the result before and after the gate.
Value Selective::scanned(Value convolved, Value projected, Value steps, Value narrow) const {
    const Value y = value("ssm.scan", width, builder.size.tensor > 1);
    PlannedParts parts{PlannedKind::SelectiveScan, {convolved, projected, steps, narrow}, {y}};
    const std::int64_t both = 2 * whole.state;
    parts.parameters = {
        cut_by_heads(builder, name(".dt_proj.bias"), {whole.inner()}, Initial::Zeros),
        cut_by_heads(builder, name(".A_log"), {whole.inner(), whole.state}, Initial::Ones),
        cut_by_heads(builder, name(".D"), {whole.inner()}, Initial::Ones)};
    parts.saved = {convolved.tensor,
                   projected.tensor,
                   steps.tensor,
                   narrow.tensor,
                   builder.tensor("ssm.scan.ungated", bytes(width)),
                   builder.tensor("ssm.scan.states", 4 * rank.chunks() * width * both)};
    parts.scratch_back = {builder.scratch("d.ssm.scan.b_c", 4 * rank.tokens() * both)};
    parts.forward = {copies("ssm.scan", 3 * width + both, 2 * width)};
    parts.backward = {copies("ssm.scan.dx", 5 * width + both, 3 * width + both)};
    // An exponential for every state, and in the backward once more.
    const auto exponentials = static_cast<double>(rank.tokens() * width * whole.state);
    std::get<Traffic>(parts.forward.front().work).busy = exponentials / laws().exponentials;
    std::get<Traffic>(parts.backward.front().work).busy = 2 * exponentials / laws().exponentials;
    add_planned(builder, at("", "ssm.scan"), std::move(parts));
    return y;
}

}  // namespace

Value selective_context(GraphBuilder& builder, const LayerNames& names, const Mamba& mamba,
                        Value normed) {
    if (builder.how().context > 1)
        builder.refuse("Mamba-1 does not support context parallelism: parallel.context must be 1");
    const Selective layer{builder, names, mamba};
    const std::int64_t hidden = builder.size.hidden;
    const int weight =
        cut_by_heads(builder, layer.name(".in_proj.weight"), {mamba.projected(), hidden});
    const Value projected =
        linear(builder, layer.at(".in_proj", "ssm.in"), {hidden, 2 * layer.width, Sharding::Column},
               {{weight}, {}}, normed);
    const Value convolved = layer.convolved(projected);
    Value narrow = layer.narrow(convolved);
    if (mamba.step_norms) narrow = layer.normed(narrow);
    return layer.scanned(convolved, projected, layer.steps(narrow), narrow);
}

}  // namespace debubble::models

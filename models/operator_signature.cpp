#include "models/operator_signature.h"

#include <span>

#include <fmt/format.h>

#include "base/overloaded.h"

namespace debubble::models {

namespace {

std::string_view word(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::TokenEmbedding: return "token_embedding";
        case OperatorKind::PositionEmbedding: return "position_embedding";
        case OperatorKind::PatchEmbedding: return "patch_embedding";
        case OperatorKind::Norm: return "norm";
        case OperatorKind::Linear: return "linear";
        case OperatorKind::Rope: return "rope";
        case OperatorKind::SplitHeads: return "split_heads";
        case OperatorKind::Attention: return "attention";
        case OperatorKind::Activation: return "activation";
        case OperatorKind::Residual: return "residual";
        case OperatorKind::Gather: return "gather";
        case OperatorKind::Router: return "router";
        case OperatorKind::Dispatch: return "dispatch";
        case OperatorKind::Combine: return "combine";
        case OperatorKind::Loss: return "loss";
    }
    return "";
}

std::string_view word(DataType type) {
    switch (type) {
        case DataType::Fp32: return "fp32";
        case DataType::Fp16: return "fp16";
        case DataType::Bf16: return "bf16";
    }
    return "";
}

std::string_view word(Collective::Kind kind) {
    switch (kind) {
        case Collective::Kind::AllReduce: return "all_reduce";
        case Collective::Kind::AllGather: return "all_gather";
        case Collective::Kind::ReduceScatter: return "reduce_scatter";
        case Collective::Kind::AllToAll: return "all_to_all";
    }
    return "";
}

int members(const Execution& how, Collective::Group group) {
    switch (group) {
        case Collective::Group::Tensor: return how.tensor;
        case Collective::Group::Expert: return how.expert;
        case Collective::Group::ExpertTensor: return how.expert_tensor;
        case Collective::Group::Context:
        case Collective::Group::Data: break;
    }
    return how.context;
}

std::string text_of(const Kernel& kernel, const Execution& how) {
    return std::visit(
        Overloaded{
            [](const Gemm& g) { return fmt::format(" gemm {}x{}x{}x{}", g.batch, g.m, g.n, g.k); },
            [](const FlashAttention& a) {
                return fmt::format(" attention {}x{}/{}x{}x{}x{}{}", a.batch, a.heads, a.kv_heads,
                                   a.queries, a.keys, a.head_dim, a.causal ? " causal" : "");
            },
            [](const Traffic& t) {
                return fmt::format(" moves {}+{}", t.read.count, t.written.count);
            },
            [&](const Collective& c) {
                return fmt::format(" {} {} of {}{}", word(c.kind), c.bytes.count,
                                   members(how, c.group),
                                   c.count > 1 ? fmt::format(" x{}", c.count) : "");
            }},
        kernel.work);
}

std::string shape_of(const Parameter& parameter, const Execution& how) {
    std::string text;
    for (const std::int64_t extent : parameter.shape)
        text += fmt::format("{}{}", text.empty() ? "" : "x", extent);
    const std::int64_t mine = parameter.elements_of_rank(how);
    if (mine != parameter.elements()) text += fmt::format("({})", mine);
    return text;
}

/// "96x64+32x64"; of experts, which may be many, equal ones are counted: "16*96x64".
std::string shapes_of(const StageGraph& graph, const Operator& op) {
    std::string text;
    for (std::size_t i = 0, next = 0; i < op.parameters.size(); i = next) {
        const Parameter& first = graph.parameters[op.parameters[i]];
        const std::string shape = shape_of(first, graph.execution);
        for (next = i + 1; first.expert && next < op.parameters.size(); ++next)
            if (shape_of(graph.parameters[op.parameters[next]], graph.execution) != shape) break;
        text += fmt::format("{}{}{}", i > 0 ? "+" : "",
                            next - i > 1 ? fmt::format("{}*", next - i) : "", shape);
    }
    return text;
}

/// Where the kernels' extents do not say what the code does.
std::string variant_of(const StageGraph& graph, const Operator& op) {
    const Execution& how = graph.execution;
    std::string text;
    if (op.kind == OperatorKind::Norm)
        text += graph.architecture.norm == Norm::RmsNorm ? " rms" : " layer";
    if (op.kind == OperatorKind::Activation) {
        constexpr std::string_view kNames[] = {" gelu", " gelu_tanh", " relu", " swiglu"};
        text += kNames[static_cast<std::size_t>(graph.architecture.activation)];
    }
    if (op.kind == OperatorKind::Router || op.kind == OperatorKind::Dispatch ||
        op.kind == OperatorKind::Combine)
        text += fmt::format(" {} of {}", graph.architecture.experts_per_token,
                            graph.architecture.experts);
    if (op.kind == OperatorKind::Dispatch && op.inputs.size() > 1) text += " permute";
    const bool drops =
        op.kind == OperatorKind::Residual || op.kind == OperatorKind::PositionEmbedding
            ? how.hidden_dropout
            : op.kind == OperatorKind::Attention && how.attention_dropout;
    if (drops) text += " dropout";
    if (op.through >= 0) text += op.through == op.input_gradient ? " through" : " through_copy";
    return text;
}

}  // namespace

std::string signature_of(const StageGraph& graph, const Operator& op) {
    const Execution& how = graph.execution;
    std::string text = fmt::format("{} {}/{}{}", word(op.kind), word(how.compute),
                                   word(how.gradients), variant_of(graph, op));
    const auto add = [&](std::string_view title, const std::vector<Kernel>& kernels) {
        text += title;
        for (const Kernel& kernel : kernels) text += text_of(kernel, how);
    };
    // The products of a backward follow from the forward's; what it moves may not.
    add("", op.forward);
    if (op.parameters.empty()) {
        add(" back", op.backward_input);
        return text;
    }
    text += " parameters " + shapes_of(graph, op);
    if (op.input_gradient < 0) text += " without input gradient";
    return text;
}

std::string_view name_of(Part part) {
    switch (part) {
        case Part::Forward: return "forward";
        case Part::Again: return "recompute";
        case Part::Fused: return "backward";
        case Part::Input: return "backward_input";
        case Part::Weight: return "backward_weight";
    }
    return "";
}

}  // namespace debubble::models

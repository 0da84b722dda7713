#include "models/graph/operator_runs.h"

#include <span>

#include <fmt/format.h>

#include "base/overloaded.h"

namespace debubble::models {

namespace {

/// The kind's name in calibrated clusters.
std::string_view word(const Roles& roles) {
    return std::visit(Overloaded{[](const op::TokenEmbedding&) { return "token_embedding"; },
                                 [](const op::PositionEmbedding&) { return "position_embedding"; },
                                 [](const op::PatchEmbedding&) { return "patch_embedding"; },
                                 [](const op::ClassToken&) { return "position_embedding"; },
                                 [](const op::Norm&) { return "norm"; },
                                 [](const op::Linear&) { return "linear"; },
                                 [](const op::ExpertProducts&) { return "linear"; },
                                 [](const op::SplitHeads& split) {
                                     return split.rotates ? "rope" : "split_heads";
                                 },
                                 [](const op::OpenBranch&) { return "residual"; },
                                 [](const op::HeadNorm&) { return "norm"; },
                                 [](const op::WidthNorm&) { return "norm"; },
                                 [](const op::HeadL2Norm&) { return "norm"; },
                                 [](const op::SoftCap&) { return "activation"; },
                                 [](const op::Cast&) { return "activation"; },
                                 [](const op::Concat&) { return "gather"; },
                                 [](const op::ScatterTokens&) { return "gather"; },
                                 [](const op::StackStreams&) { return "gather"; },
                                 [](const op::SplitStreams&) { return "gather"; },
                                 [](const op::LatentHeads&) { return "split_heads"; },
                                 [](const op::AddBranches&) { return "residual"; },
                                 [](const op::Rope&) { return "rope"; },
                                 [](const op::Attention&) { return "attention"; },
                                 [](const op::Activation&) { return "activation"; },
                                 [](const op::Residual&) { return "residual"; },
                                 [](const op::GatherColumns&) { return "gather"; },
                                 [](const op::SliceColumns&) { return "gather"; },
                                 [](const op::ExchangeHeads&) { return "gather"; },
                                 [](const op::CopyContext&) { return "gather"; },
                                 [](const op::PickClassToken&) { return "gather"; },
                                 [](const op::Router&) { return "router"; },
                                 [](const op::OutputGate&) { return "activation"; },
                                 [](const op::SharedGate&) { return "activation"; },
                                 [](const op::Convolution&) { return "convolution"; },
                                 [](const op::StateSpaceScan&) { return "mamba"; },
                                 [](const op::DeltaRule&) { return "delta_rule"; },
                                 [](const op::GroupedNorm&) { return "norm"; },
                                 [](const op::Permute&) { return "dispatch"; },
                                 [](const op::Dispatch&) { return "dispatch"; },
                                 [](const op::Combine&) { return "combine"; },
                                 [](const op::Loss&) { return "loss"; },
                                 [](const op::ChunkedLoss&) { return "loss"; },
                                 [](const op::Planned&) { return "planned"; }},
                      roles);
}

/// After a product's or an attention's shape.
std::string_view word(Narrow operands) {
    switch (operands) {
        case Narrow::None: return "";
        case Narrow::Fp8: return " fp8";
        case Narrow::Fp8Blockwise: return " fp8-blockwise";
        case Narrow::MxFp8: return " mxfp8";
        case Narrow::NvFp4: return " nvfp4";
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
        case Collective::Group::ContextInner: return how.exchanging();
        case Collective::Group::ContextOuter: return how.sharing_keys();
        case Collective::Group::Context:
        case Collective::Group::Data: break;
    }
    return how.context;
}

std::string text_of(const Kernel& kernel, const Execution& how) {
    return std::visit(
        Overloaded{
            [](const Gemm& g) {
                return fmt::format(" gemm {}x{}x{}x{}{}", g.batch, g.m, g.n, g.k, word(g.operands));
            },
            [](const FlashAttention& a) {
                return fmt::format(
                    " attention {}x{}/{}x{}x{}x{}{}{}{}{}{}", a.batch, a.heads, a.kv_heads,
                    a.queries, a.keys, a.head_dim, a.causal ? " causal" : "",
                    a.narrow_values ? fmt::format(" values {}", *a.narrow_values) : "",
                    a.window ? fmt::format(" window {}", *a.window) : "",
                    a.chunk ? fmt::format(" chunk {}", *a.chunk) : "", a.narrow ? " fp8" : "");
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
    for (const std::int64_t size : parameter.shape)
        text += fmt::format("{}{}", text.empty() ? "" : "x", size);
    const std::int64_t mine = parameter.elements_of_rank(how);
    if (mine != parameter.elements()) text += fmt::format("({})", mine);
    return text;
}

/// The shapes of the parameters, "96x64+32x64"; equal ones of experts, which may be many, are
/// counted: "16*96x64".
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

std::string_view word(Norm norm) {
    return norm == Norm::RmsNorm ? " rms" : " layer";
}

std::string_view word(Activation activation) {
    switch (activation) {
        case Activation::Gelu: return " gelu";
        case Activation::GeluTanh: return " gelu_tanh";
        case Activation::Relu: return " relu";
        case Activation::SquaredRelu: return " squared_relu";
        case Activation::Swiglu: return " swiglu";
        case Activation::Geglu: return " geglu";
        case Activation::GegluTanh: return " geglu_tanh";
        case Activation::ClampedSwiglu: return " clamped_swiglu";
        case Activation::Xielu: return " xielu";
        case Activation::Situ: return " situ";
    }
    return "";
}

/// The part of the signature for differences that the kernels' sizes do not show.
std::string variant_of(const StageGraph& graph, const Operator& op) {
    const Execution& how = graph.execution;
    const std::string nothing;
    const auto drops = [](bool here) { return std::string(here ? " dropout" : ""); };
    const auto chosen = [&] {
        const auto& experts =
            std::get<Experts>(graph.architecture.layer_at(op.layer.value_or(0)).mlp);
        return fmt::format(" {} of {}", experts.per_token, experts.count);
    };
    const auto scores = [&] {
        const auto* layer = graph.architecture.layer_at(op.layer.value_or(0)).as<Attention>();
        if (layer == nullptr) return std::string();
        return std::string(layer->score_softcap ? " softcap" : "") +
               (layer->alibi ? " alibi" : "") + (layer->temperature ? " temperature" : "");
    };
    return std::visit(
        Overloaded{
            [](const op::TokenEmbedding& it) { return std::string(it.scaled ? " scaled" : ""); },
            [&](const op::PatchEmbedding&) { return nothing; },
            [&](const op::Linear&) { return nothing; },
            [&](const op::ExpertProducts&) { return nothing; },
            [&](const op::SplitHeads&) { return nothing; },
            [](const op::OpenBranch&) { return std::string(" open"); },
            [](const op::Planned& it) { return " " + std::string(name_of(it.kind)); },
            [](const op::HeadNorm&) { return std::string(" heads"); },
            [](const op::WidthNorm&) { return std::string(" width"); },
            [](const op::HeadL2Norm&) { return std::string(" heads l2"); },
            [](const op::SoftCap&) { return std::string(" softcap"); },
            [](const op::Cast&) { return std::string(" cast"); },
            [](const op::Concat&) { return std::string(" concat"); },
            [](const op::ScatterTokens&) { return std::string(" tokens"); },
            [](const op::StackStreams& it) { return fmt::format(" stack {}", it.parts.size()); },
            [](const op::SplitStreams& it) { return fmt::format(" split {}", it.parts.size()); },
            [&](const op::LatentHeads&) { return nothing; },
            [](const op::AddBranches&) { return std::string(" branches"); },
            [&](const op::Rope&) { return nothing; },
            [&](const op::GatherColumns&) { return nothing; },
            [&](const op::SliceColumns&) { return nothing; },
            [&](const op::ExchangeHeads&) { return nothing; },
            [&](const op::CopyContext&) { return nothing; },
            [&](const op::PickClassToken&) { return nothing; },
            [&](const op::Loss&) { return nothing; },
            [&](const op::ChunkedLoss&) { return nothing; },
            [](const op::Norm& norm) {
                std::string text(word(norm.function));
                if (norm.through)
                    text += norm.through == norm.x.gradient ? " through" : " through_copy";
                return text;
            },
            [](const op::Activation& act) { return std::string(word(act.function)); },
            [&](const op::Router& router) { return chosen() + (router.wide ? " fp32" : ""); },
            [](const op::OutputGate&) { return std::string(" output_gate"); },
            [](const op::SharedGate&) { return std::string(" shared_gate"); },
            [&](const op::Convolution&) { return nothing; },
            [&](const op::StateSpaceScan&) { return nothing; },
            [&](const op::DeltaRule&) { return nothing; },
            [](const op::GroupedNorm& norm) {
                return fmt::format(" groups {}{}", norm.groups, norm.gate ? " gated" : "");
            },
            [&](const op::Permute&) { return chosen() + " permute"; },
            [&](const op::Dispatch&) { return chosen(); },
            [&](const op::Combine&) { return chosen(); },
            [&](const op::Residual&) { return drops(how.hidden_dropout); },
            [&](const op::PositionEmbedding&) { return drops(how.hidden_dropout); },
            [&](const op::ClassToken&) { return drops(how.hidden_dropout); },
            [&](const op::Attention& core) {
                return drops(how.attention_dropout) + (core.sinks ? " sinks" : "") + scores();
            }},
        op.roles);
}

/// True if an operator with parameters gives its input no gradient.
bool stops_gradients(const Roles& roles) {
    if (const auto* product = std::get_if<op::Linear>(&roles)) return !product->x_gradient;
    return std::holds_alternative<op::TokenEmbedding>(roles) ||
           std::holds_alternative<op::PatchEmbedding>(roles);
}

}  // namespace

std::string signature_of(const StageGraph& graph, const Operator& op) {
    const Execution& how = graph.execution;
    std::string text = fmt::format("{} {}/{}{}", word(op.roles), name_of(how.compute),
                                   name_of(how.gradients), variant_of(graph, op));
    const auto add = [&](std::string_view title, const std::vector<Kernel>& kernels) {
        text += title;
        for (const Kernel& kernel : kernels) text += text_of(kernel, how);
    };
    // The products of a backward follow from the forward's; its memory traffic may not.
    add("", op.forward);
    if (op.parameters.empty()) {
        add(" back", op.backward_input);
        return text;
    }
    text += " parameters " + shapes_of(graph, op);
    if (stops_gradients(op.roles)) text += " without input gradient";
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

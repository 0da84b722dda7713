#include "exec/core/stage/run_visit.h"

#include <cassert>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec {

namespace {

using models::OperatorKind;
using models::Part;

void run_forward(const OperatorCall& call) {
    switch (call.op.kind) {
        case OperatorKind::TokenEmbedding: return token_embedding_forward(call);
        case OperatorKind::PositionEmbedding: return positions_forward(call);
        case OperatorKind::PatchEmbedding: return linear_forward(call);
        case OperatorKind::Linear:
            return call.of_experts() ? experts_forward(call) : linear_forward(call);
        case OperatorKind::Norm: return norm_forward(call);
        case OperatorKind::Rope:
        case OperatorKind::SplitHeads: return split_heads_forward(call);
        case OperatorKind::Attention: return attention_forward(call);
        case OperatorKind::Activation: return activation_forward(call);
        case OperatorKind::Residual: return residual_forward(call);
        case OperatorKind::Gather: return gather_forward(call);
        case OperatorKind::Loss: return loss_forward(call);
        case OperatorKind::Router: return router_forward(call);
        case OperatorKind::Dispatch: return dispatch_forward(call);
        case OperatorKind::Combine: return combine_forward(call);
    }
}

void run_backward_input(const OperatorCall& call) {
    switch (call.op.kind) {
        case OperatorKind::TokenEmbedding: return;
        case OperatorKind::PositionEmbedding: return positions_backward_input(call);
        case OperatorKind::PatchEmbedding: return linear_backward_input(call);
        case OperatorKind::Linear:
            return call.of_experts() ? experts_backward_input(call) : linear_backward_input(call);
        case OperatorKind::Norm: return norm_backward_input(call);
        case OperatorKind::Rope:
        case OperatorKind::SplitHeads: return split_heads_backward_input(call);
        case OperatorKind::Attention: return attention_backward_input(call);
        case OperatorKind::Activation: return activation_backward_input(call);
        case OperatorKind::Residual: return residual_backward_input(call);
        case OperatorKind::Gather: return gather_backward_input(call);
        case OperatorKind::Loss: return loss_backward_input(call);
        case OperatorKind::Router: return router_backward_input(call);
        case OperatorKind::Dispatch: return dispatch_backward_input(call);
        case OperatorKind::Combine: return combine_backward_input(call);
    }
}

void run_backward_weight(const OperatorCall& call) {
    switch (call.op.kind) {
        case OperatorKind::TokenEmbedding: return token_embedding_backward_weight(call);
        case OperatorKind::PositionEmbedding: return positions_backward_weight(call);
        case OperatorKind::PatchEmbedding: return linear_backward_weight(call);
        case OperatorKind::Linear:
            return call.of_experts() ? experts_backward_weight(call) : linear_backward_weight(call);
        case OperatorKind::Router: return router_backward_weight(call);
        case OperatorKind::Norm:  // with the input's, which reads the same
        case OperatorKind::Rope:
        case OperatorKind::SplitHeads:
        case OperatorKind::Attention:
        case OperatorKind::Activation:
        case OperatorKind::Residual:
        case OperatorKind::Gather:
        case OperatorKind::Dispatch:
        case OperatorKind::Combine:
        case OperatorKind::Loss: return;
    }
}

}  // namespace

void check_executed(const models::Architecture& network, const scenarios::Parallel& parallel) {
    if (network.experts == 0) return;
    const bool shared = parallel.expert > 1;
    if (!shared && parallel.tensor == 1 && parallel.expert_tensor == 1) return;
    throw InputError(fmt::format(
        "{} is a mixture of experts: with {}, 'debubble simulate' plans it and nothing executes it "
        "yet; ranks that have all experts of their layers whole do",
        network.name, shared ? "parallel.expert above 1" : "tensor parallelism"));
}

void run_visit(const OperatorCall& call, Part part) {
    switch (part) {
        case Part::Forward:
        case Part::Again: return run_forward(call);
        case Part::Input: return run_backward_input(call);
        case Part::Weight: return run_backward_weight(call);
        case Part::Fused: run_backward_input(call); return run_backward_weight(call);
    }
}

void run_pair(VisitPair::Kind kind, const OperatorCall& first, const OperatorCall& second,
              Part part) {
    switch (kind) {
        case VisitPair::Kind::LinearActivation: return linear_activation_forward(first, second);
        case VisitPair::Kind::ActivationLinear:
            linear_activation_backward_input(first, second);
            if (part == Part::Fused) run_backward_weight(first);
            return;
        case VisitPair::Kind::ResidualNorm: return residual_norm_forward(first, second);
    }
}

}  // namespace debubble::exec

#pragma once

#include "models/graph.h"

/// What stands beside the layers of a network.
namespace debubble::models {

/// Of tokens, positions or patches; what else has no layer belongs to the head.
constexpr bool is_embedding(OperatorKind kind) {
    return kind == OperatorKind::TokenEmbedding || kind == OperatorKind::PositionEmbedding ||
           kind == OperatorKind::PatchEmbedding;
}

/// The token embedding of a model whose head is tied to it, or that head's copy.
inline bool is_tied(const StageGraph& graph, const Operator& op, const Parameter& parameter) {
    if (!parameter.tied_to.empty()) return true;
    return graph.architecture.tied_embedding && op.kind == OperatorKind::TokenEmbedding;
}

}  // namespace debubble::models

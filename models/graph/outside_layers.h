#pragma once

#include "models/graph/graph.h"

/// Operators of a network that are not part of a layer.
namespace debubble::models {

/// True for the embedding of tokens, positions or patches and for a vision tower; other operators
/// without a layer belong to the head.
inline bool is_embedding(const Operator& op) {
    return op.as<op::TokenEmbedding>() || op.as<op::PositionEmbedding>() ||
           op.as<op::PatchEmbedding>() || op.as<op::ClassToken>() || op.tower;
}

/// True for the token embedding of a model whose head is tied to it or which predicts several
/// tokens, and for its copies.
inline bool is_tied(const StageGraph& graph, const Operator& op, const Parameter& parameter) {
    if (!parameter.tied_to.empty()) return true;
    return graph.architecture.shares_embedding() && op.as<op::TokenEmbedding>() != nullptr;
}

}  // namespace debubble::models

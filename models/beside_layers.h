#pragma once

#include "models/graph.h"

/// What stands beside the layers of a network.
namespace debubble::models {

/// Of tokens, positions or patches; what else has no layer belongs to the head.
inline bool is_embedding(const Operator& op) {
    return op.as<op::TokenEmbedding>() || op.as<op::PositionEmbedding>() ||
           op.as<op::PatchEmbedding>() || op.as<op::ClassToken>();
}

/// The token embedding of a model whose head is tied to it, or that head's copy.
inline bool is_tied(const StageGraph& graph, const Operator& op, const Parameter& parameter) {
    if (!parameter.tied_to.empty()) return true;
    return graph.architecture.tied_embedding && op.as<op::TokenEmbedding>() != nullptr;
}

}  // namespace debubble::models

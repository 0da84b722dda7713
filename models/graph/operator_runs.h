#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/turns.h"

/// The passes of a stage as a list of operators that run one after another. The steps of graph.h
/// are the same passes with an operator's kernels one by one; the executor runs operators whole.
namespace debubble::models {

/// The part of an operator that runs: Again is its forward under full recompute, Fused both halves
/// of its backward, input first.
enum class Part : std::uint8_t { Forward, Again, Fused, Input, Weight };

/// One operator's part in a pass, and the tensors that begin and end their lives with it.
struct OperatorRun {
    int op = 0;  ///< index into StageGraph::operators
    Part part{};
    std::vector<int> allocates;  ///< allocated before it runs; indices into StageGraph::tensors
    std::vector<int> frees;      ///< freed after it has run
    // Of tensors that are in the host's memory between the forward and the backward (replays.h):
    std::vector<int> leaves;   ///< those of `frees` that go to the host
    std::vector<int> returns;  ///< those of `allocates` that come back from there
};

/// The operators as they run in the forward, in the backward (backward-input if `split`), and in
/// the backward-weight, which is empty unless `split`.
using RunsByPass = std::array<std::vector<OperatorRun>, 3>;
RunsByPass operator_runs(const StageGraph& graph, bool split);

/// True for the products whose weight gradients are computed apart where an execution delays them:
/// those of layers, and not of routers, the embedding or the head (Megatron-LM d98e8a6,
/// core/transformer/moe/moe_layer.py and transformer_layer.py, backward_dw).
bool delays_weight(const Operator& op);
/// True if they come right after the experts, or the dense MLP, and not after the attention.
bool weight_is_of_experts(const Operator& op);

/// By tensor, whether one pass leaves it to another where the backward is split.
std::vector<bool> left_to_other_passes(const StageGraph& graph);

/// The steps of the same passes, planned together: what forward_steps and the others give.
std::array<PassSteps, 3> steps_of(const StageGraph& graph, bool split);

/// The kernels of the part, in order. A fused backward overlaps communication with its GEMMs.
std::vector<Kernel> kernels_of(const Operator& op, Part part);

// The key of a measured operator.

/// Kind, data types and sizes of an operator, as in
///   "linear fp32/fp32 gemm 1x512x768x256 parameters 256x768+768":
/// equal for all operators that compute the same, in every layer, stage and scenario,
/// and different where the executor would do other work. One line of ASCII without quotes.
std::string signature_of(const StageGraph& graph, const Operator& op);

/// The part's name in calibrated clusters: forward, recompute, backward, backward_input,
/// backward_weight.
std::string_view name_of(Part part);

// Operators of a network that are not part of a layer.

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

/// A pass as parts that alternate with those of another pass.
struct PassTurns {
    struct Layer {
        int number = 0;
        std::vector<TurnSteps> parts;
    };
    std::size_t before = 0;     ///< end of the steps before its layers
    std::vector<Layer> layers;  ///< in the order in which the pass runs them
    std::size_t end = 0;        ///< of the steps after them
};
PassTurns turns_of(const PassSteps& pass);

}  // namespace debubble::models

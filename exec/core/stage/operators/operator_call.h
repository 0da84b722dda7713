#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/core/arena.h"
#include "exec/core/stage/rope_table.h"
#include "exec/core/stage/routing.h"
#include "exec/core/stage/stage_parameters.h"
#include "exec/core/stage/stage_runner.h"
#include "exec/core/stage/stage_tools.h"
#include "exec/core/stage/step.h"
#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"

/// The pass as the code of one of its operators sees it. Private to the folder.
namespace debubble::exec {

namespace op = models::op;

/// The tensors of one microbatch (slice), by their index in the graph; empty if not alive.
using LiveTensors = std::vector<ArenaTensor>;

/// The sums of a step in StageMemory::totals.
enum class StepTotal : std::uint8_t { Loss, Correct, Balance, Z, Ahead };
inline constexpr std::int64_t kStepTotals = 5;

/// The cosines and sines of one kind of angles: fp32 [positions, columns / 2].
struct RotaryTable {
    RotaryAngles angles;
    ArenaTensor cosines;
    ArenaTensor sines;
};

/// A pass through a layer with experts.
struct RoutedPass {
    int micro_batch = 0;
    int slice = 0;
    int layer = 0;
    friend auto operator<=>(const RoutedPass&, const RoutedPass&) = default;
};

/// The tokens of a layer's experts in the microbatches of a step whose forward has run.
struct BalancedSoFar {
    ArenaTensor counts;  ///< fp32 [experts]
    int micro_batches = 0;
};

/// The memory that belongs to the stage, not to a pass.
struct StageMemory {
    StageTools tools;
    const StepInputs* step = nullptr;
    ArenaTensor totals;                      ///< fp64, by StepTotal
    std::vector<RotaryTable> tables;         ///< of rotary positions, one for each kind of angles
    std::map<MicroBatch, LiveTensors> live;  ///< live tensors of a step
    std::map<RoutedPass, Routing> routed;    ///< the routing of a step's tokens to their experts
    ExpertLoad load;                         ///< load of this rank's experts in a step
    /// Time in collectives of operators, from the call to completion.
    HostTime communicated;
    std::map<int, BalancedSoFar> balanced;  ///< by layer, where routers balance over a step
    /// Set while an all-to-all is launched whose request is awaited later.
    Pending* asked = nullptr;
};

/// Tokens that are contiguous both in a tensor and in a sample.
struct TokenRun {
    std::int64_t offset = 0;  ///< index of the first token in the tensor
    std::int64_t sample = 0;  ///< index of the sample in the microbatch
    std::int64_t position = 0;
    std::int64_t count = 0;
};

struct OperatorCall {
    const models::StageGraph& graph;
    const models::Operator& op;
    LiveTensors& live;
    StageMemory& state;
    int micro_batch = 0;
    bool again = false;  ///< whether it is a recomputation: its totals have been counted
    int slice = 0;       ///< slice of the sequence
    models::Part part{};

    Kernels& kernels() const { return state.tools.kernels; }
    const models::Architecture& model() const { return graph.architecture; }
    const models::Execution& how() const { return graph.execution; }
    const MicroBatchInputs& inputs() const { return state.step->micro_batches[micro_batch]; }

    // The sizes of this pass.
    std::int64_t samples() const { return how().micro_batch; }
    /// Rows of a sample on this rank.
    std::int64_t rows() const { return how().seq_length / how().slices / how().context; }
    std::int64_t tokens() const { return samples() * rows(); }
    /// Tokens of the residual stream on this rank: a part of them under sequence parallelism.
    std::int64_t stream_tokens() const { return scattered() ? tokens() / how().tensor : tokens(); }
    /// The positions of a context rank's stretches of a slice, in the order of its tensors:
    /// [stretches, samples, rows / stretches]. It has one stretch, or an early and a late one.
    std::vector<std::int64_t> stretches(int of_slice, int of_context_rank) const;
    std::vector<std::int64_t> stretches() const { return stretches(slice, context_rank()); }
    /// Position of the first stretch.
    std::int64_t first_position() const { return stretches().front(); }
    /// Rows of a tensor of routed tokens: the rank's own or, where ranks share or cut the experts,
    /// the received ones.
    std::int64_t expert_rows(int tensor) const;
    RoutedPass routed_pass() const { return {micro_batch, slice, op.layer.value_or(0)}; }
    /// Precondition: the layer's tokens have been counted in this microbatch.
    const Routing& routing() const { return state.routed.at(routed_pass()); }
    /// The sum of the step, fp64 [1].
    TensorView total(StepTotal which) const {
        const TensorView all = state.totals.view();
        return {all.data + static_cast<std::int64_t>(which) * size_of(all.type), {1}, all.type};
    }
    /// Precondition: the operator is in a layer.
    const models::Layer& layer() const { return model().layer_at(op.layer.value()); }
    /// Precondition: the operator is in a layer with experts.
    const models::Experts& experts() const { return std::get<models::Experts>(layer().mlp); }
    /// Precondition: the operator is in a layer with attention.
    const models::Attention& attention() const {
        return std::get<models::Attention>(layer().mixer);
    }
    /// The table of that layer. Precondition: its positions are rotary.
    const RotaryTable& rotary_table() const;
    bool scattered() const { return how().sequence_parallel && how().tensor > 1; }
    int tensor_rank() const { return state.tools.tensor ? state.tools.tensor->rank() : 0; }
    int context_rank() const { return state.tools.context ? state.tools.context->rank() : 0; }
    /// Ranks that have sequences of their own.
    int data_ranks() const {
        return state.tools.replicas ? state.tools.replicas->size() / how().context : 1;
    }
    /// Uploads the int32 values of this pass's tokens from `all` [samples, T], in the order of the
    /// tokens; with `ahead`, those of tokens that many positions later, and `beyond` where a sample
    /// has none.
    void upload_tokens(const ConstTensorView& all, TensorView mine, int ahead = 0,
                       std::int32_t beyond = 0) const;
    /// The tokens of the residual stream on this rank.
    std::vector<TokenRun> stream_runs() const;

    DataType compute_type() const;
    /// A tensor of the graph with a shape of the planned size. The graph must list it among the
    /// tensors that the operator uses in this part: others may be freed, or their memory reused.
    TensorView tensor(int index, const Shape& shape, DataType type) const;
    TensorView tensor(int index, const Shape& shape) const {
        return tensor(index, shape, compute_type());
    }
    /// The tensor of another slice of the microbatch.
    TensorView tensor_of_slice(int of, int index, const Shape& shape, DataType type) const;
    TensorView stream(int index) const { return tensor(index, {stream_tokens(), model().hidden}); }
    bool is_planned(int index) const;
    /// Temporary memory for the length of the call, beyond the plan.
    ArenaTensor temporary(const Shape& shape, DataType type) const;

    TensorView parameter(int index) const { return state.tools.parameters.value(index); }
    TensorView gradient(int index) const { return state.tools.parameters.gradient(index); }

    // Collectives of the tensor-parallel group; each returns when it is done.
    void all_reduce(TensorView data, Reduction reduction = Reduction::Sum) const;
    void all_gather(ConstTensorView mine, TensorView all) const;
    void reduce_scatter(ConstTensorView all, TensorView mine) const;
    /// Gathers y [rows, columns] from every rank's [rows, columns / ranks].
    void gather_columns(ConstTensorView mine, TensorView all) const;
    // Collectives of the context-parallel group.
    void gather_context(ConstTensorView mine, TensorView all) const;
    void scatter_context(ConstTensorView all, TensorView mine) const;
    /// The sum over all ranks that have a part of the tokens of the residual stream.
    void sum_over_tokens(TensorView data) const { sum_over(state.tools.context, data); }
    /// The same over the ranks of all replicas.
    void sum_over_replicas(TensorView data) const { sum_over(state.tools.replicas, data); }
    /// Gathers a part of each rank that has a part of the layer's experts, in place.
    void gather_from_expert_ranks(TensorView all) const;
    // Collectives of routed tokens, between the ranks that share the experts, or that cut them.
    void all_to_all_rows(Communicator* group, std::span<const ConstBuffer> out,
                         std::span<const Buffer> in) const;
    void reduce_rows(Communicator* group, std::span<const ConstBuffer> pieces,
                     TensorView mine) const;

    /// This operator's random stream in this step.
    RandomStream random_stream(std::string_view purpose) const;
    double dropout() const;  ///< probability; 0 where nothing is dropped in this step
    /// Drops elements of a tensor of the stream; y may be x.
    void drop_stream(ConstTensorView x, TensorView y) const;

private:
    /// The sum over the tensor group, where its ranks have tokens of their own, and another.
    void sum_over(Communicator* group, TensorView data) const;
};

/// Rows first .. first + count - 1 of [rows, columns], or of [rows].
template <class AnyView>
AnyView rows_from(const AnyView& x, std::int64_t first, std::int64_t count) {
    const bool flat = x.shape.rank() == 1;
    const std::int64_t columns = flat ? 1 : x.shape.columns();
    return {x.data + first * columns * size_of(x.type), flat ? Shape{count} : Shape{count, columns},
            x.type};
}

/// The number of rows of a tensor of routed tokens.
std::int64_t rows_of(const Routing& routing, const models::RoutedRows& rows);
/// That number if routers were perfectly balanced.
std::int64_t even_rows_of(const Routing& routing, const models::RoutedRows& rows);

DataType executed_type(models::DataType type);
Nonlinearity nonlinearity_of(models::Activation activation);
Gate gate_of(models::Activation activation);

// The operators by kind. A kind without weights has no backward_weight. Kinds that
// executor_scenario() leaves out are not executed.
void forward(const OperatorCall& call, const op::TokenEmbedding& roles);
void forward(const OperatorCall& call, const op::PositionEmbedding& roles);
void forward(const OperatorCall& call, const op::PatchEmbedding& roles);
void forward(const OperatorCall& call, const op::ClassToken& roles);
void forward(const OperatorCall& call, const op::Norm& roles);
void forward(const OperatorCall& call, const op::Linear& roles);
void forward(const OperatorCall& call, const op::ExpertProducts& roles);
void forward(const OperatorCall& call, const op::SplitHeads& roles);
void forward(const OperatorCall& call, const op::HeadNorm& roles);
void forward(const OperatorCall& call, const op::HeadL2Norm& roles);
void forward(const OperatorCall& call, const op::WidthNorm& roles);
void forward(const OperatorCall& call, const op::OpenBranch& roles);
void forward(const OperatorCall& call, const op::SoftCap& roles);
void forward(const OperatorCall& call, const op::LatentHeads& roles);
void forward(const OperatorCall& call, const op::Rope& roles);
void forward(const OperatorCall& call, const op::Attention& roles);
void forward(const OperatorCall& call, const op::OutputGate& roles);
void forward(const OperatorCall& call, const op::Activation& roles);
void forward(const OperatorCall& call, const op::Residual& roles);
void forward(const OperatorCall& call, const op::AddBranches& roles);
void forward(const OperatorCall& call, const op::GatherColumns& roles);
void forward(const OperatorCall& call, const op::SliceColumns& roles);
void forward(const OperatorCall& call, const op::PickClassToken& roles);
void forward(const OperatorCall& call, const op::Router& roles);
void forward(const OperatorCall& call, const op::SharedGate& roles);
void forward(const OperatorCall& call, const op::Permute& roles);
void forward(const OperatorCall& call, const op::Dispatch& roles);
void forward(const OperatorCall& call, const op::Combine& roles);
void forward(const OperatorCall& call, const op::Concat& roles);
void forward(const OperatorCall& call, const op::ScatterTokens& roles);
void forward(const OperatorCall& call, const op::StackStreams& roles);
void forward(const OperatorCall& call, const op::SplitStreams& roles);
void forward(const OperatorCall& call, const op::Loss& roles);
void forward(const OperatorCall& call, const op::ChunkedLoss& roles);

void backward_input(const OperatorCall& call, const op::PositionEmbedding& roles);
void backward_input(const OperatorCall& call, const op::ClassToken& roles);
/// Computes its weights' gradients too, which read the same tensors.
void backward_input(const OperatorCall& call, const op::Norm& roles);
void backward_input(const OperatorCall& call, const op::Linear& roles);
void backward_input(const OperatorCall& call, const op::ExpertProducts& roles);
void backward_input(const OperatorCall& call, const op::SplitHeads& roles);
/// Computes its weights' gradients too, which read the same tensors.
void backward_input(const OperatorCall& call, const op::HeadNorm& roles);
void backward_input(const OperatorCall& call, const op::HeadL2Norm& roles);
void backward_input(const OperatorCall& call, const op::WidthNorm& roles);
void backward_input(const OperatorCall& call, const op::OpenBranch& roles);
void backward_input(const OperatorCall& call, const op::SoftCap& roles);
void backward_input(const OperatorCall& call, const op::LatentHeads& roles);
void backward_input(const OperatorCall& call, const op::Rope& roles);
void backward_input(const OperatorCall& call, const op::Attention& roles);
void backward_input(const OperatorCall& call, const op::OutputGate& roles);
void backward_input(const OperatorCall& call, const op::Activation& roles);
void backward_input(const OperatorCall& call, const op::Residual& roles);
void backward_input(const OperatorCall& call, const op::GatherColumns& roles);
void backward_input(const OperatorCall& call, const op::SliceColumns& roles);
void backward_input(const OperatorCall& call, const op::PickClassToken& roles);
void backward_input(const OperatorCall& call, const op::Router& roles);
/// Computes its weight's gradient too.
void backward_input(const OperatorCall& call, const op::SharedGate& roles);
void backward_input(const OperatorCall& call, const op::Permute& roles);
void backward_input(const OperatorCall& call, const op::Dispatch& roles);
void backward_input(const OperatorCall& call, const op::Combine& roles);
void backward_input(const OperatorCall& call, const op::Concat& roles);
void backward_input(const OperatorCall& call, const op::ScatterTokens& roles);
void backward_input(const OperatorCall& call, const op::StackStreams& roles);
void backward_input(const OperatorCall& call, const op::SplitStreams& roles);
void backward_input(const OperatorCall& call, const op::Loss& roles);
/// Computes the gradient of the head's weight too, chunk by chunk.
void backward_input(const OperatorCall& call, const op::ChunkedLoss& roles);

void backward_weight(const OperatorCall& call, const op::TokenEmbedding& roles);
void backward_weight(const OperatorCall& call, const op::PositionEmbedding& roles);
void backward_weight(const OperatorCall& call, const op::ClassToken& roles);
void backward_weight(const OperatorCall& call, const op::Linear& roles);
void backward_weight(const OperatorCall& call, const op::ExpertProducts& roles);
void backward_weight(const OperatorCall& call, const op::Router& roles);

// Fused pairs of operators (OperatorPair), each operator with its own call.
void linear_activation_forward(const OperatorCall& linear, const OperatorCall& activation);
/// The GEMM's weight gradient is not computed.
void linear_activation_backward_input(const OperatorCall& linear, const OperatorCall& activation);
/// The branch lies in the memory of the norm's result.
void residual_norm_forward(const OperatorCall& residual, const OperatorCall& norm);

}  // namespace debubble::exec

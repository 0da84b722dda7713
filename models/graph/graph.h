#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/purposes.h"
#include "models/execution/execution.h"
#include "models/graph/turns.h"
#include "models/network/architecture.h"
#include "models/network/sharding.h"
#include "models/operators/kernel.h"
#include "models/operators/op.h"

/// The operator graph of one pipeline stage on one rank: its operators with their parameters and
/// saved tensors, and every allocation and free in execution order. The cost model prices it; the
/// executor runs it.
namespace debubble::models {

/// The values of a parameter before the first step.
enum class Initial : std::uint8_t {
    Normal,    ///< normal around 0: weights and embeddings
    Residual,  ///< the same, narrower the more layers add to the residual stream: GPT-2's
               ///< projections into it
    Zeros,     ///< biases
    Ones,      ///< weights of norms
};

/// How a graph lists the weights and biases of a rank's experts.
enum class ExpertParameters : std::uint8_t {
    EachByName,  ///< every expert's, as they are stored
    Counted,  ///< the first expert's for all of them: a plan asks only for sizes, and a stage may
              ///< have thousands
};

struct Parameter {
    std::string name;                 ///< canonical name: Hugging Face's
    std::vector<std::int64_t> shape;  ///< shape of the whole tensor, as stored by Hugging Face
    Sharding sharding = Sharding::Replicated;
    int cut_dimension = 0;    ///< dimension of `shape` that tensor parallelism cuts
    int parts = 1;            ///< it is cut inside each of these equal parts (c_attn: 3, gate/up:
                              ///< 2)
    std::string tied_to;      ///< the parameter of which this is a copy, if it is one
    bool expert = false;      ///< belongs to one expert: expert parallelism decides who has it
    bool transposed = false;  ///< stored [inputs, outputs], as GPT-2's Conv1D does
    Initial initial = Initial::Normal;
    /// A norm's weight that checkpoints hold minus 1 (Architecture::zero_centred_norms).
    bool zero_centred = false;
    bool narrow = false;  ///< weight of a 8-bit or 4-bit GEMM (LowPrecision)
    /// Every tensor-parallel rank has it whole and makes a part of its gradient, that of its heads.
    bool of_own_heads = false;
    bool frozen = false;            ///< is not trained: it has no gradient and no optimizer state
    bool hidden_matrix = false;     ///< is a trained matrix of a layer, which Muon makes orthogonal
    int count = 1;                  ///< experts for which it stands (ExpertParameters::Counted)
    std::int64_t elements() const;  ///< elements of one whole tensor
    /// The elements on a rank of all tensors for which it stands.
    std::int64_t elements_of_rank(const Execution& execution) const;
    /// The ranks that share its cut dimension, where it is cut.
    int cutting_ranks(const Execution& execution) const {
        return expert ? execution.expert_tensor : execution.tensor;
    }
};

/// One of the parts of a packed matrix, each of which is orthogonal for itself, as the forward
/// multiplies by it.
struct MatrixPart {
    std::int64_t outputs = 0;
    std::int64_t inputs = 0;
    friend bool operator==(const MatrixPart&, const MatrixPart&) = default;
};
/// Precondition: the parameter is a hidden matrix.
MatrixPart part_of(const Parameter& parameter);
/// The elements, in fp32, that are there while Muon steps the parameter: its momentum whole, a part
/// of it before and after an iteration, and two products of the part with itself.
std::int64_t matrix_step_elements(const Parameter& parameter);

/// State of a network other than its parameters, without gradients: fp32, whole on every rank.
struct Buffer {
    std::string name;  ///< canonical name: Hugging Face's
    std::vector<std::int64_t> shape;
};

/// The use that the other slices of the sequence make of a tensor of one slice.
enum class Across : std::uint8_t {
    None,
    Seen,    ///< later slices or microbatches read it: recomputation and offloading leave it where
             ///< it is
    Summed,  ///< later slices add into it: the last one's backward allocates it in all of them
};

/// The rows of a tensor that come from a router: how many is known once it has chosen, and the plan
/// has a mean (Execution::expert_load).
struct RoutedRows {
    enum class Which : std::uint8_t {
        Received,   ///< for the rank's part of its experts
        AtExperts,  ///< those, and those of the ranks that cut the experts with it
    };
    Which which{};
    std::int64_t row_bytes = 0;
    friend bool operator==(const RoutedRows&, const RoutedRows&) = default;
};

/// A device tensor of one microbatch (or one pass) of the stage.
struct Tensor {
    std::string name;
    Bytes bytes;
    MemoryClass held_as = MemoryClass::Activations;
    Across slices = Across::None;
    /// Set where ranks dispatch tokens: `bytes` are the planned ones.
    std::optional<RoutedRows> routed = {};
};

/// A copy in a narrower type that is kept for the backward instead of an operator's input. The
/// operator makes it in the forward, and reads it where it runs again without what made its input.
struct KeptCopy {
    int of = 0;    ///< the input
    int copy = 0;  ///< among what the operator saves and uses
    std::vector<int> uses_again;
    std::vector<Kernel> again;
};

/// One operator with separate forward, backward-input and backward-weight. The `uses` of a pass are
/// all tensors that must exist while its kernels run, in the order of allocation; a tensor lives
/// from its first use to its last, from which the steps of a pass are derived.
struct Operator {
    Roles roles;                     ///< its kind, with the role of each of its tensors
    std::string name;                ///< "h.3.mlp.c_fc"
    std::optional<int> layer;        ///< layer of the model
    bool tower = false;              ///< belongs to the vision tower, and to no layer of the model
    std::optional<int> tower_layer;  ///< the trained layer of the tower to which it belongs
    Modules modules;                 ///< the parts of the layer to which it belongs
    std::vector<int> inputs;      ///< indices into StageGraph::tensors: the tensors that exist when
                                  ///< its forward begins
    std::vector<int> saved;       ///< tensors that its backward reads
    std::vector<int> parameters;  ///< indices into StageGraph::parameters
    std::vector<Kernel> forward;
    /// Set where an operator runs again with other kernels than in the forward (replays.h).
    std::optional<std::vector<Kernel>> again;
    std::optional<KeptCopy> kept_copy;
    std::vector<Kernel> backward_input;
    std::vector<Kernel> backward_weight;
    std::vector<int> forward_uses;
    std::vector<int> backward_input_uses;
    std::vector<int> backward_weight_uses;

    /// Its roles if it is of that kind, else nullptr.
    template <class Kind>
    const Kind* as() const {
        return std::get_if<Kind>(&roles);
    }
    /// True for a tensor that exists when the operator runs again; `alone`: without what made its
    /// inputs.
    bool is_given(int tensor, bool alone) const {
        if (alone && kept_copy && kept_copy->copy == tensor) return true;
        return std::ranges::find(inputs, tensor) != inputs.end();
    }
    /// Its parameters in the order of memory: those of one product are side by side, weights and
    /// then biases.
    std::vector<int> parameters_in_memory() const;
};

/// Where a network's layers of multi-token prediction are, as a stage sees them. A layout may have
/// them in a stage before the head's (Megatron-LM 00caa53,
/// core/transformer/pipeline_parallel_layer_layout.py): the final norm is then after the last
/// layer, and the stage of the predictions and those behind it send the normed stream with the
/// prediction of each depth below it, [1 + depths, Ts, h] (multi_token_prediction.py).
enum class Predictions : std::uint8_t {
    WithHead,  ///< in the head's stage, if the network has any
    Later,     ///< in a later stage, which has no head
    Here,      ///< in this stage, which has no head
    Before,    ///< in a stage before this one
};

inline constexpr int kMostLayersOfAStage = 4096;

/// The part of the model that a stage holds: layers [first_layer, first_layer + layers).
struct StageContent {
    int first_layer = 0;
    int layers = 0;
    bool embedding = false;
    bool head = false;
    Predictions predictions = Predictions::WithHead;
    bool final_norm = false;  ///< has the final norm after its layers, and not in its head

    /// The layers of multi-token prediction that the stage holds of the network's `all`.
    int prediction_layers(int all) const {
        const bool has =
            head ? predictions == Predictions::WithHead : predictions == Predictions::Here;
        return has ? all : 0;
    }
    friend bool operator==(const StageContent&, const StageContent&) = default;
};

/// The number of parameter elements that a rank holds.
struct ParameterCount {
    std::int64_t dense = 0;            ///< the same on all data- and context-parallel ranks
    std::int64_t expert = 0;           ///< elements of experts, which fewer ranks have
    std::int64_t frozen = 0;           ///< elements that are not trained
    std::int64_t narrow_dense = 0;     ///< of `dense`, weights of 8-bit or 4-bit GEMMs
    std::int64_t narrow_expert = 0;    ///< of `expert`
    std::int64_t narrow_frozen = 0;    ///< of `frozen`
    std::int64_t dense_matrices = 0;   ///< of `dense`, hidden matrices
    std::int64_t expert_matrices = 0;  ///< of `expert`
    /// The most elements that a step of Muon needs to make one of them orthogonal.
    std::int64_t matrix_step = 0;

    /// Those that are trained.
    std::int64_t total() const { return dense + expert; }
    std::int64_t narrow() const { return narrow_dense + narrow_expert + narrow_frozen; }
    void add(const Parameter& parameter, std::int64_t elements) {
        (parameter.frozen ? frozen : parameter.expert ? expert : dense) += elements;
        if (parameter.hidden_matrix) {
            (parameter.expert ? expert_matrices : dense_matrices) += elements;
            matrix_step = std::max(matrix_step, matrix_step_elements(parameter));
        }
        if (!parameter.narrow) return;
        (parameter.frozen   ? narrow_frozen
         : parameter.expert ? narrow_expert
                            : narrow_dense) += elements;
    }
    ParameterCount& operator+=(const ParameterCount& more) {
        dense += more.dense;
        expert += more.expert;
        frozen += more.frozen;
        narrow_dense += more.narrow_dense;
        narrow_expert += more.narrow_expert;
        narrow_frozen += more.narrow_frozen;
        dense_matrices += more.dense_matrices;
        expert_matrices += more.expert_matrices;
        matrix_step = std::max(matrix_step, more.matrix_step);
        return *this;
    }
    friend bool operator==(const ParameterCount&, const ParameterCount&) = default;
};

struct StageGraph {
    Architecture architecture;
    Execution execution;
    StageContent content;
    std::vector<Parameter> parameters;
    std::vector<Buffer> buffers;
    std::vector<Tensor> tensors;
    std::vector<Operator> operators;  ///< in forward order
    /// The tensors that cross the stage's edges: allocated and freed by the steps like any tensor,
    /// so a receive buffer becomes `input` and a send buffer was `output`.
    std::optional<int> input;
    std::optional<int> output;
    std::optional<int> input_gradient;
    std::optional<int> output_gradient;

    std::int64_t parameter_elements() const;  ///< trained elements on this rank, after sharding
    ParameterCount parameter_count() const;   ///< the same, with experts counted apart
    Bytes boundary_bytes() const;             ///< bytes of one residual stream, per rank
    /// Bytes of the activation that the stage before this one sends, and of its gradient, per rank.
    Bytes input_bytes() const;
    /// Bytes of the activation sent to the next stage, and of its gradient, per rank.
    Bytes output_bytes() const;
};

/// True if attention works on the rows of the packed product (Execution::packed_attention).
bool attends_packed(const Attention& attention, const Execution& execution);

/// Throws InputError in words if the architecture cannot be cut in this way ("25 heads cannot be
/// cut into 2").
StageGraph build_stage(const Architecture& architecture, const Execution& execution,
                       const StageContent& content,
                       ExpertParameters experts = ExpertParameters::EachByName);

/// One step of a pass: run a kernel, or allocate or free a tensor.
struct Step {
    enum class Kind : std::uint8_t { Run, Allocate, Free };
    Kind kind{};
    std::int32_t index = 0;  ///< index into PassSteps::kernels, or StageGraph::tensors
    friend bool operator==(const Step&, const Step&) = default;
};

/// A pass of one microbatch, in execution order. Tensors that the forward allocates and does not
/// free are held by the stage until its backward. Over a forward and its backward every Allocate
/// has one Free; a recomputed tensor is allocated a second time. Tensors that exist already are not
/// allocated: sums over slices (Across::Summed), except in the last slice's backward.
struct PassSteps {
    std::vector<Kernel> kernels;
    std::vector<Step> steps;
    /// The operator of each kernel: index into StageGraph::operators.
    std::vector<std::int32_t> operators;
    /// Kernel by kernel, whether it is of an operator's run that makes gradients of parameters
    /// which belong to no expert.
    std::vector<bool> makes_dense_gradients;
    /// Kernel by kernel, whether an operator of no layer has run since the kernel before, which may
    /// have had no kernels of its own.
    std::vector<bool> after_beside;
    /// The steps of a pair whose layers overlap, by kind.
    std::vector<TurnSteps> turns;
};

PassSteps forward_steps(const StageGraph& graph);
/// Fused backward: per operator, input gradient then weight gradient. Contains
/// the recomputation that the execution's policy asks for.
PassSteps backward_steps(const StageGraph& graph);
/// The split backward. The input pass recomputes what the policy dropped and
/// leaves behind the inputs and output gradients of every weighted operator; the
/// weight pass uses them and recomputes nothing.
PassSteps backward_input_steps(const StageGraph& graph);
PassSteps backward_weight_steps(const StageGraph& graph);

}  // namespace debubble::models

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_class.h"
#include "models/architecture.h"
#include "models/execution.h"
#include "models/kernel.h"
#include "models/op.h"
#include "models/sharding.h"

/// The operator graph of one pipeline stage on one rank: what is computed, with
/// which parameters, what is kept for the backward, and every allocation and
/// free in execution order. The cost model prices it; the executor runs it.
namespace debubble::models {

struct Parameter {
    std::string name;                 ///< canonical: Hugging Face's
    std::vector<std::int64_t> shape;  ///< of the whole tensor, as stored by Hugging Face
    Sharding sharding = Sharding::Replicated;
    int cut_dimension = 0;    ///< of `shape`, that tensor parallelism cuts
    int parts = 1;            ///< cut inside each of these equal parts (c_attn: 3, gate/up: 2)
    std::string tied_to;      ///< the parameter that this is a copy of, if it is
    bool expert = false;      ///< of one expert: expert parallelism decides who has it
    bool transposed = false;  ///< stored [inputs, outputs], as GPT-2's Conv1D does
    std::int64_t elements() const;  ///< of the whole tensor
    std::int64_t elements_of_rank(const Execution& execution) const;
};

/// What the other slices of the sequence have to do with a tensor of one slice.
enum class Across : std::uint8_t {
    None,
    Seen,    ///< later slices read it: recomputation and offloading leave it where it is
    Summed,  ///< later slices add into it: the last one's backward allocates it in all of them
};

/// A device tensor of one microbatch (or one pass) of the stage.
struct Tensor {
    std::string name;
    Bytes bytes;
    MemoryClass held_as = MemoryClass::Activations;
    Across slices = Across::None;
};

/// One operator with its forward, backward-input and backward-weight apart. The
/// `uses` of a pass are all tensors that must exist while its kernels run, in the
/// order of allocation; a tensor lives from its first use to its last, and the
/// steps of a pass are derived from nothing else.
struct Operator {
    Roles roles;                  ///< which kind it is, with what its tensors are to it
    std::string name;             ///< "h.3.mlp.c_fc"
    std::optional<int> layer;     ///< of the model
    std::vector<int> inputs;      ///< indices into StageGraph::tensors: what its forward finds
    std::vector<int> saved;       ///< tensors that its backward reads
    std::vector<int> parameters;  ///< indices into StageGraph::parameters
    std::vector<Kernel> forward;
    std::vector<Kernel> backward_input;
    std::vector<Kernel> backward_weight;
    std::vector<int> forward_uses;
    std::vector<int> backward_input_uses;
    std::vector<int> backward_weight_uses;

    /// Its roles as those of one kind; nullptr if it is of another.
    template <class Kind>
    const Kind* as() const {
        return std::get_if<Kind>(&roles);
    }
    /// Its parameters as they lie in memory: what one product takes is side by side, weights and
    /// then biases.
    std::vector<int> parameters_in_memory() const;
};

/// What a stage holds of the model: layers [first_layer, first_layer + layers).
struct StageContent {
    int first_layer = 0;
    int layers = 0;
    bool embedding = false;
    bool head = false;
    friend bool operator==(const StageContent&, const StageContent&) = default;
};

/// Elements of the parameters that a rank holds.
struct ParameterCount {
    std::int64_t dense = 0;   ///< the same on all data- and context-parallel ranks
    std::int64_t expert = 0;  ///< of experts, which fewer ranks have

    std::int64_t total() const { return dense + expert; }
    ParameterCount& operator+=(const ParameterCount& more) {
        dense += more.dense;
        expert += more.expert;
        return *this;
    }
    friend bool operator==(const ParameterCount&, const ParameterCount&) = default;
};

struct StageGraph {
    Architecture architecture;
    Execution execution;
    StageContent content;
    std::vector<Parameter> parameters;
    std::vector<Tensor> tensors;
    std::vector<Operator> operators;  ///< in forward order
    /// What crosses the stage's edges: allocated and freed by the steps like any
    /// tensor, so a receive buffer becomes `input` and a send buffer was `output`.
    std::optional<int> input;
    std::optional<int> output;
    std::optional<int> input_gradient;
    std::optional<int> output_gradient;

    std::int64_t parameter_elements() const;  ///< of this rank, after sharding
    ParameterCount parameter_count() const;   ///< the same, experts apart
    Bytes boundary_bytes() const;  ///< of the activation sent to the next stage, per rank
};

/// Whether attention works on the rows of the packed product (Execution::packed_attention).
bool attends_packed(const Architecture& architecture, const Execution& execution);

/// Throws InputError in words if the architecture cannot be cut so ("25 heads
/// cannot be cut into 2").
StageGraph build_stage(const Architecture& architecture, const Execution& execution,
                       const StageContent& content);

/// One step of a pass: run a kernel, or allocate or free a tensor.
struct Step {
    enum class Kind : std::uint8_t { Run, Allocate, Free };
    Kind kind{};
    std::int32_t index = 0;  ///< into PassSteps::kernels, or StageGraph::tensors
    friend bool operator==(const Step&, const Step&) = default;
};

/// A pass of one microbatch, in execution order. Tensors allocated by the
/// forward and not freed there are what the stage holds until its backward.
/// Over a forward and its backward every Allocate has one Free; a recomputed
/// tensor is allocated a second time. What is there already is not allocated:
/// sums over slices (Across::Summed), but in the last slice's backward.
struct PassSteps {
    std::vector<Kernel> kernels;
    std::vector<Step> steps;
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

/// Model FLOPs per sample of the whole network, forward + backward, attention in
/// full (12 L h s per token; not halved for the causal mask), no recompute.
double model_flops_per_sample(const Architecture& architecture, std::int64_t seq_length);
/// Exact number of parameters of the whole network, tied tensors once.
std::int64_t parameter_count(const Architecture& architecture);
/// Of these, those that one token is computed with: all but the experts that it does not go to.
std::int64_t active_parameter_count(const Architecture& architecture);
/// Of the whole network on one rank, tied tensors once.
std::vector<Parameter> whole_parameters(const Architecture& architecture);
/// Of a stage, in the order of the graph.
std::vector<std::string> parameter_names(const Architecture& architecture,
                                         const StageContent& content);

}  // namespace debubble::models

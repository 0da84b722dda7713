#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/purposes.h"
#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "schedule/action.h"
#include "schedule/placement.h"
#include "sim/memory/fetch_plan.h"
#include "sim/memory/layer_fold.h"

/// The parameters and gradients that passes gather and reduce over data-parallel ranks while they
/// run, layer by layer.
///
/// ZeRO-3 with `wrap: layer` gathers parameters inside the passes (FSDP): those of the next layer
/// while a layer computes; embedding and head are the root unit, gathered for the whole pass.
/// Within DeepSpeed's limits parameters are gathered one by one (fetch_plan.h). A backward also
/// reduces each layer's gradients, on the same communication stream.
///
/// Under ZeRO-2, and ZeRO-3 by stage, the backward that a ReduceGrad follows begins the reductions
/// layer by layer as well. Whole gradients exist of the layer that computes and of the one before
/// it, whose reduction runs at the same time. Where several ranks hold a stage (Chimera, DualPipe)
/// their passes are not in step: whole gradients wait for the reduction after the pass. So do the
/// head's, where a chunked loss makes them in a backward-input.
namespace debubble::sim {

/// The elements of a layer, by its index in the model.
struct LayerElements {
    int layer = 0;
    std::int64_t all = 0;
    std::int64_t experts = 0;  ///< of these
    friend bool operator==(const LayerElements&, const LayerElements&) = default;
};

/// The elements of a stage that a rank computes with, in the units in which data-parallel ranks
/// gather and reduce them.
struct ShardedUnits {
    std::vector<LayerElements> of_layers;  ///< of the layers that the graph has; empty if all have
                                           ///< equally many
    int layers = 0;
    std::int64_t layer = 0;          ///< of each layer; the mean where layers differ
    std::int64_t layer_experts = 0;  ///< of these, the elements of experts
    int layer_tensors = 1;           ///< of each layer; the mean where layers differ
    std::int64_t layer_narrow = 0;   ///< of `layer`, weights of products in 8 or 4 bits
    std::int64_t embedding = 0;      ///< without a tied table
    std::int64_t head = 0;           ///< with the final norm, without a tied table
    std::int64_t tied = 0;           ///< of a token embedding that is also the head, or of its copy
    bool has_embedding = false;
    bool has_head = false;
    bool chunked_loss = false;  ///< the loss makes the gradients of the head, too
    std::int64_t root() const { return embedding + head + tied; }
};

/// The units of a stage, of whose layers the graph has those that the fold leaves.
ShardedUnits sharded_units(const models::StageGraph& graph, LayerFold fold = {});

/// The number of the units: the layers, and what comes before and after them.
int count_of(const ShardedUnits& units);

/// The share of the elements whose gradients a backward completes at its end: those of the
/// embedding, or of the first layer.
double part_that_comes_last(const ShardedUnits& units);

/// The use that a pass makes of a stage's parameters.
struct PassUse {
    bool reads_parameters = true;
    bool makes_gradients = false;
    bool is_backward_input = false;
    bool several_holders = false;  ///< several ranks hold the stage
};
PassUse use_of(Pass pass, bool several_holders);
/// True if two pipeline ranks hold the same stage.
bool has_several_holders(const Placement& placement);

/// The place in a pass: before the head's product, as the loss is in a backward; in embedding or
/// head before its layers; in a layer; or after them.
enum class PassPlace : std::uint8_t { Loss, Before, First, Inner, Last, After };
constexpr std::size_t kPassPlaces = 6;
/// The memory that is gathered, and not yet reduced, by place, for layers of mean size; and what a
/// layer's elements beyond the mean, or below it, add.
struct HeldByPlace {
    ArrayBy<PassPlace, MemoryByClass, kPassPlaces> at{};
    std::vector<LayerElements> beyond;  ///< of each layer, where they differ
    // Bytes of an element: of gathered parameters, of gradients, and of their copies on the wire.
    std::int64_t gathered = 0;
    std::int64_t computed = 0;
    std::int64_t on_the_wire = 0;
    /// Bytes of a layer's whole gradients without its experts', where these are another unit: they
    /// are there from the first kernel that makes some of them.
    std::int64_t dense_of_layer = 0;
    /// Bytes of gathered parameters, in addition to those by place, as limits of fetching say
    /// (fetch_plan.h); unset where the place says all.
    struct Fetched {
        std::vector<Bytes> by_kernel;  ///< of the pass
        Bytes after;                   ///< the pass
        friend bool operator==(const Fetched&, const Fetched&) = default;
    };
    std::optional<Fetched> fetched;
    // Elements of a mean layer, and of its experts, where layers differ.
    std::int64_t mean_layer = 0;
    std::int64_t mean_experts = 0;

    const MemoryByClass& operator[](PassPlace place) const { return at[place]; }
    /// The gathered parameters that a forward leaves for its backward.
    Bytes parameters_left() const {
        return at[PassPlace::After][MemoryClass::Parameters] + (fetched ? fetched->after : Bytes{});
    }
    friend bool operator==(const HeldByPlace&, const HeldByPlace&) = default;
};
/// `fetched`: the pass, where DeepSpeed's limits say what it gathers; else null.
HeldByPlace held_by_place(const scenarios::Scenario& scenario, const ShardedUnits& units,
                          PassUse use, const FetchPass* fetched = nullptr);

/// The gradients that a backward of any kind leaves unreduced, until the stage's next one begins or
/// the step ends.
MemoryByClass left_unreduced(const scenarios::Scenario& scenario, const ShardedUnits& units,
                             PassUse use);

/// The same at every step of a pass: a step belongs to the next kernel.
class HeldAtSteps {
public:
    HeldAtSteps(const models::PassSteps& pass, const HeldByPlace& held);
    const MemoryByClass& at(std::size_t step) const { return levels_[level_at(step)]; }
    /// The number of the step's level among those of the pass.
    std::size_t level_at(std::size_t step) const { return of_steps_.empty() ? 0 : of_steps_[step]; }

private:
    std::vector<MemoryByClass> levels_;
    std::vector<std::size_t> of_steps_;
};

}  // namespace debubble::sim

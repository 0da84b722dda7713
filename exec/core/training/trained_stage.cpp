#include "exec/core/training/trained_stage.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "exec/core/training/state/initial_values.h"

namespace debubble::exec {

namespace {

constexpr std::optional<int> kBesideLayers;  ///< the key of embedding and head

constexpr std::int64_t kDrawnAtOnce = 1 << 20;  ///< elements of one chunk of fp32 scratch

Shape shape_of(const Dimensions& shape) {
    switch (shape.size()) {
        case 1: return {shape[0]};
        case 2: return {shape[0], shape[1]};
        case 3: return {shape[0], shape[1], shape[2]};
        default: return {shape[0], shape[1], shape[2], shape[3]};
    }
}

StatePolicy one_moment_less(StatePolicy policy) {
    policy.moment_count = std::max(0, policy.moment_count - 1);
    return policy;
}

}  // namespace

TrainedStage::TrainedStage(const models::StageGraph& graph, const StatePolicy& policy,
                           const StagePlace& place, Kernels& kernels, Arena& arena)
    : parameters_(graph.parameters),
      buffers_(graph.buffers),
      execution_(graph.execution),
      layers_(graph.architecture.layers.count()),
      policy_(policy),
      place_(place),
      matrix_policy_(one_moment_less(policy)),
      expert_matrix_policy_(place.experts ? one_moment_less(place.experts->policy) : policy),
      kernels_(&kernels),
      arena_(&arena),
      units_(units_of(graph, {policy.shares_gradients() && graph.execution.split_backward,
                              place.experts.has_value(), policy.steps_matrices})),
      addresses_(graph.parameters.size()),
      routers_(graph, kernels, arena),
      gathers_(units_.size()),
      reduced_(units_.size(), false) {
    states_.reserve(units_.size());
    for (const ParameterUnit& unit : units_) {
        for (const UnitSlot& slot : unit.slots) {
            addresses_[slot.parameter] = {
                states_.size(), slot.range.first,
                shape_of(local_shape(parameters_[slot.parameter], execution_))};
        }
        const bool apart = place_.experts && unit.experts;
        const StatePolicy& common = apart ? place_.experts->policy : policy_;
        const StatePolicy& of_matrices = apart ? expert_matrix_policy_ : matrix_policy_;
        states_.emplace_back(unit, unit.matrices ? of_matrices : common,
                             apart ? place_.experts->shard : place_.shard, arena, kernels);
    }
}

TensorView TrainedStage::at(const TensorView& whole, const Address& address) const {
    return part_of(whole, address.first, address.shape.elements()).reshaped(address.shape);
}

TensorView TrainedStage::value(int parameter) {
    const Address& address = addresses_[parameter];
    const UnitState& unit = states_[address.unit];
    if (!unit.values()) {
        DEBUBBLE_CHECK(policy_.gathers_in_passes && !pass_gathers_,
                       "parameters are read between Unshard and Reshard, or open and close");
        return {nullptr, address.shape, policy_.compute};
    }
    return at(unit.values(), address);
}

TensorView TrainedStage::gradient(int parameter) {
    const Address& address = addresses_[parameter];
    UnitState& unit = states_[address.unit];
    if (!unit.gradients()) {
        unit.have_gradients();
        kernels_->fill_zero(unit.gradients());
    }
    return at(unit.gradients(), address);
}

void TrainedStage::begin_pass(const PassOrder& order, PassReads reads) {
    order_ = order;
    at_ = 0;
    reduces_ = std::exchange(reduces_next_, false) || policy_.gathers_in_passes;
    pass_gathers_ = policy_.gathers_in_passes && reads == PassReads::Parameters;
    if (!pass_gathers_) return;
    if (std::ranges::count(order_, kBesideLayers) > 0) ask_for(kBesideLayers);
    const auto first = std::ranges::find_if(order_, &std::optional<int>::has_value);
    if (first != order_.end()) ask_for(*first);
}

/// Starts the gathers of units that are neither gathered nor being gathered.
void TrainedStage::ask_for(std::optional<int> layer) {
    for (std::size_t u = 0; u < states_.size(); ++u) {
        UnitState& unit = states_[u];
        if (unit.unit().layer != layer || unit.values()) continue;
        gathers_[u] = gather_unit(unit, unit.unit().name);
    }
}

void TrainedStage::open(std::optional<int> layer) {
    while (at_ < order_.size() && order_[at_] != layer) ++at_;
    if (!pass_gathers_) return;
    const HostTime begin = HostTime::now();
    ask_for(layer);
    for (std::size_t u = 0; u < states_.size(); ++u)
        if (states_[u].unit().layer == layer && gathers_[u])
            std::exchange(gathers_[u], nullptr)->wait(within(place_.patience));
    communicated_ += HostTime::now() - begin;
    if (at_ + 1 < order_.size() && order_[at_ + 1]) ask_for(order_[at_ + 1]);
}

/// Whether the pass uses the unit again. A parameter outside the layers may be used at both ends of
/// the stage, one of the head at one end only: before and after the layers of multi-token
/// prediction, if there are some.
bool TrainedStage::comes_again(const UnitState& unit) const {
    if (unit.unit().layer || at_ + 1 >= order_.size()) return false;
    if (unit.unit().head) return order_[at_ + 1].value_or(0) >= layers_;
    return std::ranges::count(std::span(order_).subspan(at_ + 1), kBesideLayers) > 0;
}

void TrainedStage::close(std::optional<int> layer) {
    std::vector<std::size_t> complete;
    for (std::size_t u = 0; u < states_.size(); ++u) {
        UnitState& unit = states_[u];
        if (unit.unit().layer != layer) continue;
        if (policy_.gathers_in_passes && layer) unit.drop_values();
        if (reduces_ && is_shared(unit) && unit.gradients() && !reduced_[u] && !comes_again(unit))
            complete.push_back(u);
    }
    if (complete.empty()) return;
    // The memory of whole gradients, or of copies of them, must not grow.
    if (shares_gradients() || policy_.wire != policy_.gradients) finish_reductions();
    for (const std::size_t u : complete) {
        UnitState& unit = states_[u];
        reductions_.push_back(begin_reduction(unit, *replicas_of(unit),
                                              unit.policy().zero_stage > 0, *kernels_, *arena_,
                                              unit.unit().name));
        reduced_[u] = true;
    }
}

void TrainedStage::end_pass() {
    reduces_ = false;
    order_.clear();
    if (!policy_.gathers_in_passes) return;
    finish_reductions();
    reduced_.assign(reduced_.size(), false);
    for (UnitState& unit : states_)
        if (!unit.unit().layer) unit.drop_values();
}

void TrainedStage::finish_reductions() {
    for (UnitReduction& reduction : reductions_) {
        const HostTime begin = HostTime::now();
        reduction.request->wait(within(place_.patience));
        communicated_ += HostTime::now() - begin;
        finish_reduction(reduction, *kernels_);
    }
    reductions_.clear();
}

bool TrainedStage::shares_gradients() const {
    return std::ranges::any_of(
        states_, [](const UnitState& unit) { return unit.policy().shares_gradients(); });
}

std::vector<UnitReduction> TrainedStage::reduce(const ReductionGroups& groups, bool in_step,
                                                std::string_view label) {
    for (std::size_t u = 0; u < states_.size(); ++u) {
        UnitState& unit = states_[u];
        Communicator* const group = is_apart(unit) ? groups.experts : groups.dense;
        if (group == nullptr || reduced_[u]) continue;
        const bool scatter = in_step && unit.policy().zero_stage > 0;
        if (scatter && unit.policy().shares_gradients() && !unit.gradients()) continue;
        reductions_.push_back(begin_reduction(unit, *group, scatter, *kernels_, *arena_, label));
    }
    reduced_.assign(reduced_.size(), false);
    return std::exchange(reductions_, {});
}

void TrainedStage::initialise(const models::Architecture& architecture, std::uint64_t seed) {
    for (UnitState& state : states_) {
        for (const UnitSlot& slot : state.unit().slots) {
            const models::Parameter& parameter = parameters_[slot.parameter];
            const InitialValue value = initial_value(architecture, parameter.initial);
            const FlatRange held = intersection(slot.range, state.values_held());
            for (std::int64_t done = 0; done < held.count; done += kDrawnAtOnce) {
                const FlatRange piece{held.first + done, std::min(kDrawnAtOnce, held.count - done)};
                const Tensor drawn({piece.count});
                const auto slices =
                    slices_of(parameter, execution_, cutting_rank(slot.parameter),
                              FlatRange{piece.first - slot.range.first, piece.count});
                fill_initial(value, parameter, seed, slices, drawn.as<float>());
                kernels_->upload(drawn.view(), state.held_values(piece));
                const FlatRange stepped = intersection(piece, state.stepped());
                if (policy_.main && stepped.count > 0)
                    kernels_->upload(
                        part_of(drawn.view(), stepped.first - piece.first, stepped.count),
                        state.main(stepped));
            }
        }
    }
}

Pending TrainedStage::gather_unit(UnitState& unit, std::string_view label) {
    if (!unit.values()) unit.have_values();
    return replicas_of(unit)->all_gather(unit.held_values(unit.owned()), unit.values(), label);
}

std::vector<Pending> TrainedStage::gather(std::string_view label) {
    std::vector<Pending> requests;
    if (policy_.gathers_in_passes) return requests;
    for (UnitState& unit : states_)
        if (unit.policy().zero_stage > 0) requests.push_back(gather_unit(unit, label));
    return requests;
}

void TrainedStage::drop_values() {
    if (!policy_.shares_values()) return;
    for (UnitState& unit : states_) unit.drop_values();
}

void TrainedStage::zero_gradients() {
    for (UnitState& unit : states_) kernels_->fill_zero(unit.held_gradients(unit.gradients_held()));
}

}  // namespace debubble::exec

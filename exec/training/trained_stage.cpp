#include "exec/training/trained_stage.h"

#include <algorithm>
#include <cassert>

#include "exec/training/initial_values.h"

namespace debubble::exec {

namespace {

constexpr std::int64_t kDrawnAtOnce = 1 << 20;  ///< elements of one piece of fp32 scratch

Shape shape_of(const Extents& extents) {
    switch (extents.size()) {
        case 1: return {extents[0]};
        case 2: return {extents[0], extents[1]};
        case 3: return {extents[0], extents[1], extents[2]};
        default: return {extents[0], extents[1], extents[2], extents[3]};
    }
}

}  // namespace

TrainedStage::TrainedStage(const models::StageGraph& graph, const StatePolicy& policy,
                           const StagePlace& place, Kernels& kernels, Arena& arena)
    : parameters_(graph.parameters),
      execution_(graph.execution),
      policy_(policy),
      place_(place),
      kernels_(&kernels),
      arena_(&arena),
      units_(units_of(graph)),
      addresses_(graph.parameters.size()) {
    states_.reserve(units_.size());
    for (const ParameterUnit& unit : units_) {
        for (const UnitSlot& slot : unit.slots) {
            const auto index = static_cast<std::size_t>(slot.parameter);
            addresses_[index] = {states_.size(), slot.range.first,
                                 shape_of(local_shape(parameters_[index], execution_))};
        }
        states_.emplace_back(unit, policy_, place_.shard, arena, kernels);
    }
}

TensorView TrainedStage::at(const TensorView& whole, const Address& address) const {
    return part_of(whole, address.first, address.shape.elements()).reshaped(address.shape);
}

TensorView TrainedStage::value(int parameter) {
    const Address& address = addresses_[static_cast<std::size_t>(parameter)];
    const UnitState& unit = states_[address.unit];
    assert(unit.values() && "a pass runs between Unshard and Reshard, or open and close");
    return at(unit.values(), address);
}

TensorView TrainedStage::gradient(int parameter) {
    const Address& address = addresses_[static_cast<std::size_t>(parameter)];
    UnitState& unit = states_[address.unit];
    if (!unit.gradients()) {
        unit.have_gradients();
        kernels_->fill_zero(unit.gradients());
    }
    return at(unit.gradients(), address);
}

void TrainedStage::open(std::optional<int> layer) {
    if (!policy_.gathers_in_passes) return;
    const Clock::time_point begin = Clock::now();
    std::vector<Pending> requests;
    for (UnitState& unit : states_)
        if (unit.unit().layer == layer && !unit.values())
            requests.push_back(gather_unit(unit, unit.unit().name));
    for (const Pending& request : requests) request->wait(within(place_.patience));
    communicated_ += Clock::now() - begin;
}

void TrainedStage::close(std::optional<int> layer) {
    if (!policy_.gathers_in_passes) return;
    std::vector<UnitReduction> reductions;
    for (UnitState& unit : states_) {
        if (unit.unit().layer != layer) continue;
        unit.drop_values();
        if (unit.gradients())
            reductions.push_back(begin_reduction(unit, policy_, *place_.replicas, true, *kernels_,
                                                 *arena_, unit.unit().name));
    }
    for (UnitReduction& reduction : reductions) {
        const Clock::time_point begin = Clock::now();
        reduction.request->wait(within(place_.patience));
        communicated_ += Clock::now() - begin;
        finish_reduction(reduction, policy_, *kernels_, *arena_);
    }
}

void TrainedStage::initialise(const models::Architecture& architecture, std::uint64_t seed) {
    for (UnitState& state : states_) {
        for (const UnitSlot& slot : state.unit().slots) {
            const models::Parameter& parameter =
                parameters_[static_cast<std::size_t>(slot.parameter)];
            const InitialValue value = initial_value(architecture, parameter, slot.norm);
            const FlatRange held = intersection(slot.range, state.values_held());
            for (std::int64_t done = 0; done < held.count; done += kDrawnAtOnce) {
                const FlatRange piece{held.first + done, std::min(kDrawnAtOnce, held.count - done)};
                const Tensor drawn({piece.count});
                const auto slices =
                    slices_of(parameter, execution_, place_.tensor_rank,
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
    return place_.replicas->all_gather(unit.held_values(unit.owned()), unit.values(), label);
}

std::vector<Pending> TrainedStage::gather(std::string_view label) {
    std::vector<Pending> requests;
    if (policy_.zero_stage == 0 || policy_.gathers_in_passes) return requests;
    for (UnitState& unit : states_) requests.push_back(gather_unit(unit, label));
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

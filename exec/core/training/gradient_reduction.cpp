#include "exec/core/training/state/unit_state.h"

namespace debubble::exec {

UnitReduction begin_reduction(UnitState& unit, Communicator& group, bool scatter, Kernels& kernels,
                              Arena& arena, std::string_view label) {
    const StatePolicy& policy = unit.policy();
    if (!unit.gradients()) {  // the rank has run no backward since the last reduction
        unit.have_gradients();
        kernels.fill_zero(unit.gradients());
    }
    UnitReduction reduction{&unit, {}, unit.gradients(), {}};
    if (policy.wire != policy.gradients) {
        reduction.wire = arena.allocate(reduction.sent.shape, policy.wire, MemoryClass::Buffers,
                                        unit.unit().name + " gradients on the wire");
        kernels.copy(reduction.sent, reduction.wire.view());
        reduction.sent = reduction.wire.view();
    }
    const FlatRange mine = unit.owned();
    reduction.request =
        scatter
            ? group.reduce_scatter(reduction.sent, part_of(reduction.sent, mine.first, mine.count),
                                   Reduction::Sum, label)
            : group.all_reduce(reduction.sent, Reduction::Sum, label);
    return reduction;
}

void finish_reduction(UnitReduction& reduction, Kernels& kernels) {
    UnitState& unit = *reduction.unit;
    const StatePolicy& policy = unit.policy();
    const FlatRange mine = unit.owned();
    if (!policy.shares_gradients()) {
        const FlatRange summed = policy.zero_stage == 0 ? unit.whole() : mine;
        if (reduction.wire)
            kernels.copy(part_of(reduction.sent, summed.first, summed.count),
                         unit.held_gradients(summed));
        return;
    }
    kernels.add(part_of(reduction.sent, mine.first, mine.count), unit.held_gradients(mine));
    unit.drop_gradients();
}

}  // namespace debubble::exec

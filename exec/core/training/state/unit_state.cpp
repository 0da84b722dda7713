#include "exec/core/training/state/unit_state.h"

#include <fmt/format.h>

#include "base/check.h"

namespace debubble::exec {

UnitState::UnitState(const ParameterUnit& unit, const StatePolicy& policy, int shard, Arena& arena,
                     Kernels& kernels)
    : unit_(&unit), policy_(&policy), arena_(&arena), owned_(unit.share_of(shard, policy.shards)) {
    padded_ = policy.zero_stage > 0 ? unit.share(policy.shards) * policy.shards : unit.elements;
    if (policy.zero_stage == 0) owned_ = intersection(owned_, whole());
    const auto allocate = [&](std::int64_t count, DataType type, MemoryClass held_as,
                              const char* what) {
        return arena.allocate({count}, type, held_as, fmt::format("{} {}", unit.name, what));
    };
    if (policy.shares_values())
        value_share_ =
            allocate(owned_.count, policy.compute, MemoryClass::Parameters, "parameter share");
    else
        have_values();
    if (policy.shares_gradients())
        gradient_share_ =
            allocate(owned_.count, policy.gradients, MemoryClass::Gradients, "gradient share");
    else
        have_gradients();
    const auto optimizer = [&](DataType type, const char* what) -> HeldTensor {
        if (policy.offload_optimizer) return {arena, {stepped().count}, type};
        return allocate(stepped().count, type, MemoryClass::Optimizer, what);
    };
    if (policy.main) main_ = optimizer(*policy.main, "main parameters");
    for (int m = 0; m < policy.moment_count; ++m)
        moments_[m] = optimizer(policy.moments, m == 0 ? "first moment" : "second moment");
    for (const TensorView& held :
         {values_.view(), value_share_.view(), gradients_.view(), gradient_share_.view(),
          main_.view(), moments_[0].view(), moments_[1].view()})
        if (held) kernels.fill_zero(held);
}

void UnitState::have_values() {
    DEBUBBLE_CHECK(!values_, "the parameters are not there yet");
    values_ = arena_->allocate({padded_}, policy_->compute, MemoryClass::Parameters,
                               unit_->name + " parameters");
}

void UnitState::have_gradients() {
    DEBUBBLE_CHECK(!gradients_, "the gradients are not there yet");
    gradients_ = arena_->allocate({padded_}, policy_->gradients, MemoryClass::Gradients,
                                  unit_->name + " gradients");
}

TensorView UnitState::held_values(const FlatRange& range) const {
    const bool share = policy_->shares_values();
    return part_of(share ? value_share_.view() : values_.view(),
                   range.first - (share ? owned_.first : 0), range.count);
}

TensorView UnitState::held_gradients(const FlatRange& range) const {
    const bool share = policy_->shares_gradients();
    return part_of(share ? gradient_share_.view() : gradients_.view(),
                   range.first - (share ? owned_.first : 0), range.count);
}

}  // namespace debubble::exec

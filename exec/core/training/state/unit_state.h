#pragma once

#include "exec/core/arena.h"
#include "exec/core/kernels.h"
#include "exec/core/training/state/held_tensor.h"
#include "exec/core/training/state/parameter_units.h"
#include "exec/core/training/state/state_policy.h"

namespace debubble::exec {

/// A unit's parameters, gradients and optimizer state on one rank: the parts that the policy lets
/// it hold all the time, and those that it has for a while.
///
/// Whole buffers are padded to `shards` equal shares where something is cut. `stepped` is the range
/// that the optimizer of this rank steps, `owned` the range that this rank counts in norms and
/// saves in checkpoints; they differ only where all ranks step everything (ZeRO-0).
class UnitState {
public:
    /// Makes a state whose values are all zero.
    UnitState(const ParameterUnit& unit, const StatePolicy& policy, int shard, Arena& arena,
              Kernels& kernels);

    const ParameterUnit& unit() const { return *unit_; }
    const StatePolicy& policy() const { return *policy_; }
    FlatRange whole() const { return {0, padded_}; }
    FlatRange owned() const { return owned_; }
    FlatRange stepped() const { return policy_->shares_optimizer() ? owned_ : whole(); }
    /// The range of parameters, and of reduced gradients, that is held all the time.
    FlatRange values_held() const { return policy_->shares_values() ? owned_ : whole(); }
    FlatRange gradients_held() const { return policy_->shares_gradients() ? owned_ : whole(); }

    // The parameters of the whole unit; empty while ZeRO has dropped them.
    TensorView values() const { return values_.view(); }
    TensorView gradients() const { return gradients_.view(); }
    void have_values();     ///< uninitialised
    void have_gradients();  ///< the caller writes the zeros
    void drop_values() { values_ = {}; }
    void drop_gradients() { gradients_ = {}; }

    // Views of a range that is held all the time.
    TensorView held_values(const FlatRange& range) const;
    TensorView held_gradients(const FlatRange& range) const;
    // Views of a range in stepped().
    TensorView main(const FlatRange& range) const { return stepped_part(main_, range); }
    TensorView moment(int index, const FlatRange& range) const {
        return stepped_part(moments_[index], range);
    }
    int moments() const { return policy_->moment_count; }

private:
    TensorView stepped_part(const HeldTensor& tensor, const FlatRange& range) const {
        return part_of(tensor.view(), range.first - stepped().first, range.count);
    }

    const ParameterUnit* unit_;
    const StatePolicy* policy_;
    Arena* arena_;
    std::int64_t padded_ = 0;
    FlatRange owned_;
    ArenaTensor values_;
    ArenaTensor value_share_;
    ArenaTensor gradients_;
    ArenaTensor gradient_share_;
    HeldTensor main_;
    HeldTensor moments_[2];
};

}  // namespace debubble::exec

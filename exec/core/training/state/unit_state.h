#pragma once

#include <memory>
#include <string_view>

#include "exec/core/arena.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/kernels.h"
#include "exec/core/tensor.h"
#include "exec/core/training/state/state_policy.h"

/// The state of a unit of parameters on one rank, and the reduction of its gradients.
namespace debubble::exec {

/// A flat tensor of a rank: in its arena, or, if it is offloaded, outside it
/// (Arena::allocate_outside).
class HeldTensor {
public:
    HeldTensor() = default;
    HeldTensor(ArenaTensor tensor) : inside_(std::move(tensor)) {}
    /// A tensor outside the arena.
    HeldTensor(const Arena& arena, const Shape& shape, DataType type)
        : outside_(arena.allocate_outside(Bytes{shape.elements() * size_of(type)})),
          view_{outside_.get(), shape, type} {}

    explicit operator bool() const { return inside_ || outside_; }
    TensorView view() const { return inside_ ? inside_.view() : view_; }

private:
    ArenaTensor inside_;
    std::shared_ptr<std::byte> outside_;
    TensorView view_;
};

/// Elements [first, first + count) of a flat tensor; empty if the tensor is.
inline TensorView part_of(const TensorView& flat, std::int64_t first, std::int64_t count) {
    if (!flat) return {};
    return {flat.data + first * size_of(flat.type), {count}, flat.type};
}

/// A unit's parameters, gradients and optimizer state on one rank: the parts that the policy keeps
/// permanently, and those that are there for a while.
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

// The reduction of a unit's gradients over the ranks that share it.

struct UnitReduction {
    UnitState* unit = nullptr;
    ArenaTensor wire;  ///< the gradients in another type, if they are sent in one
    TensorView sent;
    Pending request;
};

/// Starts the sum of the whole gradients of a unit: scattered, so that each rank has the sum of its
/// share, or on all ranks. They are sent in the type of the unit's policy; sums are made in fp32 at
/// least.
UnitReduction begin_reduction(UnitState& unit, Communicator& group, bool scatter, Kernels& kernels,
                              Arena& arena, std::string_view label);

/// Completes a reduction once its request is done: the gradients that are held become the sum.
/// Where gradients are sharded, the sum is added to the rank's share, and the whole gradients are
/// freed.
void finish_reduction(UnitReduction& reduction, Kernels& kernels);

}  // namespace debubble::exec

#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "models/graph/operator_runs.h"

/// The passes of a stage as its operators' runs in the order of execution, and the tensors that
/// each of them allocates and frees. Private to steps.cpp and what it is made of.
namespace debubble::models {

/// An operator's run, before it is known which tensors live how long.
struct OperatorUse {
    const Operator* op;
    Part part;
    int pass;  ///< pass: 0 forward, 1 backward or backward-input, 2 backward-weight
    /// By tensor, what a run again gives and something else keeps; null if that is nothing.
    std::shared_ptr<const std::vector<bool>> kept = {};
    /// It runs again without what made its inputs, and reads the copy that it has kept of one.
    bool alone = false;

    bool reads_copy() const { return alone && op->kept_copy.has_value(); }

    /// The tensors of the two halves of a fused backward, else one list and an empty one.
    std::array<std::span<const int>, 2> tensors() const;
    /// A forward makes all of its tensors again except its inputs, and what other slices see.
    bool begins(const StageGraph& graph, int tensor) const;
};

/// Forward, then the operators in reverse, each after what it needs again.
std::vector<OperatorUse> uses_of(const StageGraph& graph, bool split);

/// Tensors by the use at which something happens to them, in the order in which they were added.
class TensorsByUse {
public:
    void add(std::size_t at, int tensor) { added_.push_back({at, tensor}); }
    void sort(std::size_t uses) {
        first_.assign(uses + 1, 0);
        if (added_.empty()) return;
        for (const Entry& entry : added_) ++first_[entry.at + 1];
        for (std::size_t at = 0; at < uses; ++at) first_[at + 1] += first_[at];
        tensors_.resize(added_.size());
        std::vector<std::size_t> next = first_;
        for (const Entry& entry : added_) tensors_[next[entry.at]++] = entry.tensor;
    }
    std::span<const int> at(std::size_t use) const {
        return std::span(tensors_).subspan(first_[use], first_[use + 1] - first_[use]);
    }

private:
    struct Entry {
        std::size_t at;
        int tensor;
    };
    std::vector<Entry> added_;
    std::vector<std::size_t> first_;  ///< of each use, and the end of all
    std::vector<int> tensors_;
};

/// The tensors that each operator's run allocates before its kernels and frees after them.
struct Lifetimes {
    TensorsByUse born;
    TensorsByUse dies;
    TensorsByUse leaves;   ///< those of `dies` that go to the host
    TensorsByUse returns;  ///< those of `born` that come back

    Lifetimes(const StageGraph& graph, const std::vector<OperatorUse>& uses);
};

}  // namespace debubble::models

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace debubble::exec::cuda {

/// The algorithms that a library offers for one kind of product, best first. What it offers it may
/// still refuse to run (an epilogue with these strides, a workspace, a kernel that this GPU lacks);
/// an algorithm that was refused is never asked for again, and one that ran stays.
template <class Algorithm>
class Candidates {
public:
    Candidates() = default;
    explicit Candidates(std::vector<Algorithm> best_first) : all_(std::move(best_first)) {}

    bool empty() const { return at_ >= all_.size(); }
    const Algorithm& best() const { return all_[at_]; }

    /// Runs the best algorithm for which `run` returns true; returns false if all were refused. A
    /// refused algorithm has done nothing.
    template <class Run>
    bool run(Run&& run) {
        for (; at_ < all_.size(); ++at_)
            if (run(all_[at_])) return true;
        return false;
    }

private:
    std::vector<Algorithm> all_;
    std::size_t at_ = 0;  ///< the first one that was not refused
};

}  // namespace debubble::exec::cuda

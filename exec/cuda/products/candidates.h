#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace debubble::exec::cuda {

/// The algorithms that a library proposes for one kind of GEMM, best first. It may still refuse to
/// run one of them (an epilogue with these strides, a workspace, a kernel that this GPU lacks); an
/// algorithm that was refused is never asked for again, and one that ran stays.
template <class Algorithm>
class Candidates {
public:
    Candidates() = default;
    explicit Candidates(std::vector<Algorithm> best_first) : all_(std::move(best_first)) {}

    bool empty() const { return at_ >= all_.size(); }
    const Algorithm& best() const { return all_[at_]; }

    /// Puts an algorithm before all others.
    void put_first(const Algorithm& algorithm) {
        all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(at_), algorithm);
    }
    /// Sorts by the seconds that `seconds_of` gives; algorithms for which it gives nothing were
    /// refused and are left out. Of equally fast ones the library's order stays.
    template <class SecondsOf>
    void order_by(SecondsOf&& seconds_of) {
        std::vector<std::pair<double, Algorithm>> timed;
        for (; at_ < all_.size(); ++at_)
            if (const std::optional<double> seconds = seconds_of(all_[at_]))
                timed.emplace_back(*seconds, all_[at_]);
        std::ranges::stable_sort(timed, {}, [](const auto& each) { return each.first; });
        all_.clear();
        at_ = 0;
        for (auto& [seconds, algorithm] : timed) all_.push_back(std::move(algorithm));
    }

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

#include "sim/network/max_min.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace debubble::sim {
namespace {

// Links whose shares differ only by rounding are saturated at the same moment.
constexpr double kSameShare = 1 + 1e-12;

}  // namespace

void MaxMinSolver::open(std::span<const double> capacity, std::span<const FlowLinks> flows,
                        std::span<double> rates) {
    if (loads_.size() < capacity.size()) loads_.resize(capacity.size());
    crossed_.clear();
    waiting_.clear();
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const bool free = flows[i].empty();
        for (const std::int32_t link : flows[i]) {
            assert(static_cast<std::size_t>(link) < capacity.size() && "no such link");
            Load& load = loads_[link];
            if (load.waits++ == 0) {
                load.left = capacity[link];
                load.full = false;
                crossed_.push_back(link);
            }
        }
        rates[i] = free ? std::numeric_limits<double>::infinity() : 0;
        if (!free) waiting_.push_back(i);
    }
}

double MaxMinSolver::smallest_share() {
    double smallest = std::numeric_limits<double>::infinity();
    for (const std::int32_t link : crossed_)
        smallest = std::min(smallest, loads_[link].left / loads_[link].waits);
    return smallest;
}

void MaxMinSolver::freeze(const FlowLinks& flow, double rate) {
    for (const std::int32_t link : flow) {
        Load& load = loads_[link];
        load.left = std::max(0.0, load.left - rate);
        --load.waits;
    }
}

void MaxMinSolver::solve(std::span<const double> capacity, std::span<const FlowLinks> flows,
                         std::span<double> rates) {
    assert(rates.size() == flows.size() && "one rate per flow");
    open(capacity, flows, rates);
    while (!waiting_.empty()) {
        const double share = smallest_share();
        // The saturated links are determined before any flow is frozen, since freezing changes the
        // shares.
        for (const std::int32_t link : crossed_) {
            Load& load = loads_[link];
            load.full = load.left <= share * load.waits * kSameShare;
        }
        const auto full = [&](std::int32_t link) { return loads_[link].full; };
        const auto still_waiting =
            std::partition(waiting_.begin(), waiting_.end(),
                           [&](std::size_t i) { return std::ranges::none_of(flows[i], full); });
        for (auto it = still_waiting; it != waiting_.end(); ++it) {
            rates[*it] = share;
            freeze(flows[*it], share);
        }
        waiting_.erase(still_waiting, waiting_.end());
        std::erase_if(crossed_, [&](std::int32_t link) { return loads_[link].waits == 0; });
    }
}

void max_min_rates(std::span<const double> capacity, std::span<const FlowLinks> flows,
                   std::span<double> rates) {
    MaxMinSolver{}.solve(capacity, flows, rates);
}

}  // namespace debubble::sim

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/inline_vector.h"

/// Bandwidth sharing as a system of equations. Knows nothing of networks: links are capacities,
/// flows are the sets of links that they cross.
///
/// An allocation is max-min fair if no flow can get more without taking from one that has no more
/// than itself. There is exactly one such allocation; it is found by progressive filling (Bertsekas
/// and Gallager, Data Networks, 1992, section 6.5.2).
namespace debubble::sim {

/// Indices of the links that a flow crosses. A link named twice is crossed twice.
using FlowLinks = InlineVector<std::int32_t, 4>;

/// Reuses its memory: no allocation once the largest system has been solved. Not thread-safe; one
/// per simulation.
class MaxMinSolver {
public:
    /// rates[i] becomes the share of flows[i], infinite if it crosses no link. Preconditions:
    /// capacities are not negative, links are in range, rates.size() == flows.size().
    void solve(std::span<const double> capacity, std::span<const FlowLinks> flows,
               std::span<double> rates);

private:
    struct Load {
        double left = 0;         ///< capacity that is not yet assigned
        std::int32_t waits = 0;  ///< crossings by flows without a rate
        bool full = false;
    };
    void open(std::span<const double> capacity, std::span<const FlowLinks> flows,
              std::span<double> rates);
    double smallest_share();
    void freeze(const FlowLinks& flow, double rate);

    std::vector<Load> loads_;            ///< indexed by link; `waits` is 0 between calls
    std::vector<std::int32_t> crossed_;  ///< links that are crossed by flows without a rate
    std::vector<std::size_t> waiting_;   ///< flows that have no rate yet
};

/// The same with a temporary solver, for a single system.
void max_min_rates(std::span<const double> capacity, std::span<const FlowLinks> flows,
                   std::span<double> rates);

}  // namespace debubble::sim

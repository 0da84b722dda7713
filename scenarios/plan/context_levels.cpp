#include "scenarios/plan/derived.h"

#include <algorithm>
#include <numeric>

namespace debubble::scenarios {

ContextLevels context_levels(const Scenario& scenario) {
    const Parallel& parallel = scenario.parallel;
    const std::vector<int>& given = parallel.hierarchical_context_parallel_sizes;
    if (!given.empty()) return {given.front(), parallel.context / given.front()};
    const int node = std::max(1, scenario.cluster.gpus_per_node);
    // Ranks of a tensor group come first, so that neighbours in the context group are as far apart.
    const int in_node = node % parallel.tensor == 0 ? node / parallel.tensor : 1;
    const int inner = std::gcd(parallel.context, in_node);
    return {inner, parallel.context / inner};
}

}  // namespace debubble::scenarios

#include "scenarios/plan/packing.h"

#include <algorithm>
#include <numeric>

namespace debubble::scenarios {
namespace {

std::int64_t cutting_ranks(const Scenario& scenario) {
    const Parallel& parallel = scenario.parallel;
    return parallel.dynamic_context_parallel ? parallel.replicas() : parallel.context;
}

std::int64_t round_up(std::int64_t tokens, std::int64_t multiple) {
    return (tokens + multiple - 1) / multiple * multiple;
}

}  // namespace

bool packs_in_step(const Scenario& scenario) {
    return scenario.parallel.dynamic_context_parallel ||
           (scenario.imbalance.documents && scenario.imbalance.documents->global_batch_packing);
}

std::vector<int> context_group_sizes(int ranks) {
    std::vector<int> sizes;
    for (int size = 1; size < ranks && ranks % size == 0; size *= 2) sizes.push_back(size);
    sizes.push_back(ranks);
    return sizes;
}

std::vector<int> context_group_sizes(const Scenario& scenario) {
    const Parallel& parallel = scenario.parallel;
    if (!parallel.dynamic_context_parallel) return {parallel.context};
    std::vector<int> sizes = context_group_sizes(parallel.replicas());
    std::erase_if(sizes,
                  [&](int size) { return size < parallel.min_dynamic_context_parallel_size; });
    return sizes;
}

std::int64_t rank_capacity(const Scenario& scenario) {
    return scenario.parallel.max_seqlen_per_dp_cp_rank.value_or(scenario.training.seq_length /
                                                                scenario.parallel.context);
}

GroupRules group_rules(const Scenario& scenario) {
    return {rank_capacity(scenario), context_group_sizes(scenario)};
}

int ranks_needed(std::int64_t length, const GroupRules& rules) {
    const std::int64_t ranks = (length + rules.capacity - 1) / rules.capacity;
    return *std::ranges::lower_bound(rules.sizes, ranks);
}

std::int64_t document_alignment(const Scenario& scenario) {
    const std::int64_t ranks = cutting_ranks(scenario);
    const std::int64_t halves = ranks > 1 ? 2 * ranks : 1;
    const Parallel& parallel = scenario.parallel;
    return parallel.sequence ? std::lcm(halves, ranks * parallel.tensor) : halves;
}

std::int64_t longest_document(const Scenario& scenario) {
    const std::int64_t length = scenario.training.seq_length;
    const auto& documents = scenario.imbalance.documents;
    const std::int64_t longest = documents ? documents->longest.value_or(length) : length;
    return round_up(longest, document_alignment(scenario));
}

int fewest_documents(const Scenario& scenario, std::int64_t tokens) {
    const std::int64_t longest = longest_document(scenario);
    int documents = 1;
    while (tokens / documents > longest) documents *= 2;
    return documents;
}

Scenario filled_groups(Scenario scenario, int ranks) {
    Parallel& parallel = scenario.parallel;
    const std::int64_t tokens = rank_capacity(scenario) * ranks;
    const int documents = fewest_documents(scenario, tokens);
    const int replicas = parallel.replicas();
    parallel.context = ranks;
    parallel.data = replicas / ranks;
    scenario.training.seq_length = tokens / documents;
    scenario.training.micro_batch = documents;
    return scenario;
}

Scenario with_full_ranks(const Scenario& scenario) {
    if (!packs_in_step(scenario)) return scenario;
    return filled_groups(scenario, ranks_needed(longest_document(scenario), group_rules(scenario)));
}

}  // namespace debubble::scenarios

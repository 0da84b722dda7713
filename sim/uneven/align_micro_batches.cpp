#include <algorithm>

#include "sim/uneven/document_groups.h"

namespace debubble::sim {
namespace {

int ranks_of(const PackedMicroBatch& micro_batch) {
    int ranks = 0;
    for (const DocumentGroup& group : micro_batch) ranks += group.ranks;
    return ranks;
}

/// Enlarges the first of the smallest groups to the next size until all ranks have documents, or
/// makes one group of all ranks.
void spread_over_all(PackedMicroBatch& micro_batch, const GroupRules& rules) {
    const int all = rules.sizes.back();
    while (ranks_of(micro_batch) < all) {
        const auto smallest = std::ranges::min_element(micro_batch, {}, &DocumentGroup::ranks);
        const auto size = std::ranges::upper_bound(rules.sizes, smallest->ranks);
        if (size != rules.sizes.end() && ranks_of(micro_batch) + *size - smallest->ranks <= all) {
            smallest->ranks = *size;
            continue;
        }
        DocumentGroup whole{0, all, {}};
        for (const DocumentGroup& group : micro_batch)
            whole.documents.insert(whole.documents.end(), group.documents.begin(),
                                   group.documents.end());
        micro_batch = {std::move(whole)};
    }
    int rank = 0;
    for (DocumentGroup& group : micro_batch) {
        group.first_rank = rank;
        rank += group.ranks;
    }
}

/// The groups of the first half of the ranks stay, and the others are returned, both spread over
/// all ranks.
PackedMicroBatch split_off(PackedMicroBatch& micro_batch, const GroupRules& rules) {
    const int half = rules.sizes.back() / 2;
    auto second = micro_batch.begin() + 1;
    while (second + 1 != micro_batch.end() && second->first_rank < half) ++second;
    PackedMicroBatch rest(second, micro_batch.end());
    micro_batch.erase(second, micro_batch.end());
    spread_over_all(micro_batch, rules);
    spread_over_all(rest, rules);
    return rest;
}

}  // namespace

bool align_micro_batches(std::vector<PackedMicroBatch>& micro_batches, int multiple,
                         const GroupRules& rules) {
    std::size_t missing = (multiple - micro_batches.size() % multiple) % multiple;
    while (missing > 0) {
        const std::size_t before = missing;
        for (std::size_t i = micro_batches.size(); i-- > 0 && missing > 0;) {
            if (micro_batches[i].size() < 2) continue;
            micro_batches.push_back(split_off(micro_batches[i], rules));
            --missing;
        }
        if (missing == before) return false;
    }
    return true;
}

}  // namespace debubble::sim

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/plan/packing.h"
#include "scenarios/plan/scenario.h"

/// Documents of a global batch, packed into microbatches for groups of context-parallel ranks.
namespace debubble::sim {

struct Document {
    int id = 0;
    std::int64_t length = 0;  ///< tokens, padded
    friend bool operator==(const Document&, const Document&) = default;
};

/// Documents that a group of neighbouring ranks of data x context computes in one microbatch, each
/// of them cut over all of its ranks.
struct DocumentGroup {
    int first_rank = 0;
    int ranks = 1;
    std::vector<Document> documents;
    friend bool operator==(const DocumentGroup&, const DocumentGroup&) = default;

    std::int64_t tokens() const;
    double tokens_of_rank() const;
    /// The sum of squared lengths, divided over the ranks: Megatron-Core's estimate of a rank's
    /// work.
    double work() const;
};

/// The groups of a microbatch, in the order of their ranks, which they cover exactly.
using PackedMicroBatch = std::vector<DocumentGroup>;

using scenarios::GroupRules;

/// Megatron-Core's scheduler default_dynamic_cp (next_hdp_group_packing_aware of
/// megatron/core/datasets/data_schedule_utils.py): the longest document opens a microbatch with the
/// group that it needs; every other one is placed, longest first, where the fullest rank stays
/// least full, into groups of its size or of a larger one, as long as no rank gets more than 1.05
/// times the work of its capacity in documents as long as the first. Empty ranks are filled by
/// enlarging groups, the smallest first, and where that leaves one empty, by one group of all.
std::vector<PackedMicroBatch> schedule_dynamic_groups(std::span<const Document> documents,
                                                      const GroupRules& rules);

/// Megatron-Core's scheduler dp_balanced: documents fill groups of `context` ranks in the order of
/// the data, and last ones are moved out of full groups until every replica has as many
/// microbatches as the others, a multiple of `multiple`. Throws InputError if there are too few
/// documents for that.
std::vector<PackedMicroBatch> schedule_equal_groups(std::span<const Document> documents,
                                                    std::int64_t capacity, int context,
                                                    int replicas, int multiple = 1);

/// Splits microbatches, the last ones first, until their number is a multiple, as interleaved
/// schedules require (align_sample_id_groups of data_schedule_utils.py): the groups of the first
/// half of the ranks, and the others, each spread over all ranks. False if every remaining one is a
/// single group, which Megatron-Core does not split.
bool align_micro_batches(std::vector<PackedMicroBatch>& micro_batches, int multiple,
                         const GroupRules& rules);

/// Groups that documents are packed for: of the sizes that they need, or of `context` ranks each.
enum class Groups { Dynamic, Equal };

/// The documents of a drawn step, packed into microbatches of all ranks of data x context. Both
/// kinds of groups get the same documents. Equal groups get the sequences of the global batch
/// unchanged, unless the scenario packs its global batch once a step. Precondition: the scenario
/// packs in the step (scenarios/plan/packing.h).
std::vector<PackedMicroBatch> pack_documents(const scenarios::Scenario& scenario, int draw,
                                             Groups groups);

}  // namespace debubble::sim

#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/plan/scenario.h"

/// How documents of a global batch are packed into microbatches, by Megatron-Core's rules
/// (megatron/core/datasets/data_schedule.py and data_schedule_utils.py of its branch dev, 2026).
namespace debubble::scenarios {

/// True if every step repacks its documents, so that its number of microbatches is drawn.
bool packs_in_step(const Scenario& scenario);

/// The sizes of context-parallel groups that ranks of data x context can form: the powers of two
/// that divide their number, and all of them. Ascending.
std::vector<int> context_group_sizes(int ranks);
/// Those that the scenario's documents may get, from the smallest that it allows.
std::vector<int> context_group_sizes(const Scenario& scenario);

/// Tokens of one rank in one microbatch, at most.
std::int64_t rank_capacity(const Scenario& scenario);

struct GroupRules {
    std::int64_t capacity = 1;  ///< tokens of one rank in a microbatch
    std::vector<int> sizes;     ///< allowed numbers of ranks, ascending; the last is all ranks
};
GroupRules group_rules(const Scenario& scenario);

/// The smallest group with room for a document. Precondition: the largest one has room.
int ranks_needed(std::int64_t length, const GroupRules& rules);

/// Documents are padded to a multiple of so many tokens, which all groups and tensor-parallel ranks
/// can cut.
std::int64_t document_alignment(const Scenario& scenario);
/// The longest document, padded.
std::int64_t longest_document(const Scenario& scenario);

/// The number of equal documents, a power of two, that so many tokens must at least be.
int fewest_documents(const Scenario& scenario, std::int64_t tokens);

/// The scenario whose microbatches fill every rank of a group of this size to its capacity.
Scenario filled_groups(Scenario scenario, int ranks);

/// The scenario whose microbatches are those that memory must hold: itself, unless it packs in the
/// step.
Scenario with_full_ranks(const Scenario& scenario);

}  // namespace debubble::scenarios

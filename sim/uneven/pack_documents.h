#pragma once

#include "scenarios/plan/scenario.h"
#include "sim/uneven/document_groups.h"

namespace debubble::sim {

/// Groups that documents are packed for: of the sizes that they need, or of `context` ranks each.
enum class Groups { Dynamic, Equal };

/// The documents of a drawn step, packed into microbatches of all ranks of data x context. Both
/// kinds of groups get the same documents. Equal groups get the sequences of the global batch
/// unchanged, unless the scenario packs its global batch once a step. Precondition: the scenario
/// packs in the step (scenarios/plan/packing.h).
std::vector<PackedMicroBatch> pack_documents(const scenarios::Scenario& scenario, int draw,
                                             Groups groups);

}  // namespace debubble::sim

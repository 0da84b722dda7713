#pragma once

#include "scenarios/plan/scenario.h"

/// The two levels of context parallelism (Megatron-LM's --hierarchical-context-parallel-sizes).
namespace debubble::scenarios {

/// Neighbours in the context group use all-to-all (`inner`), and keys and values are passed around
/// the groups of such neighbours (`outer`). inner x outer = context.
struct ContextLevels {
    int inner = 1;
    int outer = 1;
    friend bool operator==(const ContextLevels&, const ContextLevels&) = default;
};

/// The sizes that the scenario gives; if it gives none, `inner` is the most neighbours that divide
/// the context group and a node (or NVLink domain) alike, so that no exchange leaves one.
/// Precondition: given sizes multiply to `context`, and `cluster.gpus_per_node` is settled.
ContextLevels context_levels(const Scenario& scenario);

}  // namespace debubble::scenarios

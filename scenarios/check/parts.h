#pragma once

#include <cstdint>
#include <string_view>

#include "models/network/layer.h"
#include "scenarios/read/draft.h"

/// The checks of how a model is cut, by what is cut. Each complains at the key. Private to the
/// folder.
namespace debubble::scenarios {

/// Complains at the key of `parallel` if so many of `what` cannot be cut into equal parts.
void need_divides(Draft& draft, std::int64_t whole, std::int64_t parts, std::string_view what,
                  std::string_view key);
void need_heads_divide(Draft& draft, const models::Attention& attention, std::int64_t parts,
                       std::string_view key);

void check_tensor_cut(Draft& draft);
/// With all-to-all context parallelism, every rank must get at least one head.
void check_exchange(Draft& draft);
/// Context-parallel ranks use all-to-all around a recurrence, independently of how they share keys.
void check_recurrence(Draft& draft);

/// Experts are distributed over a stage's ranks and cut there, by Megatron-Core's rules.
void check_experts(Draft& draft);
void check_shared_experts(Draft& draft);
void check_fused_experts(Draft& draft);
void check_sharded_exchanges(Draft& draft);
/// The ranks of a stage are one set for layers and for experts, and ZeRO's groups are neighbours in
/// it.
void check_order(Draft& draft);
void check_overlapped_experts(Draft& draft);
void check_sent_rows(Draft& draft);
void check_graphs_of_experts(Draft& draft);

void check_sequence(Draft& draft);
/// The sizes of a step that can be planned.
void check_extent(Draft& draft);
void check_partition(Draft& draft);
/// The sizes of products that the recipe of `training.precision` takes.
void check_widths(Draft& draft);
/// The layout's units are those of the model.
void check_layout_of_model(Draft& draft);

}  // namespace debubble::scenarios

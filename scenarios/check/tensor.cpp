#include <algorithm>

#include <fmt/format.h>

#include "models/graph/graph.h"
#include "scenarios/check/parts.h"
#include "scenarios/plan/derived.h"

/// Heads, columns and groups on the ranks that cut them.
namespace debubble::scenarios {

void need_divides(Draft& draft, std::int64_t whole, std::int64_t parts, std::string_view what,
                  std::string_view key) {
    if (whole % parts == 0) return;
    draft.parallel.complain(key, fmt::format("{} {} cannot be split into {}", whole, what, parts));
}

void need_heads_divide(Draft& draft, const models::Attention& attention, std::int64_t parts,
                       std::string_view key) {
    need_divides(draft, attention.heads, parts, "heads", key);
    if (attention.compressed) {  // whose one key-value head every rank has
        need_divides(draft, attention.compressed->groups, parts, "groups of heads", key);
        return;
    }
    if (attention.kv_heads != attention.heads)
        need_divides(draft, attention.kv_heads, parts, "key-value heads", key);
}

namespace {

constexpr int kMostLayersOfTable = 1024;  ///< layers that are checked one by one for a valid cut

/// A model with a sharding table of its own is cut by that table, which only the graph can check.
/// The graph gets sequences that always divide, since these are checked elsewhere.
void check_sharding_table(Draft& draft) {
    const Scenario& s = draft.scenario;
    const bool images = s.model.sees_images();
    models::Execution execution = execution_of(s);
    execution.micro_batch = s.parallel.tensor;
    execution.seq_length = images ? s.model.max_positions : 1;
    execution.slices = execution.context = 1;
    execution.sequence_parallel = execution.sequence_parallel && !images;
    try {
        models::build_stage(s.model, execution,
                            {0, std::min(s.model.layers.count(), kMostLayersOfTable), true, true});
    } catch (const InputError& error) {
        for (const Diagnostic& mistake : error.diagnostics())
            draft.parallel.complain("tensor", mistake.message);
    }
}

/// Heads and groups of recurrent layers are cut as Megatron-Core cuts them.
void need_recurrence_divides(Draft& draft, const models::Layer& layer, std::int64_t parts,
                             std::string_view key) {
    const auto* mamba = layer.state_space();
    if (mamba != nullptr && mamba->step_rank) {
        need_divides(draft, mamba->inner(), parts, "columns of a state-space layer", key);
    } else if (mamba != nullptr) {
        need_divides(draft, mamba->groups, parts, "groups of a state-space layer", key);
        need_divides(draft, mamba->heads, parts, "heads of a state-space layer", key);
    }
    if (const auto* net = layer.as<models::DeltaNet>()) {
        need_divides(draft, net->key_heads, parts, "key heads of a delta net", key);
        need_divides(draft, net->value_heads, parts, "value heads of a delta net", key);
    }
}

}  // namespace

/// Context-parallel ranks use all-to-all around a recurrence, independently of how they share keys.
void check_recurrence(Draft& draft) {
    const Scenario& s = draft.scenario;
    for (const models::Layer& layer : s.model.layers.kinds()) {
        if (!layer.is_recurrent()) continue;
        if (s.parallel.context > 1)
            need_recurrence_divides(
                draft, layer, std::int64_t{s.parallel.tensor} * s.parallel.context, "context");
        if (s.schedule.slices > 1) {
            draft.top.complain("schedule",
                               "sequence slices are not supported with recurrent layers: each "
                               "would need the final state of the slice before it");
            return;
        }
    }
}

void check_tensor_cut(Draft& draft) {
    const models::Architecture& model = draft.scenario.model;
    const int t = draft.scenario.parallel.tensor;
    if (!model.sharding.empty()) {
        check_sharding_table(draft);
        return;
    }
    for (const models::Layer& layer : model.layers.kinds()) {
        if (const auto* attention = layer.as<models::Attention>())
            need_heads_divide(draft, *attention, t, "tensor");
        need_recurrence_divides(draft, layer, t, "tensor");
        if (const auto* mlp = layer.as<models::DenseMlp>())
            need_divides(draft, mlp->ffn, t, "columns of the MLP", "tensor");
    }
}

namespace {

/// False, with a mistake, if the levels that are given are not those of the context group.
bool levels_multiply(Draft& draft) {
    const Parallel& parallel = draft.scenario.parallel;
    const std::vector<int>& sizes = parallel.hierarchical_context_parallel_sizes;
    if (sizes.empty()) return true;
    const std::int64_t ranks = std::int64_t{sizes.front()} * sizes.back();
    if (ranks == parallel.context) return true;
    draft.parallel.complain("hierarchical_context_parallel_sizes",
                            fmt::format("{} x {} = {} ranks, but context is {}", sizes.front(),
                                        sizes.back(), ranks, parallel.context));
    return false;
}

}  // namespace

/// With all-to-all context parallelism, every rank must get at least one head.
void check_exchange(Draft& draft) {
    const Scenario& s = draft.scenario;
    if (!levels_multiply(draft)) return;
    const int exchanging = execution_of(s).exchanging();
    if (exchanging == 1) return;
    const std::int64_t parts = std::int64_t{s.parallel.tensor} * exchanging;
    const bool given =
        exchanging != s.parallel.context && !s.parallel.hierarchical_context_parallel_sizes.empty();
    if (s.model.sharding.empty()) {  // otherwise the graph checks it
        for (const models::Layer& layer : s.model.layers.kinds())
            if (const auto* attention = layer.as<models::Attention>())
                need_heads_divide(draft, *attention, parts,
                                  given ? "hierarchical_context_parallel_sizes" : "context");
    }
    if (s.schedule.slices > 1)
        draft.parallel.complain("context",
                                "sequence slices cannot use all-to-all context parallelism; set "
                                "context_communication to p2p or all-gather");
}

}  // namespace debubble::scenarios

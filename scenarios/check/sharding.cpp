#include <algorithm>

#include <fmt/format.h>

#include "scenarios/check/parts.h"

namespace debubble::scenarios {

/// Ways of sharding that the plan does not shard by.
void check_sharded_exchanges(Draft& draft) {
    Scenario& scenario = draft.scenario;
    const int stage = scenario.parallel.zero_stage;
    const auto note = [&](const char* key, const char* stages) {
        scenario.notes.push_back(fmt::format(
            "{} has no effect: it applies to {}, but zero_stage is {}", key, stages, stage));
    };
    if (scenario.framework.grad_reduction == GradReduction::Owner && stage != 1 && stage != 2)
        note("grad_reduction owner", "ZeRO-1 and ZeRO-2");
    if (scenario.framework.gather == Gather::Parameter && stage != 3)
        note("gather parameter", "ZeRO-3");
}

/// Megatron-Core's rule ("When not using pp-last rank ordering, the data parallel size of the
/// attention and moe layers must be the same", parallel_state.py), here for every order: what lies
/// inside the pipeline has one size.
void check_order(Draft& draft) {
    const Parallel& p = draft.scenario.parallel;
    const DimensionSizes layers{p.tensor, p.context, 1, p.data, p.pipeline};
    const DimensionSizes experts{p.expert_tensor, 1, p.expert, p.expert_replicas(), p.pipeline};
    const auto stride = [&](Dimension dimension) { return stride_of(dimension, p.order, layers); };
    if (draft.scenario.model.has_experts() && p.pipeline > 1 &&
        stride(Dimension::Pipeline) != stride_of(Dimension::Pipeline, p.order, experts))
        draft.parallel.complain(
            "order",
            fmt::format(
                "'{}' puts {} ranks of layers inside a pipeline and {} of experts; they must "
                "be the same",
                p.order.text(), stride(Dimension::Pipeline),
                stride_of(Dimension::Pipeline, p.order, experts)));
    const int inner = stride(Dimension::Context) < stride(Dimension::Data) ? p.context : p.data;
    const int outer = p.replicas() / inner;
    const bool apart = inner > 1 && outer > 1 &&
                       std::max(stride(Dimension::Context), stride(Dimension::Data)) !=
                           std::min(stride(Dimension::Context), stride(Dimension::Data)) * inner;
    if (!apart) return;
    if (p.shards() % inner != 0 && inner % p.shards() != 0)
        draft.parallel.complain(
            "order",
            fmt::format(
                "'{}' parts data and context, and the {} replicas over which ZeRO cuts are not "
                "whole groups of the {} that are neighbours",
                p.order.text(), p.shards(), inner));
    if (p.dynamic_context_parallel)
        draft.parallel.complain("order", fmt::format("'{}' parts data and context, whose ranks "
                                                     "dynamic_context_parallel takes as neighbours",
                                                     p.order.text()));
}

}  // namespace debubble::scenarios

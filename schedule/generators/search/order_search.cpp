#include "schedule/generators/search/order_search.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "schedule/generators/writer.h"

namespace debubble {
namespace {

/// The longest sum of all passes, which must stay far from the end of 64-bit nanoseconds.
constexpr double kLongestSearched = 1e7;

}  // namespace

Duration OrderProblem::work_of(int rank) const {
    Duration work{};
    for (int chunk = 0; chunk < chunks(); ++chunk) {
        const StageCosts& stage = costs.of(Stage{stage_of(rank, chunk)});
        work += (stage.forward + stage.backward()) * shape.micro_batches;
    }
    return work;
}

Schedule to_schedule(std::string name, const OrderProblem& problem, const OrderPlan& plan) {
    const PipelineShape& shape = problem.shape;
    Schedule schedule = empty_schedule(
        std::move(name), shape,
        problem.chunks() == 2 ? v_placement(shape.ranks) : loop_placement(shape.ranks, 1));
    for (int rank = 0; rank < shape.ranks; ++rank) {
        RankWriter list(schedule.ranks[rank]);
        ArrayBy<Pass, std::array<int, 2>, 4> next{};  // next microbatch by pass and chunk
        for (const Step& step : plan.ranks[rank]) {
            int& mb = next[step.pass][step.chunk];
            list.add(step.pass, problem.stage_of(rank, step.chunk), {mb++, {}});
        }
    }
    return schedule;
}

bool wants_span(const GeneratorOptions& options) {
    const auto found = options.values.find("objective");
    return found != options.values.end() && found->second == "span";
}

Reason objective_reason(const GeneratorOptions& options) {
    const auto found = options.values.find("objective");
    if (found == options.values.end() || found->second == "makespan" || wants_span(options))
        return std::nullopt;
    return fmt::format("objective must be makespan or span, not '{}'", found->second);
}

Reason costs_reason(const PipelineShape& shape, const PipelineCosts& costs) {
    const auto given = static_cast<int>(costs.stages.size());
    if (given != 1 && given != shape.stages())
        return fmt::format("there are costs for {} stages, and {} x {} = {} stages", given,
                           shape.ranks, shape.stages_per_rank, shape.stages());
    double longest = seconds(costs.link);
    bool negative = costs.link < Duration{};
    for (const StageCosts& stage : costs.stages) {
        negative |=
            std::min({stage.forward, stage.backward_input, stage.backward_weight}) < Duration{};
        longest = std::max(longest, seconds(stage.forward) + seconds(stage.backward_input) +
                                        seconds(stage.backward_weight));
    }
    if (negative) return "a cost is negative";
    if (longest * 2 * shape.stages() * shape.micro_batches > kLongestSearched)
        return fmt::format("its passes would take more than {} seconds in all", kLongestSearched);
    return std::nullopt;
}

}  // namespace debubble

#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "schedule/costs.h"
#include "schedule/generators/generator_options.h"
#include "schedule/schedule.h"

/// The problem that the searching generators (zb-auto and the V family) solve.
namespace debubble {

/// A pass of one of the rank's chunks. Its microbatch is its index among the passes of its kind:
/// all orders here take the microbatches of a chunk and pass in turn.
struct Step {
    Pass pass{};
    std::uint8_t chunk = 0;
    friend auto operator<=>(const Step&, const Step&) = default;
};
using StepOrder = std::vector<Step>;

/// The task to find an order of short makespan with at most `live_limits` activations alive. An
/// activation counts as `parts` parts, of which a backward-input may free some before its W.
struct OrderProblem {
    PipelineShape shape;  ///< one stage per rank, or two in a V
    PipelineCosts costs;
    bool splits_backward = true;
    /// Parts of stage activations, each live from its F until its W (or B): one number for all
    /// ranks, or one for each.
    std::vector<int> live_limits{1};
    bool by_span = false;  ///< shorten the longest rank span before the makespan
    int parts = 1;
    std::vector<int> freed_by_input{0};  ///< parts, for all ranks or for each

    int live_limit(int rank) const { return of_rank(live_limits, rank); }
    /// The parts that come alive by a pass.
    int change_of(int rank, Pass pass) const {
        switch (pass) {
            case Pass::Forward: return parts;
            case Pass::Backward: return -parts;
            case Pass::BackwardInput: return -of_rank(freed_by_input, rank);
            case Pass::BackwardWeight: return of_rank(freed_by_input, rank) - parts;
        }
        return 0;
    }
    int chunks() const { return shape.stages_per_rank; }
    int stage_of(int rank, int chunk) const {
        return chunk == 0 ? rank : 2 * shape.ranks - 1 - rank;
    }
    int rank_of(int stage) const {
        return stage < shape.ranks ? stage : 2 * shape.ranks - 1 - stage;
    }
    Duration length_of(int rank, const Step& step) const {
        return costs.of(Stage{stage_of(rank, step.chunk)}).of(step.pass);
    }
    /// The duration of all passes of the rank.
    Duration work_of(int rank) const;
    std::int64_t passes() const {
        return std::int64_t{shape.stages()} * shape.micro_batches * (splits_backward ? 3 : 2);
    }
    friend bool operator==(const OrderProblem&, const OrderProblem&) = default;

private:
    static int of_rank(const std::vector<int>& numbers, int rank) {
        return numbers[numbers.size() == 1 ? 0 : static_cast<std::size_t>(rank)];
    }
};

/// The length of an order; unlimited without an order.
struct PlanLength {
    Duration makespan = Duration::max();
    Duration span = Duration::max();  ///< longest last end - first start of a rank
};

struct OrderPlan {
    std::vector<StepOrder> ranks;
    PlanLength length;
};

/// Compares by the objective of the problem, and among equals by the other measure.
inline bool shorter(const OrderProblem& problem, const PlanLength& a, const PlanLength& b) {
    if (problem.by_span) return std::tie(a.span, a.makespan) < std::tie(b.span, b.makespan);
    return std::tie(a.makespan, a.span) < std::tie(b.makespan, b.span);
}

Schedule to_schedule(std::string name, const OrderProblem& problem, const OrderPlan& plan);

/// `objective=span` counts if the optimizer waits for no other rank, so that
/// the next step follows at the distance of the longest span.
inline constexpr GeneratorOption kObjective[] = {
    {"objective", "makespan, or span: what counts if ranks start the next step on their own"}};
bool wants_span(const GeneratorOptions& options);
Reason objective_reason(const GeneratorOptions& options);

/// The reason why a search with these costs is impossible, if it is.
Reason costs_reason(const PipelineShape& shape, const PipelineCosts& costs);

}  // namespace debubble

#include "schedule/lower.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "schedule/passes/edit.h"

namespace debubble {
namespace {

template <class... Kinds>
bool is_any_of(const Action& action) {
    return (std::holds_alternative<Kinds>(action) || ...);
}

template <class... Kinds>
void drop(Schedule& schedule) {
    for (ActionList& list : schedule.ranks) std::erase_if(list, is_any_of<Kinds...>);
}

bool has_several_holders(const Schedule& schedule) {
    std::map<Stage, int> holders;
    for (const auto& row : schedule.placement.stages)
        for (const Stage stage : row) ++holders[stage];
    return std::ranges::any_of(holders, [](const auto& h) { return h.second > 1; });
}

/// The actions of a list that reduce gradients or use the result.
std::vector<std::string> sums_in(const ActionList& list) {
    std::vector<std::string> texts;
    for (const Action& action : list)
        if (is_any_of<ReduceGrad, TiedGradReduce, GradNorm, OptimizerStep>(action))
            texts.push_back(to_text(action));
    return texts;
}

struct Count {
    int listed = 0;
    int needed = 0;
};

}  // namespace

Program complete(Schedule schedule, const LowerOptions& options) {
    const int zero = options.data_parallel ? options.zero_stage : 0;
    const bool inside_computes = zero == 3 && !options.shard_by_stage;
    if (zero != 3 || inside_computes) drop<Unshard, Reshard>(schedule);
    if ((!options.data_parallel || inside_computes) && !has_several_holders(schedule))
        drop<ReduceGrad>(schedule);

    std::vector<LoweringPass> passes;
    for (const LoweringPass& pass : lowering_passes())
        if (!pass.is_done(schedule)) passes.push_back(pass);
    return lower_by(passes, std::move(schedule), options);
}

std::vector<Violation> check_training(const Program& program, const LowerOptions& options) {
    Schedule computes = program;
    for (ActionList& list : computes.ranks)
        std::erase_if(list, [](const Action& action) { return !is_compute(action); });
    const Program needed = lower(std::move(computes), options);
    std::vector<Violation> violations;
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        std::map<std::string, Count> counts;
        for (const std::string& text : sums_in(program.ranks[r])) ++counts[text].listed;
        for (const std::string& text : sums_in(needed.ranks[r])) ++counts[text].needed;
        for (const auto& [text, count] : counts) {
            if (count.listed == count.needed) continue;
            violations.push_back(
                {count.listed < count.needed ? Violation::Kind::Missing
                                             : Violation::Kind::Duplicate,
                 Rank{static_cast<int>(r)}, program.ranks[r].size(),
                 fmt::format("rank {} lists {} {} times, and this training needs it {} times", r,
                             text, count.listed, count.needed)});
        }
    }
    return violations;
}

}  // namespace debubble

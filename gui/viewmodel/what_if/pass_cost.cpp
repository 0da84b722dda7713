#include "gui/viewmodel/what_if/pass_cost.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "gui/viewmodel/timeline/words.h"
#include "scenarios/plan/plan.h"
#include "sim/cost/physical_models.h"
#include "sim/cost/schedule_prices.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

using scenarios::Scenario;
using text::time_text;

/// A list of parts, in which parts with equal names and formulas are merged.
class Parts {
public:
    void add(const std::string& name, int times, Duration takes, std::vector<Detail> formula) {
        const auto same = std::ranges::find_if(parts_, [&](const CostPart& part) {
            return part.name == name && part.formula == formula;
        });
        if (same == parts_.end()) {
            parts_.push_back({name, times, takes, std::move(formula)});
            return;
        }
        same->times += times;
        same->takes += takes;
    }
    std::vector<CostPart> longest_first() && {
        std::erase_if(parts_, [](const CostPart& part) { return part.takes <= Duration{}; });
        std::ranges::stable_sort(parts_, std::ranges::greater{}, &CostPart::takes);
        return std::move(parts_);
    }

private:
    std::vector<CostPart> parts_;
};

std::string_view part_name(const sim::PricePart& part) {
    return std::visit(
        Overloaded{
            [](const sim::CostTerm& term) -> std::string_view { return term.name; },
            [](const sim::KernelPart& of) -> std::string_view { return of.kernel->name; },
            [](const sim::OperatorPart& of) -> std::string_view { return of.name; },
        },
        part.from);
}

sim::SchedulePrices prices_of(const Scenario& scenario, const Program& program) {
    const int stages = program.placement.stage_count();
    return {scenario, scenarios::partition_of(scenario, stages), program};
}

PassCost cost_of(Duration takes, const std::vector<sim::PricePart>& priced,
                 const scenarios::Gpu& gpu) {
    Parts parts;
    for (const sim::PricePart& part : priced)
        parts.add(std::string(part_name(part)), part.times, part.takes, formula_of(part, gpu));
    return {takes, std::move(parts).longest_first()};
}

/// The detail "cost": the sum, with one part for each operator.
Detail words_of(const PassCost& cost) {
    Detail words{said("details", "cost"), filled(said("details", "{} in {} operators"),
                                                 time_text(cost.takes), cost.parts.size())};
    const double all = std::max(seconds(cost.takes), 1e-12);
    for (const CostPart& part : cost.parts) {
        Detail row{
            part.times > 1 ? fmt::format("{} \u00d7 {}", part.times, part.name) : part.name,
            fmt::format("{}, {:.1f} %", time_text(part.takes), 100 * seconds(part.takes) / all),
            part.formula};
        if (part.times > 1)
            row.parts.insert(row.parts.begin(),
                             {said("details", "each"), time_text(part.takes / part.times)});
        words.parts.push_back(std::move(row));
    }
    return words;
}

}  // namespace

PassCost pass_cost(const Scenario& scenario, const Program& program, const Action& action) {
    const sim::SchedulePrices prices = prices_of(scenario, program);
    const scenarios::Gpu& gpu = scenario.cluster.gpu;
    if (const auto* again = std::get_if<Recompute>(&action)) {
        const sim::StagePrice& stage = prices.of(again->stage, again->micro_batch);
        return cost_of(stage.again().duration, stage.parts_again(), gpu);
    }
    const auto& c = std::get<Compute>(action);
    const sim::StagePrice& stage = prices.of(c);
    return cost_of(stage.of(c.pass).duration, stage.parts(c.pass), gpu);
}

std::vector<Detail> details_of_cost(const Scenario& scenario, const Program& program,
                                    const Action& action, Rank rank) {
    if (program.ranks.empty()) return {};
    if (std::holds_alternative<Compute>(action) || std::holds_alternative<Recompute>(action))
        return {words_of(pass_cost(scenario, program, action))};
    if (const auto* both = std::get_if<Overlap>(&action)) {
        std::vector<Detail> details;
        for (const Compute& one : {both->first, both->second}) {
            details.push_back(words_of(pass_cost(scenario, program, one)));
            details.back().name = to_text(Action(one));
        }
        return details;
    }
    if (std::holds_alternative<OptimizerStep>(action)) return {};
    const auto costs = sim::make_cost_model(
        scenario, scenarios::partition_of(scenario, program.placement.stage_count()), program);
    return flow_formula(*costs, program.placement, action, rank);
}

}  // namespace debubble::gui

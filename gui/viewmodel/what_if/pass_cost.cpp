#include "gui/viewmodel/what_if/pass_cost.h"

#include <algorithm>

#include <fmt/format.h>

#include "gui/viewmodel/what_if/kernel_formula.h"
#include "models/visits.h"
#include "scenarios/measured.h"
#include "scenarios/plan.h"
#include "sim/cost/measured_pass.h"
#include "sim/cost/physical_cost_model.h"
#include "sim/cost/stage_price.h"

namespace debubble::gui {
namespace {

using scenarios::Scenario;

/// A pass, and how the program asks for it.
struct Asked {
    Pass pass{};
    Stage stage;
    int slice = 0;
    bool again = false;  ///< a forward that is run a second time
    bool split = false;  ///< the program has backward-inputs
};

bool splits_backward(const Program& program) {
    for (const ActionList& list : program.ranks)
        for (const Action& action : list)
            if (const auto* c = std::get_if<Compute>(&action);
                c != nullptr && c->pass == Pass::BackwardInput)
                return true;
    return false;
}

Asked asked_of(const Program& program, const Action& action) {
    if (const auto* again = std::get_if<Recompute>(&action))
        return {Pass::Forward, again->stage, again->micro_batch.slice.value_or(0), true, false};
    const auto& c = std::get<Compute>(action);
    return {c.pass, c.stage, c.micro_batch.slice.value_or(0), false, splits_backward(program)};
}

/// What the cost model prices for this pass (sim/cost/stage_price.cpp).
std::vector<models::Kernel> kernels_of(const models::StageGraph& graph, const Asked& asked) {
    switch (asked.pass) {
        case Pass::Forward: return models::forward_steps(graph).kernels;
        case Pass::Backward:
            return asked.split ? models::backward_steps(graph).kernels
                               : models::steps_of(graph, false)[1].kernels;
        case Pass::BackwardInput: return models::steps_of(graph, true)[1].kernels;
        case Pass::BackwardWeight: return models::steps_of(graph, true)[2].kernels;
    }
    return {};
}

std::vector<models::Visit> visits_of(const models::StageGraph& graph, const Asked& asked) {
    switch (asked.pass) {
        case Pass::Forward: return models::visits_of(graph, false)[0];
        case Pass::Backward: return models::visits_of(graph, false)[1];
        case Pass::BackwardInput: return models::visits_of(graph, true)[1];
        case Pass::BackwardWeight: return models::visits_of(graph, true)[2];
    }
    return {};
}

/// Parts of one name and formula are one.
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
    Duration sum() const {
        Duration sum{};
        for (const CostPart& part : parts_) sum += part.takes;
        return sum;
    }

private:
    std::vector<CostPart> parts_;
};

void add_priced(Parts& parts, const Scenario& scenario, const std::vector<models::Kernel>& kernels,
                const sim::LayerFold& fold, const sim::PassPricer& pricer) {
    const std::span<const models::Kernel> all = kernels;
    double exposed_after = 0;  // of the kernels behind this one
    for (std::size_t i = all.size(); i-- > 0;) {
        const models::Kernel& kernel = all[i];
        const int times = kernel.layer == fold.layer ? fold.times : 1;
        if (const auto* collective = std::get_if<models::Collective>(&kernel.work)) {
            const double exposed = pricer.time(all.subspan(i), fold).exposed;
            const Duration alone = pricer.collective(*collective);
            parts.add(kernel.name, times, from_seconds(exposed - exposed_after),
                      formula_of(*collective, alone));
            exposed_after = exposed;
            continue;
        }
        const double takes = pricer.time(all.subspan(i, 1), fold).total();
        parts.add(kernel.name, times, from_seconds(takes),
                  formula_of(kernel, scenario.cluster.gpu, from_seconds(takes / times)));
    }
}

/// "mlp.c_fc" of "h.3.mlp.c_fc".
std::string without_layer(const models::Operator& op) {
    if (!op.layer) return op.name;
    const std::string number = fmt::format(".{}.", *op.layer);
    const std::size_t at = op.name.find(number);
    return at == std::string::npos ? op.name : op.name.substr(at + number.size());
}

void add_measured(Parts& parts, const scenarios::Measured& measured,
                  const models::StageGraph& graph, const Asked& asked, const sim::LayerFold& fold,
                  const sim::PassPricer& pricer) {
    const std::vector<models::Visit> visits = visits_of(graph, asked);
    for (const models::Visit& visit : visits) {
        const models::Operator& op = graph.operators[static_cast<std::size_t>(visit.op)];
        const int times = op.layer == fold.layer ? fold.times : 1;
        const sim::MeasuredPass one =
            sim::measured_pass(measured, graph, {&visit, 1}, asked.again, fold, pricer);
        parts.add(without_layer(op), times, one.duration - measured.pass_overhead,
                  {{"formula", one.missing.empty() ? "the median of what was measured"
                                                   : "not measured: by the rates of the device"}});
    }
    parts.add("around the operators", 1, measured.pass_overhead,
              {{"formula", "measured: the interpreter's own work in a pass"}});
}

std::unique_ptr<sim::CostModel> cost_model(const Scenario& scenario, const Program& program) {
    const int stages = program.placement.stage_count();
    return sim::make_cost_model(scenario, scenarios::partition_of(scenario, stages), program);
}

sim::ComputeCost cost_of(const sim::CostModel& costs, const Action& action, Rank rank) {
    if (const auto* again = std::get_if<Recompute>(&action)) return costs.recompute(*again, rank);
    return costs.compute(std::get<Compute>(action), rank);
}

}  // namespace

PassCost pass_cost(const Scenario& scenario, const Program& program, const Action& action,
                   Rank rank) {
    const Asked asked = asked_of(program, action);
    const auto stages = scenarios::partition_of(scenario, program.placement.stage_count());
    const models::StageContent& content = stages[static_cast<std::size_t>(asked.stage.index)];
    const models::StageGraph graph = sim::folded_graph(scenario, content, asked.slice);
    const sim::LayerFold fold = sim::fold_of(content, graph);
    const sim::PassPricer pricer(scenario);
    const sim::ComputeCost cost = cost_of(*cost_model(scenario, program), action, rank);
    Parts parts;
    if (scenario.cluster.measured)
        add_measured(parts, *scenario.cluster.measured, graph, asked, fold, pricer);
    else
        add_priced(parts, scenario, kernels_of(graph, asked), fold, pricer);
    parts.add("launched by the host", 1, cost.host,
              {{"formula", "the fourth root of device^4 + host^4, less the device's own time"}});
    if (scenario.parallel.gathers_in_passes())
        parts.add(
            "sharded parameters", 1, cost.duration - parts.sum(),
            {{"formula", "gathered and reduced between replicas, as far as nothing hides it"}});
    return {cost.duration, std::move(parts).longest_first()};
}

std::vector<Detail> details_of_cost(const Scenario& scenario, const Program& program,
                                    const Action& action, Rank rank) {
    if (program.ranks.empty()) return {};
    if (std::holds_alternative<Compute>(action) || std::holds_alternative<Recompute>(action))
        return {words_of(pass_cost(scenario, program, action, rank))};
    if (const auto* both = std::get_if<Overlap>(&action)) {
        std::vector<Detail> details;
        for (const Compute& one : {both->first, both->second}) {
            details.push_back(words_of(pass_cost(scenario, program, one, rank)));
            details.back().name = to_text(Action(one));
        }
        return details;
    }
    if (std::holds_alternative<OptimizerStep>(action)) return {};
    const auto costs = cost_model(scenario, program);
    return words_of_flow(*costs, program.placement, action, rank);
}

}  // namespace debubble::gui

#include "sim/memory/fetch_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace debubble::sim {
namespace {

using scenarios::GatherLimits;

/// The number of each parameter of a graph among those that are fetched.
class Numbers {
public:
    Numbers(const scenarios::Scenario& scenario, const models::StageGraph& graph, LayerFold fold)
        : first_(graph.parameters.size(), kNone), folded_(graph.parameters.size()) {
        for (const models::Operator& op : graph.operators)
            for (const int at : op.parameters) {
                const models::Parameter& parameter = graph.parameters[at];
                const bool alone = parameter.expert && scenario.parallel.expert_shards() == 1;
                if (first_[at] != kNone || parameter.frozen || alone) continue;
                folded_[at] = op.layer == fold.layer;
                const int times = folded_[at] ? fold.times : 1;
                first_[at] = static_cast<int>(parameters.size());
                const std::int64_t elements = parameter.elements_of_rank(graph.execution);
                parameters.insert(parameters.end(), times,
                                  {elements, parameter.narrow && op.layer ? elements : 0,
                                   parameter.expert, false});
            }
    }
    /// The number of a parameter in the layer's n-th repetition, unless it is not fetched.
    std::optional<int> of(int parameter, int repetition) const {
        if (first_[parameter] == kNone) return std::nullopt;
        return first_[parameter] + (folded_[parameter] ? repetition : 0);
    }
    std::vector<FetchedParameter> parameters;

private:
    static constexpr int kNone = -1;
    std::vector<int> first_;
    std::vector<bool> folded_;
};

/// Calls visit(operator, repetition) in the order of the whole model.
void for_each_operator(const models::StageGraph& graph, LayerFold fold, auto visit) {
    const auto is_folded = [&](const models::Operator& op) { return op.layer == fold.layer; };
    const auto begin = std::ranges::find_if(graph.operators, is_folded);
    const auto end = std::find_if_not(begin, graph.operators.end(), is_folded);
    std::for_each(graph.operators.begin(), begin, [&](const auto& op) { visit(op, 0); });
    for (int n = 0; n < fold.times && begin != end; ++n)
        std::for_each(begin, end, [&](const auto& op) { visit(op, n); });
    std::for_each(end, graph.operators.end(), [&](const auto& op) { visit(op, 0); });
}

void choose_whole(const GatherLimits& limits, const models::StageGraph& graph, LayerFold fold,
                  Numbers& numbers) {
    std::int64_t sum = 0;
    for_each_operator(graph, fold, [&](const models::Operator& op, int repetition) {
        for (const int index : op.parameters) {
            const auto number = numbers.of(index, repetition);
            if (!number) continue;
            FetchedParameter& parameter = numbers.parameters[*number];
            if (parameter.whole || parameter.elements > limits.parameter ||
                sum + parameter.elements > limits.persistent)
                continue;
            parameter.whole = true;
            sum += parameter.elements;
        }
    });
}

/// The runs of operators in a pass, those of the folded layer for each that it stands for.
class Visits {
public:
    Visits(const models::StageGraph& graph, LayerFold fold, const Numbers& numbers,
           const models::PassSteps& pass, bool backward)
        : graph_(graph), fold_(fold), numbers_(numbers), pass_(pass), backward_(backward) {}

    std::vector<FetchVisit> all() {
        const std::size_t kernels = pass_.kernels.size();
        for (std::size_t begin = 0; begin < kernels;) {
            const bool folded = is_folded(begin);
            std::size_t end = begin;
            while (end < kernels && is_folded(end) == folded) ++end;
            for (int n = 0; n < (folded ? fold_.times : 1); ++n) {
                layer_ = std::nullopt;
                add(begin, end, backward_ ? fold_.times - 1 - n : n);
            }
            begin = end;
        }
        return std::move(visits_);
    }

private:
    const models::Operator& operator_of(std::size_t kernel) const {
        return graph_.operators[pass_.operators[kernel]];
    }
    bool is_folded(std::size_t kernel) const { return operator_of(kernel).layer == fold_.layer; }
    void add(std::size_t begin, std::size_t end, int repetition) {
        for (std::size_t at = begin; at < end;) {
            const std::int32_t op = pass_.operators[at];
            FetchVisit visit;
            visit.begin = at;
            while (at < end && pass_.operators[at] == op) ++at;
            visit.end = at;
            const models::Operator& runs = operator_of(visit.begin);
            if (runs.layer && runs.layer != layer_) ++layers_;
            layer_ = runs.layer;
            visit.layer = runs.layer ? layers_ : -1;
            for (const int index : runs.parameters)
                if (const auto number = numbers_.of(index, repetition))
                    visit.uses.push_back(*number);
            visits_.push_back(std::move(visit));
        }
    }

    const models::StageGraph& graph_;
    LayerFold fold_;
    const Numbers& numbers_;
    const models::PassSteps& pass_;
    bool backward_;
    std::vector<FetchVisit> visits_;
    std::optional<int> layer_;
    int layers_ = -1;
};

/// One use of a parameter, in the order of all.
struct Use {
    int parameter = 0;
    std::size_t visit = 0;
};

/// Follows the gathered parameters along the runs of operators.
class Coordinator {
public:
    Coordinator(const GatherLimits& limits, const std::vector<FetchedParameter>& parameters,
                std::vector<FetchVisit*> visits)
        : limits_(limits),
          parameters_(parameters),
          visits_(std::move(visits)),
          there_(parameters.size()),
          passed_by_(parameters.size()),
          next_use_(visits_.size()) {
        std::vector<std::size_t> next(parameters.size(), visits_.size());
        for (std::size_t v = visits_.size(); v-- > 0;)
            for (const int use : visits_[v]->uses) {
                next_use_[v].push_back(next[use]);
                next[use] = v;
            }
        std::int64_t passed = 0;
        for (std::size_t v = 0; v < visits_.size(); ++v) {
            passed_before_.push_back(passed);
            for (const int use : visits_[v]->uses) {
                uses_.push_back({use, v});
                passed += elements(use);
            }
        }
        passed_before_.push_back(passed);
    }

    /// Runs the next operator. Returns the elements that are gathered after it.
    std::int64_t run() {
        FetchVisit& visit = *visits_[now_];
        for (const int use : visit.uses) gather(use, visit.needed);
        while (queue_ < uses_.size() && uses_[queue_].visit <= now_) ++queue_;
        prefetch(visit);
        visit.held = live_;
        drop(visit);
        ++now_;
        return live_;
    }

private:
    std::int64_t elements(int parameter) const { return parameters_[parameter].elements; }
    bool gather(int parameter, std::vector<int>& gathered) {
        if (there_[parameter] || parameters_[parameter].whole) return false;
        there_[parameter] = true;
        live_ += elements(parameter);
        gathered.push_back(parameter);
        return true;
    }
    void prefetch(FetchVisit& visit) {
        const std::int64_t most = std::min(limits_.live - live_, limits_.prefetch);
        for (std::int64_t asked = 0; queue_ < uses_.size() && asked < most; ++queue_) {
            const Use& use = uses_[queue_];
            passed_by_[use.parameter] = use.visit;
            if (gather(use.parameter, visit.ahead)) asked += elements(use.parameter);
        }
    }
    void drop(const FetchVisit& visit) {
        for (std::size_t i = 0; i < visit.uses.size(); ++i) {
            const int at = visit.uses[i];
            const std::size_t next = next_use_[now_][i];
            const bool soon = next < visits_.size() &&
                              passed_before_[next] - passed_before_[now_ + 1] < limits_.reuse;
            if (!there_[at] || soon || passed_by_[at] > now_) continue;
            there_[at] = false;
            live_ -= parameters_[at].elements;
        }
    }

    const GatherLimits& limits_;
    const std::vector<FetchedParameter>& parameters_;
    std::vector<FetchVisit*> visits_;
    std::vector<bool> there_;             ///< by parameter: gathered, or on its way
    std::vector<std::size_t> passed_by_;  ///< by parameter: the last visit that was looked at
                                          ///< ahead, 0 if none
    std::vector<std::vector<std::size_t>> next_use_;  ///< by visit and use: the visit of the next
    std::vector<std::int64_t> passed_before_;         ///< by visit: elements used before it
    std::vector<Use> uses_;
    std::size_t now_ = 0;
    std::size_t queue_ = 0;  ///< the first use that was not looked at
    std::int64_t live_ = 0;
};

void follow(const GatherLimits& limits, const std::vector<FetchedParameter>& parameters,
            const std::vector<FetchPass*>& passes) {
    std::vector<FetchVisit*> visits;
    for (FetchPass* const pass : passes)
        for (FetchVisit& visit : pass->visits) visits.push_back(&visit);
    Coordinator coordinator(limits, parameters, std::move(visits));
    for (FetchPass* const pass : passes)
        for (std::size_t v = 0; v < pass->visits.size(); ++v) pass->left = coordinator.run();
}

}  // namespace

std::vector<std::int64_t> FetchPass::held_by_kernel() const {
    std::vector<std::int64_t> held(visits.empty() ? 0 : visits.back().end);
    for (const FetchVisit& visit : visits)
        for (std::size_t kernel = visit.begin; kernel < visit.end; ++kernel)
            held[kernel] = std::max(held[kernel], visit.held);
    return held;
}

std::vector<FetchedParameter> fetched_parameters(const scenarios::Scenario& scenario,
                                                 const GatherLimits& limits,
                                                 const models::StageGraph& graph, LayerFold fold) {
    Numbers numbers(scenario, graph, fold);
    choose_whole(limits, graph, fold, numbers);
    return std::move(numbers.parameters);
}

models::ParameterCount whole_parameters(const scenarios::Scenario& scenario,
                                        const models::StageGraph& graph, LayerFold fold) {
    models::ParameterCount whole;
    const auto limits = scenarios::gather_limits(scenario);
    if (!limits) return whole;
    for (const FetchedParameter& parameter : fetched_parameters(scenario, *limits, graph, fold)) {
        if (!parameter.whole) continue;
        (parameter.expert ? whole.expert : whole.dense) += parameter.elements;
        (parameter.expert ? whole.narrow_expert : whole.narrow_dense) += parameter.narrow;
    }
    return whole;
}

FetchPlan fetch_plan(const scenarios::Scenario& scenario, const GatherLimits& limits,
                     const models::StageGraph& graph, LayerFold fold,
                     const models::PassSteps& forward, const models::PassSteps& backward,
                     bool follows) {
    Numbers numbers(scenario, graph, fold);
    choose_whole(limits, graph, fold, numbers);
    FetchPlan plan;
    plan.forward.visits = Visits(graph, fold, numbers, forward, false).all();
    plan.backward.visits = Visits(graph, fold, numbers, backward, true).all();
    plan.parameters = std::move(numbers.parameters);
    if (follows) {
        follow(limits, plan.parameters, {&plan.forward, &plan.backward});
    } else {
        follow(limits, plan.parameters, {&plan.forward});
        follow(limits, plan.parameters, {&plan.backward});
    }
    return plan;
}

bool backwards_follow(const std::vector<ActionList>& ranks) {
    for (const ActionList& list : ranks) {
        std::optional<Compute> forward;
        bool all = true;
        for (const Action& action : list)
            for_each_compute(action, [&](const Compute& c) {
                if (c.pass == Pass::BackwardWeight) return;
                const bool begins = c.pass == Pass::Forward;
                if (begins == forward.has_value() ||
                    (forward &&
                     (c.stage != forward->stage || c.micro_batch != forward->micro_batch)))
                    all = false;
                forward = begins ? std::optional(c) : std::nullopt;
            });
        if (!all) return false;
    }
    return true;
}

}  // namespace debubble::sim

#include "sim/cost/price_part.h"

#include "scenarios/cluster/measured.h"
#include "scenarios/plan/plan.h"

namespace debubble::sim {

Duration host_between(const scenarios::Scenario& scenario, Pass pass) {
    const bool split = pass == Pass::BackwardInput || pass == Pass::BackwardWeight;
    return from_seconds((split ? 0.25 : 0.5) * seconds(scenario.framework.host_micro_batch));
}

std::vector<AddedTerm> added_terms(const scenarios::Scenario& scenario, const models::StageGraph&,
                                   std::optional<Pass> pass) {
    std::vector<AddedTerm> terms;
    const auto& measured = scenario.cluster.measured;
    const bool timed = scenarios::measures_operators(measured);  // already in the overhead of a
                                                                 // pass
    if (pass && !timed && scenarios::host_waits_for_messages(scenario))
        terms.push_back({kWaitingHost, host_between(scenario, *pass)});
    if (measured) terms.push_back({kInterpreter, measured->pass_overhead});
    return terms;
}

Duration sum_of(const std::vector<AddedTerm>& terms) {
    Duration sum{};
    for (const AddedTerm& added : terms) sum += added.takes;
    return sum;
}

}  // namespace debubble::sim

#include "sim/cost/added_terms.h"

#include "scenarios/measured.h"

namespace debubble::sim {
namespace {

constexpr CostTerm kInterpreter{"around the operators",
                                "measured: the interpreter's own work in a pass"};

}  // namespace

std::vector<AddedTerm> added_terms(const scenarios::Scenario& scenario, const models::StageGraph&,
                                   std::optional<Pass>) {
    std::vector<AddedTerm> terms;
    if (const auto& measured = scenario.cluster.measured)
        terms.push_back({kInterpreter, measured->pass_overhead});
    return terms;
}

Duration sum_of(const std::vector<AddedTerm>& terms) {
    Duration sum{};
    for (const AddedTerm& added : terms) sum += added.takes;
    return sum;
}

}  // namespace debubble::sim

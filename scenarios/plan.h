#pragma once

#include <optional>
#include <vector>

#include "base/exit_status.h"
#include "models/graph.h"
#include "scenarios/scenario.h"
#include "schedule/costs.h"
#include "schedule/lower_options.h"
#include "schedule/schedule.h"
#include "schedule/validate.h"

namespace debubble::scenarios {

/// A schedule file that cannot be run: the answer is no (exit code 1). what()
/// names the file and lists every violation, a sentence a line.
class InvalidSchedule : public NegativeAnswer {
public:
    InvalidSchedule(const std::string& file, std::vector<Violation> violations);
    const std::vector<Violation>& violations() const { return violations_; }

private:
    std::vector<Violation> violations_;
};

/// A scenario made concrete: which stage holds what of the model, and every
/// action of every rank. The simulator plays it and the executor runs it; both
/// build it here, so it is the same.
struct Plan {
    std::vector<models::StageContent> stages;
    Schedule schedule;  ///< computes only
    LowerOptions lowering;
    Program program;
};

/// Whether the scenario's schedule comes from a generator that looks at costs.
bool needs_costs(const Scenario& scenario);

/// Throws InputError for an impossible plan, InvalidSchedule for a bad file.
/// `costs` are for the generators that look at them (Generator::uses_costs).
Plan make_plan(const Scenario& scenario, const std::optional<PipelineCosts>& costs = {});

/// Whether the optimizer steps before the norm is known, of a schedule that splits the backward.
bool is_post_validated(const Scenario& scenario);

/// What every stage holds, by the scenario's partition.
std::vector<models::StageContent> partition_of(const Scenario& scenario, int stages);

/// The lowering that parallelism, training and framework ask for.
LowerOptions lowering_of(const Scenario& scenario, const Schedule& schedule);

}  // namespace debubble::scenarios

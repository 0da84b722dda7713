#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line/exit_status.h"
#include "models/graph/graph.h"
#include "scenarios/plan/scenario.h"
#include "schedule/costs.h"
#include "schedule/generators/generator_options.h"
#include "schedule/lower_options.h"
#include "schedule/schedule.h"
#include "schedule/validate.h"

/// A scenario made concrete: stages, and every action of every rank.
namespace debubble::scenarios {

/// A program that several plans share, and its hash, which is computed when it is first asked for.
/// Thread-safe.
class Lowered {
public:
    explicit Lowered(Program program) : program_(std::move(program)) {}
    const Program& program() const { return program_; }
    const std::string& hash() const;

private:
    Program program_;
    mutable std::once_flag hashed_;
    mutable std::string hash_;
};

/// All that the program of a generated schedule depends on.
struct GeneratedOrder {
    std::string generator;
    PipelineShape shape;
    GeneratorOptions options;
    LowerOptions lowering;
    friend bool operator==(const GeneratedOrder&, const GeneratedOrder&) = default;
};

/// lower() of the schedule that the order gives; null for a large one. The plans of a sweep that
/// differ in what passes cost have one program: the latest small ones are kept for the process.
std::shared_ptr<const Lowered> lowered(const GeneratedOrder& order, const Schedule& schedule);

/// A schedule file that cannot be run: the answer is no (exit code 1). what() names the file and
/// lists every violation, one sentence per line.
class InvalidSchedule : public NegativeAnswer {
public:
    InvalidSchedule(const std::string& file, std::vector<Violation> violations);
    const std::vector<Violation>& violations() const { return violations_; }

private:
    std::vector<Violation> violations_;
};

/// A scenario made concrete: the part of the model that each stage holds, and every action of every
/// rank. The simulator plays it and the executor runs it; both build it here, so it is the same.
struct Plan {
    std::vector<models::StageContent> stages;
    Schedule schedule;  ///< contains computes only
    LowerOptions lowering;
    Program program;
    std::shared_ptr<const Lowered> lowered;  ///< `program`, where others may share it; else null
};

/// True if the scenario's schedule comes from a generator that uses costs.
bool needs_costs(const Scenario& scenario);

/// Throws InputError for an impossible plan, InvalidSchedule for a bad file. `costs` are for the
/// generators that use them (Generator::uses_costs).
Plan make_plan(const Scenario& scenario, const std::optional<PipelineCosts>& costs = {});

/// The same before it is lowered, with an empty program: who asks only for passes need not wait for
/// their messages. An order from a file comes whole, since it is checked so.
Plan plan_of_passes(const Scenario& scenario, const std::optional<PipelineCosts>& costs = {});

/// True where DeepSpeed's BF16_Optimizer steps the parameters: in bf16, with a pipeline at ZeRO-0
/// and with gradients summed in fp32 at ZeRO-1 (runtime/engine.py, _do_optimizer_sanity_check).
bool has_bf16_optimizer(const Scenario& scenario);

/// True if the optimizer steps before the norm is known, in a schedule that splits the backward.
bool is_post_validated(const Scenario& scenario);

/// True if a rank's next pass waits for the messages that it has sent.
bool sends_block(const Scenario& scenario);
/// The streams of the job's messages. Orders that Megatron-LM does not batch are on edges of their
/// own.
Transport transport_of(const Scenario& scenario);

/// True if the host waits for the messages around a pass, so that it does not run ahead of the
/// device from one pass to the next.
bool host_waits_for_messages(const Scenario& scenario);

/// The content of every stage, by the scenario's partition.
std::vector<models::StageContent> partition_of(const Scenario& scenario, int stages);
/// The scenario with these stages instead of its partition. Precondition: multi-token prediction is
/// where the head is.
inline Scenario with_cut(Scenario scenario, const std::vector<models::StageContent>& stages) {
    scenario.parallel.partition = Partition::Explicit;
    scenario.parallel.layers_per_stage.clear();
    for (const models::StageContent& stage : stages)
        scenario.parallel.layers_per_stage.push_back(stage.layers);
    return scenario;
}

/// The options of lowering for the scenario's parallelism, training and framework.
LowerOptions lowering_of(const Scenario& scenario, const Schedule& schedule);

}  // namespace debubble::scenarios

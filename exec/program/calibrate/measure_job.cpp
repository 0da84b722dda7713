#include "exec/program/calibrate/measure_job.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/diagnostic.h"
#include "exec/comm/transports.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/workers.h"
#include "exec/program/calibrate/statistics.h"
#include "exec/program/calibrate/timed_step.h"
#include "models/graph/operator_runs.h"
#include "trace/action_log.h"
#include "trace/core_share.h"

namespace debubble::exec {

namespace {

using OperatorTimings = std::map<JobTimings::OperatorKey, std::vector<double>>;

template <class Key>
void append(std::map<Key, std::vector<double>>& to,
            const std::map<Key, std::vector<double>>& from) {
    for (const auto& [key, values] : from)
        to[key].insert(to[key].end(), values.begin(), values.end());
}
void append(std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

/// Records the operator calls of one rank: a processor reports them within passes, a device after
/// the step.
class Listener {
public:
    explicit Listener(bool within_passes) : within_passes_(within_passes) {}
    OperatorListener hook() {
        return [this](const models::StageGraph& graph, const models::Operator& op,
                      models::Part part, std::chrono::nanoseconds took) {
            if (!listening) return;
            const Clock::time_point begin = Clock::now();
            const auto [at, is_new] = keys_.try_emplace({&op, part});
            if (is_new) at->second = {signature_of(graph, op), part};
            Sum& sum = of_step_[at->second];
            sum.seconds += seconds(took);
            ++sum.times;
            in_passes += seconds(took);
            const Clock::time_point end = Clock::now();
            if (within_passes_)
                in_passes += seconds(end - begin);
            else
                after_passes = seconds(end - first_.value_or(begin));
            if (!first_) first_ = begin;
        };
    }
    /// A call for sharding is priced as a collective, and counts neither as an operator nor as a
    /// pass.
    ShardingListener sharding_hook() {
        return [this](std::chrono::nanoseconds took) {
            if (listening) in_passes += seconds(took);
        };
    }
    void begin_step(bool is_timed) {
        listening = is_timed;
        in_passes = after_passes = 0;
        first_.reset();
    }
    void end_step() {
        for (auto& [key, sum] : of_step_) {
            const Sum step = std::exchange(sum, {});
            if (step.times > 0) timings[key].push_back(step.seconds / step.times);
        }
    }
    bool listening = false;
    OperatorTimings timings;
    /// Seconds of a step in operators, for parameters between them, and in this listener.
    double in_passes = 0;
    double after_passes = 0;  ///< seconds in this listener after passes

private:
    struct Sum {
        double seconds = 0;
        int times = 0;
    };
    static double seconds(std::chrono::nanoseconds time) {
        return std::chrono::duration<double>(time).count();
    }

    bool within_passes_;
    std::map<std::pair<const models::Operator*, models::Part>, JobTimings::OperatorKey> keys_;
    std::map<JobTimings::OperatorKey, Sum> of_step_;
    std::optional<Clock::time_point> first_;  ///< when the first call of this step was reported
};

struct RankTimings {
    OperatorTimings operators;
    std::vector<StepTimings> steps;
    std::vector<double> pass_overheads;
    double elements = 0;   ///< elements that the rank's optimizer steps
    double gradients = 0;  ///< gradients that the rank holds through a step
    ProductChoices products;
};

/// The sum over the rank's units of what `range_of` gives.
template <class RangeOf>
double elements_of(const RankTraining& training, const RangeOf& range_of) {
    std::int64_t sum = 0;
    for (const auto& state : training.states)
        for (const UnitState& unit : state->units()) sum += range_of(unit).count;
    return static_cast<double>(sum);
}

/// What ranks do in a training after each step: they check what ran, and add up the loss.
void close_step(const RankJob& job, const ActionLog& expected, Communicator& world,
                const MeasureOptions& how) {
    if (const auto difference = first_difference(expected, job.log()))
        throw WorldError("the executed order differs from the program: the rank " + *difference);
    double loss[3] = {job.loss_total(), 0, job.ahead_loss_total()};
    world.all_reduce(buffer_of(std::span<double>(loss)), Reduction::Sum, "LOSS")
        ->wait(within(how.patience));
}

RankTimings measure_rank(const scenarios::Scenario& scenario, const scenarios::Plan& plan,
                         const TrainingOptions& options, const std::optional<TrainingData>& data,
                         Communicator& world, const MeasureOptions& how) {
    Listener listener(!how.device);
    JobOptions run{cpu_kernels_maker(how.kernels, how.threads), {}, how.patience, listener.hook()};
    run.on_sharding = listener.sharding_hook();
    if (how.device) run.device = how.device(world.rank(), world.size());
    run.times_products = true;
    RankJob job(scenario, plan, options, world, run);
    ShownBatches shown(scenario, data, job.groups().place.data);
    RankTimings timings;
    timings.elements = elements_of(job.state(), [](const auto& unit) { return unit.stepped(); });
    timings.gradients =
        elements_of(job.state(), [](const auto& unit) { return unit.gradients_held(); });
    const ActionLog expected =
        log_of(plan.program.ranks[job.rank().index], plan.program.stage_count());
    if (job.device() != nullptr) timings.products = job.device()->timed_products();
    const bool routes = scenario.model.has_experts();
    const int warm_up = how.warm_up.value_or(routes ? 30 : 3);
    const int timed = how.steps.value_or(routes ? 30 : 10);
    for (int step = 0; step < warm_up + timed; ++step) {
        listener.begin_step(step >= warm_up);
        const Instant before_data = instant_of(Clock::now());
        const StepInputs inputs = shown.inputs(step, job.training().loss_scale());
        const Instant begin = instant_of(Clock::now());
        const StepRecord record = job.step(inputs);
        close_step(job, expected, world, how);
        const Instant end = instant_of(Clock::now());
        if (!listener.listening) continue;
        listener.end_step();
        timings.steps.push_back(timings_of(record, begin, end, plan.program.stage_count()));
        StepTimings& seen = timings.steps.back();
        seen.after_last =
            std::max(0.0, seen.after_last - listener.after_passes) + seconds(begin - before_data);
        if (seen.passes == 0) continue;
        const double gap = seen.gaps.empty() ? 0 : median(seen.gaps);
        timings.pass_overheads.push_back(gap + std::max(0.0, seen.in_passes - listener.in_passes) /
                                                   seen.passes);
    }
    timings.operators = std::move(listener.timings);
    return timings;
}

/// The least of what `time_of` gives for each step: that of the rank that all others have waited
/// for.
template <class TimeOf>
std::vector<double> least_of_ranks(const std::vector<RankTimings>& ranks, const TimeOf& time_of) {
    std::vector<double> out;
    for (std::size_t step = 0; step < ranks.front().steps.size(); ++step) {
        std::optional<double> least;
        for (const RankTimings& rank : ranks)
            if (const std::optional<double> time = time_of(rank, rank.steps[step]))
                least = std::min(least.value_or(*time), *time);
        if (least) out.push_back(*least);
    }
    return out;
}

/// A rank's median over its steps, if others used the cores.
std::optional<double> disturbed_share(const RankTimings& rank, double cores_per_thread) {
    std::vector<double> shares;
    for (const StepTimings& step : rank.steps)
        if (step.core_share) shares.push_back(*step.core_share);
    if (shares.empty()) return std::nullopt;
    const double share = median(std::move(shares));
    return is_disturbed(share, cores_per_thread) ? std::optional(share) : std::nullopt;
}

std::optional<double> lesser(std::optional<double> a, std::optional<double> b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
}

/// The scenario with a constant learning rate if its number of steps is not given, since the end of
/// the rate would then depend on the data. Otherwise the rate stays: how fast a router learns
/// decides how rows spread over the experts.
scenarios::Scenario with_known_rate(scenarios::Scenario scenario) {
    scenarios::RunOptions& run = scenario.training.run;
    if (!run.steps && !run.lr_schedule.total_steps) run.lr_schedule = {};
    return scenario;
}

}  // namespace

void JobTimings::add(JobTimings&& other) {
    append(operators, other.operators);
    append(pass_overheads, other.pass_overheads);
    append(optimizer, other.optimizer);
    append(zero, other.zero);
    append(norm, other.norm);
    core_share = lesser(core_share, other.core_share);
    append(step_overheads, other.step_overheads);
    products.merge(other.products);
}

JobTimings measure_job(const scenarios::Scenario& asked, const MeasureOptions& how) {
    const scenarios::Scenario scenario = with_known_rate(asked);
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const TrainingOptions options = training_options(scenario);
    const std::optional<TrainingData> data = data_of(scenario);
    std::vector<RankTimings> ranks(scenario.parallel.gpus());
    run_local(static_cast<int>(ranks.size()), Transport::Buffered, [&](Communicator& world) {
        ranks[world.global_rank()] = measure_rank(scenario, plan, options, data, world, how);
    });
    JobTimings all;
    const double cores = cores_per_thread(static_cast<int>(ranks.size()) * how.threads);
    // Ranks have products that others have not; of those that several have timed, one choice
    // counts.
    for (RankTimings& rank : ranks) {
        all.products.merge(rank.products);
        append(all.operators, rank.operators);
        append(all.pass_overheads, rank.pass_overheads);
        for (const StepTimings& step : rank.steps) {
            if (step.optimizer && rank.elements > 0)
                all.optimizer.push_back(*step.optimizer / rank.elements);
            if (step.before_first && rank.gradients > 0)
                all.zero.push_back(*step.before_first / rank.gradients);
        }
        all.core_share = lesser(all.core_share, disturbed_share(rank, cores));
    }
    all.norm = least_of_ranks(ranks, [](const RankTimings& rank, const StepTimings& step) {
        return step.norm && rank.elements > 0 ? std::optional(*step.norm / rank.elements)
                                              : std::nullopt;
    });
    all.step_overheads = least_of_ranks(ranks, [](const RankTimings&, const StepTimings& step) {
        return std::optional(step.after_last);
    });
    return all;
}

}  // namespace debubble::exec

#include "exec/program/run/training_loop.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/core/interpreter/gather_records.h"
#include "exec/core/rank/rank_job.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/io/data/batches.h"
#include "schedule/derived_programs.h"
#include "trace/action_log.h"
#include "trace/executed_order.h"

namespace debubble::exec {

namespace {

constexpr std::size_t kKeptRecords = 32;

/// A word for a number that is not finite.
std::string word_for(double number) {
    return std::isnan(number) ? "not a number" : "infinite";
}

class RankRun {
public:
    RankRun(const RunJob& job, Communicator& world)
        : job_(job),
          world_(world),
          rank_(job.scenario, job.plan, job.options, world,
                {cpu_kernels_maker(job.request.kernels, job.threads),
                 {},
                 job.request.patience,
                 {},
                 job.device_of(world),
                 job.planned_of(world.rank())}),
          place_(rank_.groups().place),
          expected_(
              log_of(job.plan.program.ranks[rank_.rank().index], job.plan.program.stage_count())),
          expected_forwards_(log_of(forward_only(job.plan.program).ranks[rank_.rank().index],
                                    job.plan.program.stage_count())),
          last_checkpoint_(job.start.resume ? job.start.resume->folder.string() : "") {
        for (const Stage stage : job.plan.program.placement.stages_of(rank_.rank())) {
            const models::StageContent& content = job.plan.stages[stage.index];
            needs_data_ = needs_data_ || content.embedding || content.head ||
                          content.predictions == models::Predictions::Here;
        }
        if (job.scenario.model.has_experts()) loads_.emplace(job.scenario, world);
        train_batches_.emplace(job.data.train, wish(rank_.device() != nullptr));
        if (job.data.eval) eval_batches_.emplace(*job.data.eval, wish(false));
    }

    std::vector<std::string> load() {
        std::vector<std::string> notes = load_start(job_.start, job_.scenario, rank_.state());
        if (const Device* device = rank_.device(); device && !device->note().empty())
            notes.push_back(device->note());
        return notes;
    }

    /// Runs a step. Returns whether a stop was requested, which is the same on all ranks.
    bool step(std::int64_t number, bool stop_asked) {
        const Clock::time_point begin = Clock::now();
        const StepBatches& batches = train_batches_->of(number);
        const std::int64_t counted = batches.counted;
        StepInputs inputs = inputs_of(job_.data.train, batches, number);
        inputs.gradient_scale =
            counted > 0 ? rank_.training().loss_scale() / static_cast<double>(counted) : 0;
        inputs.micro_batch_scale =
            rank_.training().loss_scale() / static_cast<double>(job_.scenario.all_micro_batches());
        StepRecord record = rank_.step(inputs);
        prove(expected_, fmt::format("step {}", number + 1));
        expert_load_ += rank_.expert_load();
        if (const ArenaPeak& peak = rank_.arena().peak(); total(peak.held) > peak_) {
            peak_ = total(peak.held);
            routed_at_peak_ = peak.routed;
        }

        // All ranks of a tensor group have the same loss.
        const double loss_here = place_.tensor == 0 ? rank_.loss_total() : 0;
        const double ahead_here = place_.tensor == 0 ? rank_.ahead_loss_total() : 0;
        double sums[3] = {loss_here, stop_asked ? 1.0 : 0.0, ahead_here};
        world_.all_reduce(buffer_of(std::span<double>(sums)), Reduction::Sum, "LOSS")
            ->wait(within(job_.request.patience));
        const StepOutcome& outcome = rank_.training().outcome();
        const double loss = counted > 0 ? sums[0] / static_cast<double>(counted) : 0;
        const std::chrono::duration<double> took = Clock::now() - begin;
        metrics_ = {number + 1,      loss,
                    outcome.norm,    outcome.lr,
                    took.count(),    outcome.loss_scale,
                    outcome.skipped, outcome.rolled_back};
        if (const int depths = job_.scenario.model.mtp_layers; depths > 0 && counted > 0)
            metrics_.mtp_loss = sums[2] / static_cast<double>(counted) / depths;
        if (loads_) metrics_.routers = loads_->step(rank_, job_.request.patience);
        records_.push_back({took.count(), std::move(record)});
        // The first step is left out, since it fills caches and touches memory.
        if (records_.size() > kKeptRecords || (records_.size() == 2 && number == first() + 1))
            records_.pop_front();
        if (!std::isfinite(loss))
            fail_together(diverged(fmt::format("the loss is {}", word_for(loss))));
        if (outcome.diverged)
            fail_together(
                diverged(fmt::format("the norm of the gradient is {}", word_for(outcome.norm))));
        return sums[1] > 0;
    }
    const StepMetrics& metrics() const { return metrics_; }
    const std::string& last_checkpoint() const { return last_checkpoint_; }
    std::vector<LayerLoad> layer_loads() const {
        return loads_ ? loads_->of_layers() : std::vector<LayerLoad>{};
    }

    void save(std::int64_t steps) {
        if (!rank_.training().weights_are_finite())
            fail_together(diverged("it has produced weights that are not finite"));
        last_checkpoint_ =
            save_checkpoint({job_.scenario, job_.options, job_.program_hash, job_.data.train,
                             job_.train_data.value_or(""), steps, metrics_.lr,
                             job_.request.patience, job_.layers_of_stages()},
                            rank_.state(), world_);
    }

    /// Evaluates; a collective over all ranks. It leaves nothing in the training.
    Evaluation evaluate(const Batches& data, std::int64_t after_step) {
        const Clock::time_point begin = Clock::now();
        double sums[2] = {0, 0};
        Evaluation evaluation;
        evaluation.step = after_step;
        const std::int64_t all = data.steps(1);
        const std::int64_t batches = std::min(job_.options.eval_iters.value_or(all), all);
        for (std::int64_t batch = 0; batch < batches; ++batch) {
            const StepBatches& shown = eval_batches_->of(batch);
            StepInputs inputs = inputs_of(data, shown, batch);
            inputs.training = false;
            rank_.evaluate(inputs);
            prove(expected_forwards_, fmt::format("the evaluation after step {}", after_step));
            evaluation.targets += shown.counted;
            if (place_.tensor != 0) continue;
            sums[0] += rank_.loss_total();
            sums[1] += rank_.correct_total();
        }
        world_.all_reduce(buffer_of(std::span<double>(sums)), Reduction::Sum, "EVALUATION")
            ->wait(within(job_.request.patience));
        const auto targets = static_cast<double>(std::max<std::int64_t>(evaluation.targets, 1));
        evaluation.loss = sums[0] / targets;
        const bool whole_rows = job_.grid.tensor == 1 || job_.scenario.model.sees_images();
        if (whole_rows) evaluation.accuracy = sums[1] / targets;
        evaluation.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        return evaluation;
    }

    /// A collective over all ranks.
    std::optional<RunExpertLoad> expert_load() {
        if (job_.grid.expert_block() == 1 || !job_.grid.expert_tensor) return std::nullopt;
        double most[3] = {expert_load_.mean(), expert_load_.most, static_cast<double>(peak_.count)};
        const auto largest = [&](std::span<double> values) {
            world_.all_reduce(buffer_of(values), Reduction::Max, "EXPERT_LOAD")
                ->wait(within(job_.request.patience));
        };
        largest(most);
        double at_peak = static_cast<double>(peak_.count) == most[2] ? routed_at_peak_ : 0;
        largest({&at_peak, 1});
        return RunExpertLoad{most[0], most[1], at_peak};
    }

    /// The record of a step, and its length by rank 0's clock.
    struct MedianStep {
        GatheredRecords records;
        double seconds = 0;
    };
    /// The kept step of median length on rank 0; all ranks agree on it.
    MedianStep median_record() {
        std::vector<std::size_t> order(records_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto middle = order.begin() + static_cast<std::ptrdiff_t>((order.size() - 1) / 2);
        std::ranges::nth_element(order, middle, {},
                                 [&](std::size_t i) { return records_[i].seconds; });
        auto chosen = static_cast<std::int32_t>(*middle);
        world_.broadcast(buffer_of(std::span(&chosen, 1)), 0, "MEDIAN_STEP")
            ->wait(within(job_.request.patience));
        const Kept& kept = records_[chosen];
        return {gather_records(world_, kept.record, job_.request.patience), kept.seconds};
    }

private:
    struct Kept {
        double seconds = 0;
        StepRecord record;
    };
    std::int64_t first() const { return job_.start.first_step(); }

    BatchesAhead::Wish wish(bool ahead) const {
        return {place_.data, job_.scenario.training.micro_batches, needs_data_, ahead};
    }
    StepInputs inputs_of(const Batches& data, const StepBatches& batches, std::int64_t step) const {
        StepInputs inputs;
        inputs.step = step;
        inputs.seed = job_.options.seed;
        inputs.ignore_index = job_.data.ignore_index;
        const Deal& deal = data.deal();
        for (const Batch& batch : batches.micro_batches) {
            const auto index = static_cast<std::int64_t>(inputs.micro_batches.size());
            inputs.micro_batches.push_back({batch.inputs.view(), batch.targets.view(),
                                            place_.data * deal.share() + index * deal.micro_batch});
        }
        return inputs;
    }

    /// Checks the log of the last step or evaluation on this rank. The other ranks hear of an error
    /// as of any failure.
    void prove(const ActionLog& expected, const std::string& when) const {
        const auto difference = first_difference(expected, rank_.log());
        if (!difference) return;
        const std::string replica =
            job_.grid.replicas() == 1
                ? ""
                : fmt::format(" of replica {}", job_.grid.replica_of(world_.rank()));
        throw WorldError(
            fmt::format("the executed order differs from the program in {}: rank {}{} {}", when,
                        rank_.rank().index, replica, *difference));
    }

    /// A sentence about the step of `metrics_`.
    std::string diverged(const std::string& what) const {
        const std::string saved =
            last_checkpoint_.empty()
                ? "no checkpoint was saved before it"
                : fmt::format("the last complete checkpoint is {}", last_checkpoint_);
        return fmt::format(
            "step {}: {}; the training has diverged at a learning rate of {:.3g}; {}",
            metrics_.step, what, metrics_.lr, saved);
    }
    /// All ranks reach this with the same sentence; only one reports it.
    [[noreturn]] void fail_together(const std::string& sentence) const {
        if (world_.rank() == 0) throw WorldError(sentence);
        throw Aborted(sentence);
    }

    const RunJob& job_;
    Communicator& world_;
    RankJob rank_;
    GridPlace place_;
    ActionLog expected_;  ///< log of the rank in every step
    ActionLog expected_forwards_;
    bool needs_data_ = false;
    std::optional<BatchesAhead> train_batches_, eval_batches_;
    StepMetrics metrics_;
    std::optional<LayerLoads> loads_;  ///< if the network has experts
    std::string last_checkpoint_;      ///< from which this training could go on; empty: none
    std::deque<Kept> records_;
    ExpertLoad expert_load_;  ///< of all steps of this run
    Bytes peak_;              ///< the most that the arena held in one of them
    double routed_at_peak_ = 1;
};

double median_seconds(const std::vector<StepMetrics>& steps) {
    std::vector<double> seconds;
    for (std::size_t i = steps.size() > 1 ? 1 : 0; i < steps.size(); ++i)
        seconds.push_back(steps[i].seconds);
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 2);
    std::ranges::nth_element(seconds, middle);
    return *middle;
}

TraceHeader header_of(const RunJob& job, const RankRun::MedianStep& step) {
    return {.source = TraceSource::Executed,
            .scenario = job.scenario.name,
            .program_hash = job.program_hash,
            .tensor = job.grid.tensor,
            .context = job.grid.context,
            .data = job.grid.data,
            .pipeline = job.grid.pipeline,
            .folded = job.grid.replicas() == 1,
            // Its own length, not the median of all steps, of which only the last ones were kept.
            .step_time = from_seconds(step.seconds),
            .copies_block = !job.cuda,
            .reductions_block = job.scenario.parallel.shares_gradients(),
            .clock_error = step.records.clock_error,
            .cores_per_thread = job.cores_per_thread()};
}

void finish_trace(const RunJob& job, RankRun::MedianStep step, RunOutcome& outcome) {
    outcome.trace = trace_of(std::move(step.records.records));
    outcome.trace.header = header_of(job, step);
    outcome.trace.program = job.plan.program;
    outcome.disorder = executed_in_order(job.plan.program, outcome.trace);
}

/// Seconds since this process began, which a restart pays for too: its start by proc(5), in ticks
/// after the machine's. 0 where the system does not tell.
double age_of_process() {
    std::ifstream stat("/proc/self/stat");
    std::string line;
    std::getline(stat, line);
    const std::size_t name_ends = line.rfind(')');
    if (name_ends == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_ends + 1));
    constexpr int kStartTime = 20;  // the 22nd field of all, and this is the third one's place
    std::string field;
    for (int i = 0; i < kStartTime; ++i) fields >> field;
    timespec now{};
    if (field.empty() || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
    const double since_boot =
        static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    const double began =
        std::strtod(field.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return std::max(0.0, since_boot - began);
}

/// The bytes of all files in a folder; nothing where it cannot be read.
std::optional<Bytes> size_of_folder(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::error_code error;
    Bytes sum;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
        if (at->is_regular_file(error) && !error)
            sum += Bytes{static_cast<std::int64_t>(at->file_size(error))};
    if (error || sum <= Bytes{}) return std::nullopt;
    return sum;
}

}  // namespace

RunOutcome train(const RunJob& job, Communicator& world, const StopSignal& stop,
                 const RunListener& listener) {
    const auto since = [](Clock::time_point begin) {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    RankRun rank(job, world);
    RunOutcome outcome;
    outcome.overheads.start = age_of_process();
    const Clock::time_point loads = Clock::now();
    const auto notes = rank.load();
    outcome.overheads.load = since(loads);
    if (world.rank() == 0 && job.start.resume)
        outcome.overheads.loaded = size_of_folder(job.start.resume->folder);
    if (world.rank() == 0)
        for (const std::string& note : notes) listener.on_note(note);
    const auto is_due = [](std::optional<std::int64_t> every, std::int64_t step) {
        return every && step % *every == 0;
    };
    const auto& checkpoint = job.options.checkpoint;
    std::int64_t step = job.start.first_step();
    while (step < job.last_step && !outcome.stopped) {
        const bool asked = rank.step(step, stop.came());
        ++step;
        outcome.steps.push_back(rank.metrics());
        ++outcome.proven_steps;  // no rank has thrown: the loss was summed after the check
        const bool speaks = world.rank() == job.loss_rank();
        if (speaks) listener.on_step(rank.metrics());
        outcome.stopped = asked && step < job.last_step;
        const bool last = step == job.last_step || outcome.stopped;
        if (checkpoint && (last || is_due(checkpoint->every, step))) {
            const Clock::time_point saves = Clock::now();
            rank.save(step);
            outcome.overheads.saves.push_back(since(saves));
        }
        const bool evaluates = step == job.last_step || is_due(job.options.eval_interval, step);
        if (!job.data.eval || !evaluates || outcome.stopped) continue;
        outcome.evaluations.push_back(rank.evaluate(*job.data.eval, step));
        if (speaks) listener.on_evaluation(outcome.evaluations.back());
    }
    if (outcome.steps.empty()) return outcome;
    if (world.rank() == 0 && !outcome.overheads.saves.empty())
        outcome.overheads.saved = size_of_folder(rank.last_checkpoint());
    outcome.step_time_s = median_seconds(outcome.steps);
    outcome.loads = rank.layer_loads();
    outcome.expert_load = rank.expert_load();
    RankRun::MedianStep median = rank.median_record();
    if (world.rank() == 0) finish_trace(job, std::move(median), outcome);
    return outcome;
}

}  // namespace debubble::exec

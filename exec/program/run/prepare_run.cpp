#include "exec/program/run/prepare_run.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "exec/cpu/back_end.h"
#include "exec/program/run/planned_memory.h"
#include "exec/program/run/refuse_at.h"
#include "exec/program/run/resume_notes.h"
#include "scenarios/read_scenario.h"
#include "sim/predict.h"
#include "text/shipped_files.h"

namespace debubble::exec {

namespace {

std::int64_t last_step_of(const TrainingOptions& options, const RunRequest& request,
                          const Batches& batches) {
    if (request.steps) return *request.steps;
    if (options.steps) return *options.steps;
    if (options.epochs) return batches.steps(*options.epochs);
    throw InputError(
        "nothing says how long to train: give --steps, 'training.steps' or "
        "'training.epochs'");
}

/// The number of steps is known once the data is open: it is the end of a learning rate that has
/// none in the scenario.
void say_where_rates_end(scenarios::RunOptions& run, const RunRequest& request,
                         const Batches& batches) {
    if (run.steps || run.lr_schedule.total_steps > 0) return;
    if (!run.epochs)
        run.steps = request.steps;
    else if (run.lr_schedule.shape != LrSchedule::Shape::Constant)
        run.lr_schedule.total_steps = batches.steps(*run.epochs);
}

/// A resumed training keeps the learning rate with which it started: epochs of other data would end
/// it elsewhere.
void check_rates_end_there(const RunJob& job, const scenarios::Scenario& asked) {
    if (!job.start.resume || asked.training.run.lr_schedule.total_steps > 0) return;
    using Settings = std::map<std::string, std::string>;
    const Settings& was = job.start.resume->manifest.settings;
    const Settings is = settings_of(job.scenario.training.run);
    const auto value = [](const Settings& settings, const char* key) {
        const auto found = settings.find(key);
        return found == settings.end() ? std::string() : found->second;
    };
    constexpr const char* kEndOfRate = "lr_schedule.total_steps";
    const std::string before = value(was, kEndOfRate), now = value(is, kEndOfRate);
    const bool same_epochs = value(was, "epochs") == value(is, "epochs");
    if (before.empty() || now.empty() || before == now || !same_epochs) return;
    throw InputError(
        fmt::format("the learning rate of {} ends after {} steps, and {} epochs of this data are "
                    "{}: choose by 'training.lr_schedule.total_steps'",
                    job.start.resume->folder.string(), before, value(is, "epochs"), now));
}

/// A sentence if a model distinguishes more classes of images than the data has.
std::optional<std::string> unseen_classes(const scenarios::Scenario& scenario,
                                          const TrainingData& data) {
    const auto seen = std::ssize(data.classes);
    if (seen == 0 || seen == scenario.model.vocab) return {};
    return fmt::format(
        "the images are of {} {} ({}), and {} tells {} apart: model.vocab could be {}", seen,
        seen == 1 ? "class" : "classes", fmt::join(data.classes, ", "), scenario.model.name,
        scenario.model.vocab, seen);
}

/// The tutorials that are shipped name data that nobody ships.
void check_data_is_there(const RunRequest& request, const scenarios::DataOptions& data) {
    if (text::is_path(request.scenario)) return;
    std::error_code error;
    for (const std::string& path :
         {data.tokens, data.text, data.jsonl, data.images, data.tokenizer, data.eval})
        if (!path.empty() && !std::filesystem::exists(path, error))
            throw InputError({{{path, 0, 0},
                               fmt::format("no such file; `debubble data {}` makes small data of "
                                           "the right shape there",
                                           request.scenario),
                               {}}});
}

int threads_of(const RunRequest& request, const RankGrid& grid, int processes_on_this_host) {
    if (request.threads) return *request.threads;
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int here = processes_on_this_host > 1 ? processes_on_this_host : grid.size();
    return std::max(1, cores / here);
}

}  // namespace

scenarios::Scenario read_for_run(const RunRequest& request) {
    std::vector<scenarios::Override> overrides;
    for (const std::string& text : request.set)
        overrides.push_back(scenarios::parse_override(text));
    scenarios::Scenario asked =
        sim::with_chosen_recompute(scenarios::read_scenario(request.scenario, overrides));
    if (const auto part = unexecuted(asked)) refuse_at(request.scenario, *part);
    return asked;
}

RunJob prepare_run(const RunRequest& request, const ProcessPlace& place) {
    const scenarios::Scenario asked = read_for_run(request);
    std::optional<CudaModule> cuda;
    const bool several = place.size > 1 && (request.comm == "auto" || request.comm == "nccl");
    if (request.device == "cuda") cuda = CudaModule::load(several);
    cpu_back_end(request.kernels);  // throws if there is none
    const scenarios::Parallel& parallel = asked.parallel;
    check_data_is_there(request, asked.training.run.data);
    const bool prices = place.rank == 0;
    RunJob job{request,
               asked,
               prices ? sim::priced_plan(asked) : scenarios::make_plan(asked),
               {},
               {},
               {},
               open_training_data(asked),
               {}};
    if (const auto part = unexecuted(asked.training.routers, job.plan.program.placement))
        refuse_at(request.scenario, *part);
    if (prices || !needs_costs(asked)) job.program_hash = program_hash(job.plan.program);
    say_where_rates_end(job.scenario.training.run, request, job.data.train);
    job.options = training_options(job.scenario);
    job.grid = grid_of(job.scenario);
    if (job.options.checkpoint && prices) check_checkpoints(job.scenario, job.grid.size());
    job.last_step = last_step_of(job.options, request, job.data.train);
    const int ranks_here = place.size == 1 ? job.grid.size() : 1;
    job.start = open_start(job.scenario, job.options, request.resume, ranks_here);
    check_rates_end_there(job, asked);
    if (place.size > 1 || job.options.checkpoint || job.start.resume)
        job.train_data = data_in_words(job.data.train);
    std::ranges::move(notes_on_changes(job), std::back_inserter(job.start.notes));
    if (auto note = unseen_classes(asked, job.data)) job.start.notes.push_back(std::move(*note));
    job.threads = threads_of(request, job.grid, place.on_this_host);
    job.peak = cuda ? PeakRate{{}, "the peak rate of the GPU is not known"}
                    : peak_of_processor(asked, job.threads);
    job.place = place;
    job.cuda = cuda;
    if (prices) job.planned = planned_memory(asked, &job.plan);
    if (!cuda && place.size == 1) check_memory(job.planned, parallel, available_memory());
    return job;
}

}  // namespace debubble::exec

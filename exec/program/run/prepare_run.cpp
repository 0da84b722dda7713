#include "exec/program/run/prepare_run.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/command_line/progress_line.h"
#include "base/diagnostic.h"
#include "exec/cpu/cpu_kernels.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"
#include "text/shipped_files.h"

namespace debubble::exec {

namespace {

/// Steps until that many tokens have been seen, those of padding counted.
std::int64_t steps_of_tokens(std::int64_t tokens, const scenarios::Training& training) {
    const std::int64_t each = training.global_batch * training.seq_length;
    return (tokens + each - 1) / each;
}

std::int64_t last_step_of(const RunJob& job, const RunRequest& request) {
    if (request.steps) return *request.steps;
    if (job.options.steps) return *job.options.steps;
    if (job.options.epochs) return job.data.train.steps(*job.options.epochs);
    if (job.options.tokens) return steps_of_tokens(*job.options.tokens, job.scenario.training);
    throw InputError(
        "the length of the training is not given: use --steps, 'training.steps', 'training.epochs' "
        "or "
        "'training.tokens'");
}

/// The number of steps is known once the data is open: it is the end of a learning rate that has
/// none in the scenario.
void say_where_rates_end(scenarios::Training& training, const RunRequest& request,
                         const Batches& batches) {
    scenarios::RunOptions& run = training.run;
    if (run.steps || run.lr_schedule.total_steps) return;
    if (run.tokens)
        run.lr_schedule.total_steps = steps_of_tokens(*run.tokens, training);
    else if (!run.epochs)
        run.steps = request.steps;
    else if (run.lr_schedule.shape != LrSchedule::Shape::Constant)
        run.lr_schedule.total_steps = batches.steps(*run.epochs);
}

/// A resumed training keeps the learning rate with which it started: epochs of other data would end
/// it elsewhere.
void check_rates_end_there(const RunJob& job, const scenarios::Scenario& asked) {
    if (!job.start.resume || asked.training.run.lr_schedule.total_steps) return;
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
        "the images have {} {} ({}), and {} distinguishes {}: model.vocab could be {}", seen,
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

bool is_balanced(const scenarios::Scenario& scenario) {
    return scenario.parallel.partition == scenarios::Partition::Balanced;
}

/// A balanced cut is chosen once per training: a checkpoint of as many stages names the layers of
/// each, and another calibration does not change them.
void take_cut_of_checkpoint(RunJob& job) {
    if (!is_balanced(job.scenario) || !job.start.resume) return;
    const CheckpointLayout& was = job.start.resume->manifest.layout;
    scenarios::Parallel& parallel = job.scenario.parallel;
    const std::size_t stages = job.scenario.pipeline_shape().stages();
    if (was.pipeline != parallel.pipeline || was.layers.size() != stages ||
        std::accumulate(was.layers.begin(), was.layers.end(), 0LL) !=
            job.scenario.model.layers.count())
        return;
    parallel.partition = scenarios::Partition::Explicit;
    parallel.layers_per_stage = was.layers;
    job.start.notes.push_back(fmt::format("the stages hold {} layers, as in {}",
                                          fmt::join(was.layers, ", "),
                                          job.start.resume->folder.string()));
}

/// A scenario without `auto` and `balanced`, and its Program.
struct Decided {
    scenarios::Scenario scenario;
    scenarios::Plan plan;
    std::string program_hash;
};

/// Rank 0 chooses what `auto` and `balanced` leave open and prices the Program; the others take the
/// cut that it sends (share_plan).
Decided decide(scenarios::Scenario asked, const RunRequest& request, bool prices) {
    Decided out;
    if (prices || asked.training.chooses_recompute) {
        ProgressLine line(!prices);
        const auto show = [&](std::size_t done, std::size_t all) {
            line.show(sim::choices_words(done, all));
        };
        asked = sim::with_choices_made(std::move(asked), show);
    }
    out.scenario = std::move(asked);
    out.plan = prices ? sim::priced_plan(out.scenario) : scenarios::make_plan(out.scenario);
    if (const auto part = unsupported(out.scenario.training.routers, out.plan.program.placement))
        refuse_at(request.scenario, *part);
    if (prices || !needs_costs(out.scenario)) out.program_hash = program_hash(out.plan.program);
    return out;
}

void take(Decided decided, RunJob& job) {
    job.scenario = std::move(decided.scenario);
    job.plan = std::move(decided.plan);
    job.program_hash = std::move(decided.program_hash);
}

}  // namespace

scenarios::Scenario read_for_run(const RunRequest& request) {
    std::vector<scenarios::Override> overrides;
    for (const std::string& text : request.set)
        overrides.push_back(scenarios::parse_override(text));
    scenarios::Scenario asked = scenarios::read_scenario(request.scenario, overrides);
    if (const auto part = unsupported(asked)) refuse_at(request.scenario, *part);
    return asked;
}

RunJob prepare_run(const RunRequest& request, const ProcessPlace& place) {
    const scenarios::Scenario asked = read_for_run(request);
    std::optional<CudaModule> cuda;
    const bool several = place.size > 1 && (request.comm == "auto" || request.comm == "nccl");
    if (request.device == "cuda") cuda = CudaModule::load(several);
    cpu_back_end(request.kernels);  // throws if there is none
    check_data_is_there(request, asked.training.run.data);
    const bool prices = place.rank == 0;
    const bool waits = is_balanced(asked);  // for a checkpoint's cut
    Decided decided;
    if (!waits) decided = decide(asked, request, prices);
    RunJob job{request, asked, {}, {}, {}, {}, open_training_data(asked), {}};
    if (!waits) take(std::move(decided), job);
    say_where_rates_end(job.scenario.training, request, job.data.train);
    job.options = training_options(job.scenario);
    job.grid = grid_of(job.scenario);
    if (job.options.checkpoint && prices) check_checkpoints(job.scenario, job.grid.size());
    job.last_step = last_step_of(job, request);
    const int ranks_here = place.size == 1 ? job.grid.size() : 1;
    job.start = open_start(job.scenario, job.options, request.resume, ranks_here);
    check_rates_end_there(job, asked);
    if (waits) {
        take_cut_of_checkpoint(job);
        job.takes_cut = !prices && is_balanced(job.scenario);
        take(decide(job.scenario, request, prices), job);
    }
    if (place.size > 1 || job.options.checkpoint || job.start.resume)
        job.train_data = data_in_words(job.data.train);
    std::ranges::move(notes_on_changes(job), std::back_inserter(job.start.notes));
    if (auto note = unseen_classes(asked, job.data)) job.start.notes.push_back(std::move(*note));
    job.threads = threads_of(request, job.grid, place.on_this_host);
    job.peak = cuda ? PeakRate{{}, "the peak rate of the GPU is not known"}
                    : peak_of_processor(asked, job.threads);
    job.place = place;
    job.cuda = cuda;
    if (prices)
        if (std::vector<Bytes> planned = planned_memory(job.scenario, &job.plan); !planned.empty())
            job.planned = std::move(planned);
    if (!cuda && place.size == 1 && job.planned)
        check_memory(*job.planned, asked.parallel, available_memory());
    return job;
}

}  // namespace debubble::exec

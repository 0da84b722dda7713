#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/arguments.h"
#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/outputs.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cuda/gpu_placement.h"
#include "exec/cuda/nccl/setup.h"
#include "exec/io/checkpoint/checkpoint.h"
#include "exec/program/run/prepare_run.h"
#include "exec/program/run/run_report.h"
#include "exec/program/run/world/launch.h"
#include "trace/io/trace_formats.h"

/// `debubble run`: trains with the same Program that `debubble simulate` prices.
namespace debubble::exec {
namespace {

struct RunArguments {
    RunRequest request;
    int launch = 0;
    double deadline_s = 300;
};

void check(const RunArguments& args) {
    const RunRequest& request = args.request;
    if (request.device != "cpu" && request.device != "cuda")
        throw InputError(fmt::format("--device is '{}'; it can be cpu or cuda", request.device));
    if (request.comm == "nccl" && request.device != "cuda")
        throw InputError("--comm nccl moves tensors between GPUs: add --device cuda");
    if (args.launch > 0 && request.comm == "local")
        throw InputError("--launch starts processes, but --comm local runs ranks as threads");
}

/// Outputs must overwrite neither the scenario nor its data.
void check_outputs(const RunJob& job) {
    const scenarios::DataOptions& data = job.scenario.training.run.data;
    for (const std::string& file : {data.tokens, data.text, data.jsonl, data.eval, data.tokenizer})
        if (!file.empty()) note_file_read(file);
    Outputs outputs;
    outputs.add("--json", job.request.json);
    outputs.add("--trace", job.request.trace);
    outputs.add("--metrics", job.request.metrics);
    outputs.check();
}

void write_output(const std::string& where, const std::string& content) {
    if (where.empty()) return;
    if (where != "-") return write_file(where, content);
    std::fwrite(content.data(), 1, content.size(), stdout);
    if (std::fflush(stdout) != 0) throw WorldError("standard output cannot be written");
}

/// A count in words: "1 stage", "2 stages", "2 processes", "2 microbatches".
std::string counted(int count, const std::string& word) {
    const bool hisses = word.ends_with("s") || word.ends_with("h");
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : hisses ? "es" : "s");
}

std::string intro(const RunJob& job, Transporter transporter) {
    const PipelineShape& shape = job.plan.program.shape;
    return fmt::format(
        "{}: {} on {}, {} x {}, {}, program {}\n", job.scenario.name, job.plan.program.name,
        counted(job.grid.size(), transporter == Transporter::Threads ? "thread" : "process"),
        counted(shape.ranks, "pipeline rank"), counted(shape.stages_per_rank, "stage"),
        counted(shape.micro_batches, "microbatch"), job.program_hash.substr(0, 12));
}

std::string ending(const RunJob& job, const RunOutcome& outcome) {
    const std::int64_t step = outcome.steps.back().step;
    if (!outcome.stopped) return "";
    if (!job.options.checkpoint)
        return fmt::format(
            "stopped by a signal after step {} of {}; nothing is saved, since the "
            "scenario names no checkpoint folder\n",
            step, job.last_step);
    const bool goes_on = job.request.resume == "auto";
    return fmt::format(
        "stopped by a signal after step {} of {}, which is saved in {}; {} goes on "
        "from there\n",
        step, job.last_step, job.options.checkpoint->dir,
        goes_on ? "the same command" : "the same command with --resume auto");
}

void write_results(const RunJob& job, const RunOutcome& outcome, std::FILE* out) {
    const RunRequest& request = job.request;
    if (!request.json.empty()) write_output(request.json, run_report(job, outcome).dump(2) + "\n");
    if (!request.trace.empty())
        write_output(request.trace, trace_text(outcome.trace, request.trace));
    if (!outcome.disorder.empty())
        throw WorldError(fmt::format("the executed order differs from the program:\n{}",
                                     fmt::join(outcome.disorder, "\n")));
    fmt::print(out, "{}{}", run_summary(job, outcome), ending(job, outcome));
    std::fflush(out);
}

/// The same command line for each of the processes that are started together.
std::vector<std::string> words_for_processes(const RunArguments& args, const std::string& comm) {
    const RunRequest& request = args.request;
    std::vector<std::string> words{
        "run",       request.scenario, "--comm",     comm,
        "--resume",  request.resume,   "--device",   request.device,
        "--kernels", request.kernels,  "--deadline", fmt::format("{}", args.deadline_s)};
    const auto add = [&](const char* option, const std::string& value) {
        if (value.empty()) return;
        words.emplace_back(option);
        words.push_back(value);
    };
    for (const std::string& set : request.set) add("--set", set);
    add("--json", request.json);
    add("--trace", request.trace);
    add("--metrics", request.metrics);
    add("--rendezvous", request.rendezvous);
    if (request.steps) add("--steps", std::to_string(*request.steps));
    if (request.threads) add("--threads", std::to_string(*request.threads));
    return words;
}

/// Whether this process is to start the ranks, because no launcher has started them.
bool starts_ranks(const RunArguments& args, const ProcessPlace& place) {
    const std::string& comm = args.request.comm;
    return place.starter == Starter::Nobody && (args.launch > 0 || comm == "tcp" || comm == "nccl");
}

/// Makes ranks on several GPUs processes that communicate by NCCL, unless something else was asked
/// for. Returns a sentence for the user, or nothing.
std::string choose_transport(RunArguments& args, const ProcessPlace& place) {
    RunRequest& request = args.request;
    const bool is_open = request.comm == "auto" || request.comm == "local";
    if (place.starter != Starter::Nobody || args.launch > 0 || request.device != "cuda" || !is_open)
        return {};
    const int ranks = read_for_run(request).parallel.gpus();
    if (ranks == 1) return {};
    const GpuTransport found =
        transport_between({ranks, CudaModule::load().gpus(), why_no_nccl()}, request.comm);
    if (found.process_per_rank) request.comm = "nccl";
    return found.note.value_or("");
}

/// Starts the ranks, if this run needs more processes. Unset if it does not.
std::optional<ExitStatus> start_ranks_of(const RunArguments& args) {
    const int ranks = read_for_run(args.request).parallel.gpus();
    if (args.launch > 0 && ranks != args.launch)
        throw InputError(
            fmt::format("--launch {} does not fit the scenario, which has {} ranks "
                        "(tensor x context x data x pipeline)",
                        args.launch, ranks));
    if (args.request.comm == "mpi") become_mpirun(ranks, words_for_processes(args, "mpi"));
    if (ranks == 1) return std::nullopt;
    // Otherwise every rank would report what is missing.
    if (args.request.device == "cuda") CudaModule::load();
    return static_cast<ExitStatus>(
        start_ranks(ranks, words_for_processes(args, args.request.comm)));
}

/// The folder of the checkpoints; empty if nothing is to be saved.
std::filesystem::path folder_to_save_in(const RunJob& job) {
    if (!job.options.checkpoint || job.start.first_step() >= job.last_step) return {};
    return job.options.checkpoint->dir;
}

ExitStatus carry_out(RunArguments args) {
    check(args);
    const ProcessPlace place = process_place();
    const std::string of_transport = choose_transport(args, place);
    if (starts_ranks(args, place)) {
        if (const auto status = start_ranks_of(args)) return *status;
        args.request.comm = "local";
    }
    const Transporter transporter = transporter_of(args.request.comm, place);
    const bool alone = transporter == Transporter::Threads;
    RunJob job = prepare_run(args.request, alone ? ProcessPlace{} : place);
    check_outputs(job);  // all ranks check: any of them may be the one that writes metrics

    const bool quiet = args.request.json == "-" || args.request.trace == "-";
    std::FILE* const out = quiet ? stderr : stdout;
    const bool speaks = alone || place.rank == 0;
    if (speaks) {
        fmt::print(out, "{}", intro(job, transporter));
        if (!of_transport.empty()) fmt::print(out, "{}\n", of_transport);
        for (const std::string& note : job.start.notes) fmt::print(out, "{}\n", note);
        std::fflush(out);
    }
    std::optional<FolderLock> lock;
    if (speaks) {
        for (const std::string& output : {args.request.json, args.request.trace})
            if (!output.empty() && output != "-") check_can_write(output);
        if (job.options.checkpoint) lock.emplace(job.options.checkpoint->dir);
    }
    std::optional<StopSignal> stop;  // for processes: set once they have met
    if (alone) stop.emplace();
    std::optional<Progress> progress;
    const RunLength length{job.start.first_step(), job.last_step,
                           static_cast<double>(job.scenario.training.global_batch) *
                               static_cast<double>(job.scenario.training.seq_length),
                           job.step_s_at_peak()};
    if (alone || place.rank == job.loss_rank())  // mpirun always gives its processes a terminal
        progress.emplace(length, out, alone, args.request.metrics,
                         metrics_header(job.scenario, length));
    const RunListener listener{[&](const std::string& note) { fmt::print(out, "{}\n", note); },
                               [&](const StepMetrics& step) { progress->show(step); },
                               [&](const Evaluation& evaluation) { progress->show(evaluation); }};
    RunOutcome outcome;
    const JobMeeting meeting{place, job.request.rendezvous, job.request.patience,
                             [&job](Communicator& world) {
                                 share_plan(world, job);
                                 return facts_of(job);
                             },
                             folder_to_save_in(job)};
    run_ranks(transporter, job.grid.size(), meeting, [&](Communicator& world) {
        if (!alone) stop.emplace();
        std::string no_nccl;
        const bool nccl = job.uses_nccl(world, no_nccl);
        if (world.rank() == 0 && !no_nccl.empty()) fmt::print(out, "{}\n", no_nccl);
        const auto over_nccl = with_devices(
            world, [&](auto& host, auto& lanes) { return job.connect_devices(host, lanes); });
        abort_on_failure(world, [&] {
            RunOutcome mine = train(job, nccl ? *over_nccl : world, *stop, listener);
            if (world.rank() == 0) outcome = std::move(mine);
        });
    });
    progress.reset();
    if (!speaks) return ExitStatus::Done;
    if (outcome.steps.empty()) {
        fmt::print(out, "all {} steps are already done; nothing was run{}\n", job.last_step,
                   args.request.trace.empty() ? "" : ", so there is no trace");
        return ExitStatus::Done;
    }
    write_results(job, outcome, out);
    return outcome.stopped ? ExitStatus::World : ExitStatus::Done;
}

constexpr const char* kRunFooter =
    R"(A SCENARIO is the name of a shipped one or a YAML file; its keys training.* say how to train, on what
data, and where checkpoints go. Ranks are threads of this process (--comm local), processes that --comm tcp
or --launch starts on this host, or those that mpirun, srun or torchrun has started, one per rank. Over TCP
ranks of several hosts meet by a --rendezvous file, or at MASTER_ADDR and MASTER_PORT (DEBUBBLE_PORT, if that is
taken), where a DEBUBBLE_JOB_SECRET is demanded and ranks with another one are refused; docs/launching.md has the lines
for mpirun, srun, torchrun and ssh. GPUs of several processes send tensors by NCCL (--comm nccl, and auto
where it is built in), else through the hosts' memory. Where several GPUs are here and no launcher has started
the ranks, auto makes a process of each, over NCCL; where that cannot be, it says why and takes threads.
After SIGINT, SIGTERM or SIGUSR1 the step under way is the last: it is saved where the scenario names a
folder for checkpoints, and the exit code is 3; the same command goes on from there.

Examples:
  debubble run mine.yaml --steps 20 --metrics run.jsonl
  debubble run mine.yaml --set schedule=zb-h1 --trace run.trace.json --json -
  debubble run mine.yaml --comm tcp
  mpirun -n 4 debubble run mine.yaml
  srun -n 4 debubble run mine.yaml --comm tcp --rendezvous /shared/mine.job)";

}  // namespace

void add_run(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<RunArguments>();
    RunRequest& request = args->request;
    CLI::App* verb = program.add_subcommand("run", "train: execute a scenario on this machine");
    verb->add_option("SCENARIO", request.scenario, "name or file of a scenario")->required();
    verb->add_option(
            "--set", request.set,
            "key=value of the scenario, such as schedule=zb-h1; key= restores the key's default")
        ->allow_extra_args(false);
    verb->add_option("--device", request.device, "cpu, or cuda: the GPUs of this machine");
    verb->add_option("--comm", request.comm, "auto, local (threads), tcp, mpi or nccl");
    verb->add_option("--launch", args->launch, "start this many processes here")
        ->check(CLI::PositiveNumber);
    verb->add_option("--rendezvous", request.rendezvous, "a file by which ranks over TCP meet");
    verb->add_option("--steps", request.steps, "number of the last step")
        ->check(CLI::PositiveNumber);
    verb->add_option("--resume", request.resume, "auto, never, or a checkpoint's folder");
    verb->add_option("--json", request.json, "write the figures; - is standard output");
    verb->add_option("--trace", request.trace,
                     "write the median step's trace; by its ending: " + trace_endings());
    verb->add_option("--metrics", request.metrics, "write a line of JSON per step");
    verb->add_option("--threads", request.threads, "threads of each rank")
        ->check(CLI::Range(1, 1024));
    verb->add_option("--kernels", request.kernels, cpu_back_end_names());
    verb->add_option("--deadline", args->deadline_s, "seconds that a rank waits for another (300)")
        ->check(real_number(0.001, 1e6));
    verb->footer(kRunFooter);
    verb->callback([args, &answer] {
        args->request.patience =
            std::chrono::nanoseconds(static_cast<std::int64_t>(args->deadline_s * 1e9));
        answer = carry_out(*args);
    });
}

}  // namespace debubble::exec

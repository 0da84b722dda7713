#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command_line/arguments.h"
#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/outputs.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cuda/load_module.h"
#include "exec/program/calibrate/calibrate.h"
#include "exec/program/calibrate/collectives.h"
#include "exec/program/calibrate/from_trace.h"
#include "exec/program/calibrate/noise.h"
#include "exec/program/calibrate/recorded_table.h"
#include "exec/program/calibrate/run_times.h"
#include "exec/program/run/prepare_run.h"
#include "scenarios/cluster/collective_samples.h"
#include "text/wording.h"
#include "trace/io/trace_formats.h"
#include "trace/profile/runs/profiled_run.h"

/// `debubble calibrate`: measures this machine and writes a cluster for `debubble simulate`.
namespace debubble::exec {
namespace {

struct CalibrateArguments {
    CalibrateRequest request;
    std::vector<std::string> scenarios;
    std::vector<std::string> set;
    std::string device = "cpu";
    std::string out;
    std::string kernels_out;
    double deadline_s = 300;
    std::vector<std::string> traces;
    std::vector<std::string> nccl_tests;
    std::string nccl_inspector;
    std::vector<std::string> runs;
    bool from_files() const {
        return !traces.empty() || !nccl_tests.empty() || !nccl_inspector.empty() || !runs.empty();
    }
};

void check(const CalibrateArguments& args) {
    if (args.device != "cpu" && args.device != "cuda")
        throw InputError(fmt::format("--device is '{}'; it can be cpu or cuda", args.device));
    cpu_back_end(args.request.how.kernels);  // throws if there is none
    if (std::filesystem::is_directory(args.out))
        throw InputError(fmt::format("{} is a folder; --out names a file", args.out));
    check_can_write(args.out);
}

/// Checks the scenarios. Their ranks are threads of this process, one scenario after the other; on
/// a processor they must fit into its memory. The output must not overwrite their files.
void check_scenarios(const CalibrateRequest& request, const CalibrateArguments& args) {
    for (const std::string& name : request.scenarios) {
        const std::vector<scenarios::Override> overrides = overrides_of(request, name);
        const scenarios::Scenario scenario = scenarios::read_scenario(name, overrides);
        Outputs outputs;
        outputs.add("--out", args.out);
        outputs.check();
        if (args.device != "cpu") continue;
        check_memory(planned_memory(scenario), scenario.parallel, available_memory());
    }
}

/// The one scenario whose cluster the figures are of.
scenarios::Scenario scenario_of(const CalibrateArguments& args) {
    if (args.scenarios.size() != 1)
        throw InputError(
            "give --scenario once: the plan that was executed, whose cluster the figures are of");
    std::vector<scenarios::Override> overrides;
    for (const std::string& text : args.set) overrides.push_back(scenarios::parse_override(text));
    return scenarios::read_scenario(args.scenarios.front(), overrides);
}

Trace read_run_of(const scenarios::Scenario& scenario, const std::vector<std::string>& names) {
    const std::vector<std::string> files = profile::trace_files(names);
    if (files.size() == 1 && profile::kind_of_trace(files.front()) == profile::TraceKind::Own)
        return read_trace(files.front());
    const scenarios::Plan plan = plan_of(scenario);
    profile::RunOptions options;
    options.program = plan.program;
    options.layers.emplace();
    for (const models::StageContent& stage : plan.stages) options.layers->push_back(stage.layers);
    return profile::read_run(files, options).trace;
}

std::vector<scenarios::CollectiveSample> samples_of(const CalibrateArguments& args) {
    std::vector<scenarios::CollectiveSample> out;
    for (const std::string& file : args.nccl_tests)
        std::ranges::move(scenarios::read_nccl_tests(file), std::back_inserter(out));
    if (!args.nccl_inspector.empty())
        std::ranges::move(scenarios::read_nccl_inspector(args.nccl_inspector),
                          std::back_inserter(out));
    return out;
}

void print_from_trace(const FromTrace& found) {
    fmt::print("step of the trace {}, predicted by these figures {} ({:+.2f} %)\n",
               text::time_text(found.traced_step_s), text::time_text(found.predicted_step_s),
               100 * (found.predicted_step_s / found.traced_step_s - 1));
    for (const std::string& note : found.notes) fmt::print("{}\n", note);
}

void check_no_folder(const std::string& option, const std::string& file) {
    if (std::filesystem::is_directory(file))
        throw InputError(fmt::format("{} is a folder; {} names a file", file, option));
}

/// A file as the cluster's file names it: from its own folder.
std::string seen_from_cluster(const CalibrateArguments& args, const std::string& file) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::absolute(args.out).lexically_normal().parent_path();
    return fs::absolute(file).lexically_normal().lexically_proximate(folder).string();
}

void check_outputs(const CalibrateArguments& args) {
    Outputs outputs;
    outputs.add("--out", args.out);
    outputs.add("--kernels-out", args.kernels_out);
    outputs.check();
    for (const std::string& file : {args.out, args.kernels_out})
        if (!file.empty()) check_can_write(file);
}

/// The table of kernels alone, which takes no plan.
ExitStatus carry_out_kernels(const CalibrateArguments& args) {
    const RecordedTable table = recorded_table(profile::trace_files(args.traces));
    check_outputs(args);
    write_file(args.kernels_out, table.text);
    fmt::print("{}\nwrote {}; debubble simulate SCENARIO --set cluster.gpu.kernels={}\n",
               table.words(), args.kernels_out, args.kernels_out);
    return ExitStatus::Done;
}

/// Figures of a cluster from what others recorded on it; nothing is measured.
ExitStatus carry_out_from_files(const CalibrateArguments& args) {
    check_no_folder("--out", args.out);
    check_no_folder("--kernels-out", args.kernels_out);
    if (!args.kernels_out.empty() && args.traces.empty())
        throw InputError(
            "--kernels-out needs --from-trace: the times of kernels are taken from profiles");
    if (args.out.empty()) return carry_out_kernels(args);
    scenarios::Scenario scenario = scenario_of(args);
    const std::string name = std::filesystem::path(args.out).stem().string();
    std::optional<RecordedTable> table;
    if (!args.kernels_out.empty()) {
        table = recorded_table(profile::trace_files(args.traces));
        scenario.cluster.gpu.kernels = table->kernels;
    }
    scenarios::Cluster cluster = scenario.cluster;
    std::optional<FromTrace> traced;
    if (!args.traces.empty()) {
        traced = cluster_from_trace(scenario, read_run_of(scenario, args.traces), name);
        cluster = traced->cluster;
    }
    const auto samples = samples_of(args);
    std::optional<SiteTimes> site;
    if (!args.runs.empty()) {
        std::vector<RunTimes> runs;
        for (const std::string& file : args.runs) runs.push_back(read_run_times(file));
        site = site_times_of(runs);
        put_site_times(*site, cluster);
    }
    check_outputs(args);
    put_collectives(samples, cluster);
    if (table) {
        write_file(args.kernels_out, table->text);
        cluster.gpu.kernels_file = args.kernels_out;
    }
    if (!cluster.gpu.kernels_file.empty())
        cluster.gpu.kernels_file = seen_from_cluster(args, cluster.gpu.kernels_file);
    write_file(args.out, cluster_file_text(cluster, scenario.cluster, name));
    if (traced) print_from_trace(*traced);
    if (table) fmt::print("{}\nwrote {}\n", table->words(), args.kernels_out);
    if (site) fmt::print("{}\n", site->words);
    if (!samples.empty()) fmt::print("{}\n", collective_words(samples));
    fmt::print("wrote {}; debubble simulate {} --set cluster={}{}\n", args.out,
               args.scenarios.front(), args.out,
               traced && traced->set ? " --set " + *traced->set : "");
    return ExitStatus::Done;
}

ExitStatus carry_out(CalibrateArguments& args) {
    if (args.out.empty() && args.kernels_out.empty()) throw CLI::RequiredError("--out");
    if (args.from_files() || !args.kernels_out.empty()) return carry_out_from_files(args);
    check(args);
    CalibrateRequest& request = args.request;
    if (args.device == "cuda") {
        const CudaModule cuda = CudaModule::load();
        request.how.gpus = cuda.gpus();
        request.how.device = [cuda](int rank, int ranks) {
            return std::shared_ptr<Device>(cuda.device_of(rank, ranks));
        };
    }
    if (!args.scenarios.empty()) request.scenarios = args.scenarios;
    for (const std::string& text : args.set) request.set.push_back(scenarios::parse_override(text));
    request.how.patience =
        std::chrono::nanoseconds(static_cast<std::int64_t>(args.deadline_s * 1e9));
    const std::string name = std::filesystem::path(args.out).stem().string();
    check_scenarios(request, args);
    const scenarios::Cluster cluster = calibrate(request, name, [](const std::string& note) {
        fmt::print("measuring {}\n", note);
        std::fflush(stdout);
    });
    write_file(args.out, cluster_text(cluster));
    fmt::print("wrote {}; debubble simulate SCENARIO --set cluster={} --set framework=debubble\n",
               args.out, args.out);
    const std::string noise = noise_warning(*cluster.measured, args.out);
    std::fflush(stdout);
    for (const std::string& warning : {busy_warning(*cluster.measured, args.out), noise})
        if (!warning.empty()) fmt::print(stderr, "{}\n", warning);
    return ExitStatus::Done;
}

constexpr const char* kCalibrateFooter =
    R"(Each SCENARIO is trained for a moment, on its own data if it has some, with all its ranks as threads and with the
backward whole and split; operators of the same shape serve every other scenario. Leave the machine alone meanwhile.

Examples:
  debubble calibrate --out here.yaml
  debubble calibrate --scenario mine.yaml --ranks 4 --out here.yaml
  debubble calibrate --device cuda --scenario mine.yaml --out my-gpus.yaml
  debubble calibrate --from-trace profiles/ --scenario mine.yaml --out cluster.yaml
  debubble calibrate --from-trace profiles/ --kernels-out my-gpu.jsonl
  debubble calibrate --nccl-tests all_reduce.txt --scenario mine.yaml --out cluster.yaml
  debubble calibrate --run run.json --scenario mine.yaml --out cluster.yaml
  debubble simulate mine.yaml --set cluster=here.yaml --set framework=debubble)";

}  // namespace

void add_calibrate(CLI::App& program, ExitStatus& answer) {
    auto args = std::make_shared<CalibrateArguments>();
    CalibrateRequest& request = args->request;
    CLI::App* verb =
        program.add_subcommand("calibrate", "measure this machine and write its cluster file");
    verb->add_option("--out", args->out,
                     "the cluster file to write; needed except beside --kernels-out");
    verb->add_option("--scenario", args->scenarios, "name or file of a scenario; may be repeated")
        ->allow_extra_args(false);
    verb->add_option("--set", args->set,
                     "key=value of the scenarios, such as training.seq_length=256; key= restores "
                     "the key's default")
        ->allow_extra_args(false);
    verb->add_option("--device", args->device, "cpu, or cuda: the GPUs of this machine");
    verb->add_option("--ranks", request.ranks, "pipeline ranks, instead of the scenarios'")
        ->check(CLI::Range(1, 1024));
    verb->add_option("--threads", request.how.threads, "threads of each rank")
        ->check(CLI::Range(1, 1024));
    verb->add_option("--kernels", request.how.kernels, cpu_back_end_names());
    verb->add_option("--steps", request.how.steps,
                     "timed steps of each kind (10; 30 of a mixture of experts)")
        ->check(CLI::Range(10, 100'000));
    verb->add_option("--from-trace", args->traces,
                     "measure nothing, take the times from a run's trace (`debubble trace --help`)")
        ->allow_extra_args(true);
    verb->add_option("--kernels-out", args->kernels_out,
                     "with --from-trace: a table of the products and attentions in profiles of "
                     "torch.profiler with record_shapes=True, for cluster.gpu.kernels");
    verb->add_option("--nccl-tests", args->nccl_tests,
                     "collectives from what a program of nccl-tests printed; may be repeated")
        ->allow_extra_args(true);
    verb->add_option("--nccl-inspector", args->nccl_inspector,
                     "collectives from the folder that NCCL's Inspector wrote to");
    verb->add_option("--run", args->runs,
                     "saves, loads and the start from what `debubble run --json` wrote, into the "
                     "cluster's reliability; several of other sizes tell a fixed time from a rate")
        ->allow_extra_args(true);
    verb->add_option("--deadline", args->deadline_s, "seconds that a rank waits for another (300)")
        ->check(real_number(0.001, 1e6));
    verb->footer(kCalibrateFooter);
    verb->callback([args, &answer] { answer = carry_out(*args); });
}

}  // namespace debubble::exec

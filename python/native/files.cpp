#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "python/native/request.h"
#include "python/native/verbs.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/plan/ordered_plan.h"
#include "sim/report/reference/key_pages.h"
#include "sim/report/reference/model_table.h"
#include "sim/report/traces/profile_report.h"
#include "text/shipped_files.h"
#include "trace/profile/runs/profiled_run.h"

/// What other programs wrote: networks, jobs and profiles; and the names of what is shipped.
namespace debubble::python {
namespace {

std::vector<std::string> schedule_names() {
    std::vector<std::string> names;
    for (const Generator& row : generators()) names.emplace_back(row.name);
    return names;
}

Json classes() {
    Json names = Json::array();
    for (std::size_t i = 0; i < kMemoryClasses; ++i)
        names.push_back(name_of(static_cast<MemoryClass>(i)));
    return names;
}

Json lanes() {
    Json names = Json::array();
    for (const Lane lane : {Lane::Compute, Lane::Send, Lane::Recv, Lane::Collective, Lane::Copy})
        names.push_back(name_of(lane));
    return names;
}

profile::RunOptions options_of(const Json& request) {
    profile::RunOptions options;
    if (!request.contains("scenario") && !request.contains("text")) return options;
    scenarios::Plan plan = sim::ordered_plan(scenario_of(request));
    options.program = std::move(plan.program);
    options.layers.emplace();
    for (const models::StageContent& stage : plan.stages) options.layers->push_back(stage.layers);
    return options;
}

}  // namespace

Answered names(const Json&, const Progress&) {
    return {
        {{"scenarios", scenarios::shipped_scenarios()},
         {"models", models::zoo()},
         {"clusters", text::shipped_names("scenarios/clusters")},
         {"frameworks", text::shipped_names("scenarios/frameworks")},
         {"schedules", schedule_names()},
         {"job_formats", jobs::job_formats()},
         {"lanes", lanes()},
         {"passes", {"F", "B", "I", "W"}},
         {"actions",
          {"compute", "recompute", "overlap", "send", "recv", "unshard", "reshard", "reduce_grad",
           "tied_grad_reduce", "offload", "reload", "grad_norm", "optimizer_step"}},
         {"memory_classes", classes()}}};
}

Answered explain(const Json& request, const Progress&) {
    const std::string word = text_of(request, "key");
    const std::vector<text::Key> keys = scenarios::scenario_keys();
    const std::vector<text::KeyAt> all = text::flattened(keys);
    Json found = Json::array();
    std::vector<std::string> paths;
    for (const text::KeyAt& at : all) {
        paths.push_back(at.path);
        if (at.path == word || at.path.ends_with('.' + word))
            found.push_back({{"path", at.path}, {"text", sim::key_text(at)}});
    }
    if (!found.empty()) return {{{"keys", std::move(found)}}};
    const auto guess = did_you_mean(word, paths);
    throw InputError(fmt::format("there is no key '{}'{}", word,
                                 guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
}

Answered model(const Json& request, const Progress&) {
    const std::string name = text_of(request, "model");
    if (name.empty())
        throw InputError("a model is required: a name of the zoo, a file or a folder");
    const models::Architecture architecture = models::read_model(name);
    models::Execution execution;
    execution.seq_length = whole_of(request, "seq_length", 0);
    if (execution.seq_length == 0) execution.seq_length = sim::usual_seq_length(architecture);
    execution.micro_batch = whole_of(request, "micro_batch", 1);
    execution.tensor = whole_of(request, "tensor", 1);
    if (architecture.has_experts()) execution.expert_tensor = execution.tensor;
    const int stages = whole_of(request, "stages", 1);
    if (execution.seq_length < 1 || execution.micro_batch < 1 || execution.tensor < 1 || stages < 1)
        throw InputError("seq_length, micro_batch, tensor and stages are at least 1");
    return {sim::model_json(architecture, execution,
                            sim::model_table(architecture, execution, stages))};
}

Answered import_job(const Json& request, const Progress&) {
    const jobs::Imported imported = jobs::import_job(
        text_of(request, "job"), text_of(request, "from"), overrides_of(request), {},
        {.allow = texts_of(request, "allow"),
         .started = {jobs::parse_environment(texts_of(request, "environment")),
                     texts_of(request, "arguments")}});
    return {{{"format", imported.format},
             {"text", imported.text},
             {"notes", imported.notes},
             {"silent", imported.silent}}};
}

Answered read_trace(const Json& request, const Progress&) {
    const std::vector<std::string> files = texts_of(request, "files");
    if (files.empty()) throw InputError("the files of a profile are required");
    const sim::ProfileReport report = sim::profile_report(
        profile::read_any_run(profile::trace_files(files), options_of(request)));
    Answered answered{Json::parse(sim::to_json(report))};
    add_timeline(report.step, answered);
    return answered;
}

}  // namespace debubble::python

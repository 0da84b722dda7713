#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "models/network/weight_format.h"
#include "models/read/architecture_words.h"
#include "scenarios/jobs/job.h"
#include "scenarios/jobs/write/exported.h"
#include "scenarios/jobs/write/job_writer.h"
#include "scenarios/plan/packing.h"
#include "scenarios/read/read_scenario.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"

namespace debubble::jobs {
namespace {

using scenarios::Override;
using scenarios::Scenario;

struct ExportFormat {
    std::string_view word;
    std::string_view tool;
    std::string_view ending;
    std::string_view comment;
    std::string (*write)(JobWriter&);
};
constexpr ExportFormat kExports[] = {{"megatron", "Megatron-LM", ".sh", "#", write_megatron},
                                     {"bridge", "Megatron-Bridge", ".sh", "#", write_bridge},
                                     {"torchtitan", "torchtitan", ".sh", "#", write_torchtitan},
                                     {"deepspeed", "DeepSpeed", ".json", "//", write_deepspeed},
                                     {"colossalai", "Colossal-AI", ".py", "#", write_colossalai},
                                     {"automodel", "NeMo Automodel", ".yaml", "#", write_automodel},
                                     {"primus", "Primus", ".yaml", "#", write_primus},
                                     {"ms-swift", "ms-swift", ".sh", "#", write_swift},
                                     {"nanotron", "nanotron", ".yaml", "#", write_nanotron},
                                     {"gpt-neox", "GPT-NeoX", ".yaml", "#", write_neox}};

const ExportFormat& export_named(const std::string& word) {
    for (const ExportFormat& format : kExports)
        if (format.word == word) return format;
    std::vector<std::string> known = export_formats();
    known.emplace_back("hf");
    throw InputError(text::unknown_word("format", word, known));
}

/// The machines as a value of `cluster`. Unknown clusters are replaced by hgx-b200, which has every
/// recipe.
std::string cluster_of(const Scenario& s) {
    const std::vector<std::string> shipped = text::shipped_names("scenarios/clusters");
    const bool known = std::ranges::find(shipped, s.cluster.name) != shipped.end();
    if (known && s.cluster.gpus_per_tray) return s.cluster.name;
    return fmt::format("{{base: {}, gpus_per_node: {}}}", known ? s.cluster.name : "hgx-b200",
                       s.cluster.gpus_per_node);
}

}  // namespace

bool divides_heads(const Scenario& scenario) {
    const int ranks = scenario.parallel.tensor * scenario.parallel.context;
    return std::ranges::all_of(scenario.model.layers.kinds(), [&](const models::Layer& layer) {
        const auto* attention = layer.as<models::Attention>();
        return attention == nullptr ||
               (attention->heads % ranks == 0 && attention->kv_heads % ranks == 0);
    });
}

namespace {

std::string documents_of(const scenarios::Documents& documents) {
    return fmt::format("{{mean: {}, spread: {}, shortest: {}{}, global_batch_packing: {}}}",
                       documents.mean, documents.spread, documents.shortest,
                       documents.longest ? fmt::format(", longest: {}", *documents.longest) : "",
                       documents.global_batch_packing);
}

/// Settings that no job specifies: the machines, and settings that the writer reported as set in
/// Python.
std::vector<Override> given_with(const Scenario& s, const std::vector<Unsaid>& unsaid) {
    std::vector<Override> given{{"cluster", cluster_of(s)}, {"gpus", std::to_string(s.gpus)}};
    const scenarios::Parallel& p = s.parallel;
    for (const Unsaid& one : unsaid) {
        if (one.key == "model")
            given.emplace_back("model", models::architecture_json(s.model));
        else if (one.key == "training.seq_length")
            given.emplace_back(one.key, std::to_string(s.training.seq_length));
        else if (one.key == "training.global_batch")
            given.emplace_back(one.key, std::to_string(s.training.global_batch));
        else if (one.key == "parallel.pipeline")
            given.emplace_back(one.key, std::to_string(p.pipeline));
        else if (one.key == "parallel.context")
            given.emplace_back(one.key, std::to_string(p.context));
        else if (one.key == "imbalance.sequence")
            given.emplace_back(one.key, documents_of(*s.imbalance.documents));
        else if (one.key == "parallel.sequence")
            given.emplace_back(one.key, p.sequence ? "true" : "false");
        else if (one.key == "parallel.expert")
            given.insert(given.end(),
                         {{one.key, std::to_string(p.expert)},
                          {"parallel.expert_tensor", std::to_string(p.expert_tensor)}});
    }
    return given;
}

/// The keys that differ when the job is re-imported, except those already reported.
void name_differences(const ExportFormat& format, JobWriter& job, const std::string& text) {
    const auto named = [&](const std::string& key) {
        return std::ranges::any_of(job.unsaid, [&](const Unsaid& one) { return one.key == key; });
    };
    std::map<std::string, std::string> wanted = plan_keys(job.s);
    std::map<std::string, std::string> got;
    try {
        const Imported back = import_text(text, fmt::format("job{}", format.ending),
                                          std::string(format.word), given_with(job.s, job.unsaid));
        got = plan_keys(scenarios::parse_scenario(back.text, "job.yaml"));
    } catch (const InputError& error) {
        job.cannot("plan", fmt::format("re-importing this job fails: {}",
                                       error.diagnostics().front().message));
        return;
    }
    bool parts = std::ranges::any_of(
        job.unsaid, [](const Unsaid& one) { return one.key.starts_with("model."); });
    std::string software;  // differences that follow from the profile are one sentence
    for (const auto& [key, value] : wanted) {
        if (key == "model" || named(key) || (named("model") && key.starts_with("model."))) continue;
        const auto found = got.find(key);
        const std::string there = found == got.end() ? "nothing" : found->second;
        if (there == value) continue;
        parts = parts || key.starts_with("model.");
        if (key.starts_with("framework."))
            software += (software.empty() ? "" : ", ") + key;
        else
            job.cannot(key,
                       fmt::format("the plan has {}, but the job means {}",
                                   value.empty() ? "none" : value, there.empty() ? "none" : there));
    }
    if (!software.empty())
        job.cannot(software,
                   fmt::format("the software is {} as in {}, whereas the plan has {}", format.tool,
                               got["framework.base"], wanted["framework.base"]));
    if (!parts && !named("model") && wanted["model"] != got["model"])
        job.cannot("model", fmt::format("{} does not have all parts of this network", format.tool));
}

}  // namespace

std::string JobWriter::head(std::string_view comment, std::string_view tool) const {
    std::string out = fmt::format("{} {}, a plan of debubble, as a job of {}.\n", comment,
                                  printable(s.name), tool);
    if (!unsaid.empty()) out += fmt::format("{} It does not specify:\n", comment);
    for (const Unsaid& one : unsaid)
        out += fmt::format("{} - {}: {}\n", comment, one.key, printable(one.sentence));
    return out;
}

std::vector<std::string> export_formats() {
    std::vector<std::string> words;
    for (const ExportFormat& format : kExports) words.emplace_back(format.word);
    return words;
}

std::string_view export_ending(std::string_view format) {
    for (const ExportFormat& one : kExports)
        if (one.word == format) return one.ending;
    return {};
}

Exported export_job(const Scenario& scenario, const std::string& word) {
    const ExportFormat& format = export_named(word);
    if (scenario.model.sees_images())
        throw InputError(fmt::format("{} trains networks on tokens, but '{}' reads images",
                                     format.tool, scenario.model.name));
    if (const std::string_view part = models::planned_part(scenario.model); !part.empty())
        throw InputError(fmt::format("'{}' has {}, which cannot be written as a job of {}",
                                     scenario.model.name, part, format.tool));
    for (const models::Layer& layer : scenario.model.layers.kinds())
        if (layer.is_recurrent() || !layer.mixes() || !layer.has_mlp())
            throw InputError(
                fmt::format("'{}' has layers other than attention with an MLP, which cannot be "
                            "written as a job",
                            scenario.model.name));
    JobWriter job(scenario);
    const std::string body = format.write(job);
    const bool has_lengths = format.word == "megatron" && scenarios::packs_in_step(scenario);
    if (!has_lengths) name_documents(job, format.tool);
    name_loads(job);
    name_differences(format, job, body);
    const std::string start = format.ending == ".sh" ? "#!/bin/bash\n" : "";
    return {start + job.head(format.comment, format.tool) + body, std::move(job.unsaid)};
}

}  // namespace debubble::jobs

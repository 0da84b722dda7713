#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/primus/files.h"
#include "scenarios/jobs/read/formats.h"

/// Primus's YAML: a module that names two other files, whose chains of `extends` are below it, and
/// overrides both.
namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;
using text::Node;
using text::NodePtr;

/// Settings of Primus's own that make a network of another kind.
constexpr std::pair<std::string_view, std::string_view> kOtherNetworks[] = {
    {"lfm_layer_types", "layers of convolutions"},
    {"linear_attention_freq", "layers of linear attention"},
    {"attn_res_block_size", "attention over the residuals of layers"},
    {"routed_expert_hidden_size", "experts after a latent projection"},
    {"num_joint_layers", "layers of two streams"},
    {"lora", "adapters"}};

/// A section with `enable: false` or `enabled: false`, or nothing.
bool is_off(const Node& value) {
    if (value.is(Node::Kind::Null)) return true;
    for (const char* name : {"enable", "enabled"})
        if (const NodePtr on = value.is(Node::Kind::Map) ? value.get(name) : nullptr)
            return on->scalar == "false" || on->scalar == "False";
    return value.is(Node::Kind::Scalar) && (value.scalar == "false" || value.scalar == "0");
}

/// Refuses unsupported trainings of Primus before any other question.
void refuse_other_networks(const Node& module, Reading& job) {
    if (const Node::Entry* const trainer = module.find("trainer_class");
        trainer != nullptr && trainer->value->is(Node::Kind::Scalar))
        job.mistakes().add(trainer->place,
                           fmt::format("'{}' trains its own network, which is not supported",
                                       trainer->value->scalar));
    if (job.has_model()) return;
    const std::string type = job.in.word("model_type").value_or("gpt");
    if (!same_word(type, "gpt") && !same_word(type, "mamba"))
        job.refuse(*job.in.find("model_type"),
                   fmt::format(
                       "a network of the kind '{}' is not supported; use Primus's 'gpt' or 'mamba'",
                       type));
    for (const auto& [name, what] : kOtherNetworks)
        if (job.in.contains(name))
            if (const Setting* const setting = job.in.find(name);
                setting != nullptr && !is_off(*setting->value))
                job.refuse(*setting,
                           fmt::format("{} make another network, which is not supported", what));
    job.mistakes().throw_if_any();
}

/// Primus's own defaults.
void add_defaults(Settings& settings, const text::SourcePosition& place) {
    constexpr std::array<std::pair<const char*, const char*>, 3> kDefaults{
        {{"bf16", "true"}, {"swiglu", "true"}, {"untie_embeddings_and_output_weights", "true"}}};
    for (const auto& [name, value] : kDefaults)
        settings.add({name, std::string(name) + " (Primus's default)",
                      text::make_scalar(value, place), place, true});
    settings.add({"add_bias_linear", "add_bias_linear (Primus's default)",
                  text::make_scalar("false", place), place, true});
    settings.add({"sequence_parallel", "sequence_parallel (Primus's default)",
                  text::make_scalar("true", place), place, true});
    settings.add({"use_distributed_optimizer", "use_distributed_optimizer (Primus's default)",
                  text::make_scalar("true", place), place, true});
    settings.add({"global_batch_size", "global_batch_size (Primus's default)",
                  text::make_scalar("16", place), place, true});
}

std::string hint_of(const JobText& text) {
    for (const char* gpu : {"MI300X", "MI325X", "MI355X"})
        if (text.file.string().find(gpu) != std::string::npos ||
            text.text.find(gpu) != std::string::npos)
            return fmt::format("The job's folder is {}; ", gpu);
    return {};
}

}  // namespace

void read_primus_job(const JobText& text, Reading& job) {
    const std::vector<NodePtr> documents = yaml_documents(text, job);
    const auto refuse = [&](const std::string& sentence) -> NodePtr {
        throw InputError({{{text.file.string(), 0, 0}, sentence, {}}});
    };
    if (documents.empty()) refuse("the file has no 'modules'");
    NodePtr module = text::at(documents.front(), "modules.pre_trainer");
    if (!module) module = text::at(documents.front(), "modules.post_trainer");
    if (!module || !module->is(Node::Kind::Map)) refuse("the file has no 'modules.pre_trainer'");
    const NodePtr backend = module->get("framework");
    if (backend && backend->is(Node::Kind::Scalar) && backend->scalar == "torchtitan")
        return read_primus_titan(*module, text, job);
    if (backend && backend->is(Node::Kind::Scalar) && backend->scalar != "megatron") {
        job.mistakes().add(
            backend->place,
            fmt::format(
                "this job of Primus uses {}, but only megatron and torchtitan are supported",
                backend->scalar));
        job.mistakes().throw_if_any();
    }
    add_defaults(job.in, module->place);
    if (documents.size() > 1) {
        for (std::size_t i = 1; i < documents.size(); ++i)
            if (documents[i]->is(Node::Kind::Map)) add_primus_fields(*documents[i], "", job, false);
    } else {
        add_primus_file(*module, "model", "models", "megatron", text, add_primus_fields, job);
        add_primus_file(*module, "config", "modules", "megatron", text, add_primus_fields, job);
        job.mistakes().throw_if_any();
    }
    if (const NodePtr overrides = module->get("overrides");
        overrides && overrides->is(Node::Kind::Map))
        add_primus_fields(*overrides, "overrides.", job, false);
    refuse_other_networks(*module, job);
    rename_to_fields(job.in);
    const std::string hint = hint_of(text);
    read_megatron(
        job,
        {.tool = "Primus", .framework = "primus-2026", .is_primus = true, .cluster_hint = hint});
}

}  // namespace debubble::jobs

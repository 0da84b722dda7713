#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/bridge/precision.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/script_settings.h"
#include "scenarios/jobs/shell/value.h"
#include "text/document_readers.h"

/// Megatron-Bridge's run_config.yaml: sections, whose fields are Megatron-Core's.
namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

/// A dtype, a function or an enumerator as a word: {_target_: torch.bfloat16, _call_: false} is
/// bfloat16, {_target_: ...AttnBackend, _args_: [flash]} is flash.
NodePtr plain(const NodePtr& value) {
    if (value->is(Node::Kind::List)) {
        auto list = std::make_shared<Node>(*value);
        for (NodePtr& item : list->items)
            if (item->is(Node::Kind::Map)) item = plain(item);
        return list;
    }
    if (!value->is(Node::Kind::Map)) return value;
    const NodePtr target = value->get("_target_");
    if (!target || !target->is(Node::Kind::Scalar)) return value;
    if (const NodePtr args = value->get("_args_");
        args && args->is(Node::Kind::List) && args->items.size() == 1)
        return args->items.front();
    const std::string& name = target->scalar;
    return text::make_scalar(name.substr(name.rfind('.') + 1), value->place);
}

void add_section(const Node& section, const std::string& above, Settings& settings) {
    for (const Node::Entry& entry : section.entries) {
        if (entry.value->is(Node::Kind::Null) || entry.key == "_target_") continue;
        const std::string path = above + "." + entry.key;
        if (entry.key == "transformer" && entry.value->is(Node::Kind::Map)) {
            add_section(*entry.value, path, settings);
            continue;
        }
        settings.add({entry.key, path, plain(entry.value), entry.place, true});
    }
}

/// In the order in which they are read: later ones win over earlier ones.
constexpr std::array<std::string_view, 11> kSections{
    "dist",      "dataset", "tokenizer", "train",           "scheduler",   "checkpoint",
    "optimizer", "model",   "ddp",       "mixed_precision", "comm_overlap"};

/// Sections of which no field changes a plan.
constexpr std::array<std::string_view, 14> kSilentSections{"_target_",
                                                           "env_vars",
                                                           "ft",
                                                           "inprocess_restart",
                                                           "logger",
                                                           "nvrx_straggler",
                                                           "profiling",
                                                           "rerun_state_machine",
                                                           "rng",
                                                           "straggler",
                                                           "tensor_inspect",
                                                           "validation",
                                                           "mlflow",
                                                           "wandb"};

void add_bridge(const Node& root, Settings& settings) {
    for (const std::string_view name : kSections) {
        const NodePtr section = root.get(name);
        if (section && section->is(Node::Kind::Map))
            add_section(*section, std::string(name), settings);
    }
    if (const NodePtr model = root.get("model"); model && model->is(Node::Kind::Map))
        if (const NodePtr provider = model->get("_target_");
            provider && provider->is(Node::Kind::Scalar))
            settings.add(
                {std::string(kProvider), "model._target_", provider, provider->place, true});
    for (const Node::Entry& entry : root.entries) {  // "peft", and what nobody knows
        if (entry.value->is(Node::Kind::Null) ||
            std::ranges::find(kSections, entry.key) != kSections.end() ||
            std::ranges::find(kSilentSections, entry.key) != kSilentSections.end())
            continue;
        const bool adapters = entry.key == "peft";  // which read_bridge_adapters() reads
        settings.add(
            {entry.key, entry.key, adapters ? entry.value : plain(entry.value), entry.place, true});
    }
    if (const Node::Entry* const named = root.find("mixed_precision");
        named != nullptr && named->value->is(Node::Kind::Scalar))
        add_precision_name({"mixed_precision", "mixed_precision", named->value, named->place, true},
                           settings);
    if (const NodePtr env = root.get("env_vars"); env && env->is(Node::Kind::Map))
        for (const Node::Entry& entry : env->entries)
            settings.add(
                {"$" + entry.key, "env_vars." + entry.key, entry.value, entry.place, true});
}

/// Overrides change a recipe, and every recipe for pretraining begins with these
/// (recipes/common.py, recipes/llama).
void add_recipe_defaults(Settings& settings) {
    if (settings.all().empty()) return;
    const text::SourcePosition place =
        settings.all().front().place;  // settings move as one is added
    constexpr std::pair<std::string_view, std::string_view> kDefaults[] = {
        {"use_distributed_optimizer", "true"},
        {"overlap_grad_reduce", "true"},
        {"overlap_param_gather", "true"},
        {"cross_entropy_loss_fusion", "true"},
        {"cross_entropy_fusion_impl", "te"}};
    for (const auto& [name, value] : kDefaults) {
        if (settings.contains(std::string(name))) continue;
        Setting setting{std::string(name), std::string(name) + " (Megatron-Bridge's recipes)",
                        text::make_scalar(std::string(value), place), place, true};
        setting.is_default = true;
        settings.add(std::move(setting));
    }
}

/// section.field=value, in a script or a list of them. Before the name may stand hydra's + and ++.
void add_overrides(const JobText& text, Reading& job) {
    const auto source = text::checked_source(text.text, text.file.string());
    const ShellScript script = follow_script(source, job.started);
    std::vector<Setting> overrides;
    for (Setting& setting : hydra_overrides(script)) {
        const bool precision = setting.name == "mixed_precision";
        if ((!precision && setting.name.find('.') == std::string::npos) || says_none(setting))
            continue;
        setting.name.erase(0, setting.name.rfind('.') + 1);
        if (precision && setting.known) add_precision_name(setting, job.in);
        if (precision && !setting.known) job.in.unknown.push_back(setting);
        if (!precision) overrides.push_back(std::move(setting));
    }
    // An explicit field takes precedence over the precision's name.
    for (Setting& setting : overrides) job.in.add(std::move(setting));
    add_recipe_defaults(job.in);
    add_script(source, job, [](const Setting& setting) {
        return setting.name == "nnodes" || setting.name.starts_with("nproc") ||
               setting.name == "recipe" || setting.name.starts_with('$');
    });
}

/// Low-rank adapters (megatron/bridge/peft/lora.py), by Megatron-Core's names of products.
void read_bridge_adapters(Reading& job) {
    const Setting* const peft = job.in.contains("peft") ? job.in.find("peft") : nullptr;
    if (peft == nullptr) return;
    const NodePtr target =
        peft->value->is(Node::Kind::Map) ? peft->value->get("_target_") : nullptr;
    if (!target || !target->is(Node::Kind::Scalar) || !target->scalar.ends_with(".LoRA"))
        return job.refuse(*peft, "adapters other than Megatron-Bridge's LoRA are not supported");
    constexpr std::string_view kProducts[] = {"linear_qkv", "linear_proj", "linear_fc1",
                                              "linear_fc2"};
    for (const Node::Entry& entry : peft->value->entries) {
        const bool list = entry.value->is(Node::Kind::List);
        if (entry.key == "exclude_modules" && list && !entry.value->items.empty())
            job.mistakes().add(entry.place, "'exclude_modules' of adapters is not supported");
        if (entry.key == "target_modules" && (!list || entry.value->items.empty()))
            job.mistakes().add(entry.place, "'target_modules' must be a list of linear layers");
    }
    std::vector<std::string> targets(std::begin(kProducts), std::end(kProducts));
    if (const NodePtr listed = peft->value->get("target_modules");
        listed && listed->is(Node::Kind::List)) {
        targets.clear();
        for (const NodePtr& item : listed->items) {
            targets.push_back(item->scalar);
            if (std::ranges::find(kProducts, item->scalar) == std::end(kProducts))
                job.mistakes().add(item->place,
                                   fmt::format("adapters of '{}' are not supported; {} are",
                                               item->scalar, fmt::join(kProducts, ", ")));
        }
    }
    std::int64_t rank = 32;
    if (const NodePtr dim = peft->value->get("dim"); dim && dim->is(Node::Kind::Scalar)) {
        const auto value = number_of(dim->scalar);
        if (!value || *value < 1 || *value > 1e6)
            return job.mistakes().add(
                dim->place, fmt::format("'{}' is not a valid rank of adapters", dim->scalar));
        rank = static_cast<std::int64_t>(*value);
    }
    job.set("training.lora",
            fmt::format("{{rank: {}, targets: [{}]}}", rank, fmt::join(targets, ", ")), peft);
}

/// A recipe is Python: its settings are not in the job.
void refuse_recipe(Reading& job) {
    if (job.in.contains("num_layers")) return;
    if (const Setting* const recipe = job.in.find("recipe");
        recipe != nullptr && recipe->value->is(Node::Kind::Scalar))
        job.refuse(
            *recipe,
            fmt::format("the recipe '{}' sets the model and its parallelism in Python, which is "
                        "not read; give the run_config.yaml that its run writes with a checkpoint",
                        recipe->value->scalar));
    job.mistakes().throw_if_any();
}

void add_sections(const JobText& text, Reading& job) {
    const std::vector<NodePtr> documents = yaml_documents(text, job);
    if (documents.empty() || !documents.front()->is(Node::Kind::Map))
        throw InputError({{{text.file.string(), 0, 0}, "the file has no map of sections", {}}});
    add_bridge(*documents.front(), job.in);
}

/// Enumerators that stand in the file by their numbers (core/transformer/enums.py).
NodePtr enumerator(const std::string& field, const NodePtr& value) {
    constexpr std::array<std::string_view, 6> kBackends{"",        "flash", "fused",
                                                        "unfused", "local", "auto"};
    constexpr std::array<std::string_view, 8> kScopes{
        "", "full_iteration", "attn", "mlp", "moe", "moe_router", "moe_preprocess", "mamba"};
    if (value->is(Node::Kind::List)) {
        auto list = std::make_shared<Node>(*value);
        for (NodePtr& item : list->items) item = enumerator(field, item);
        return list;
    }
    if (!value->is(Node::Kind::Scalar) || value->scalar.size() != 1) return value;
    const std::size_t number = value->scalar[0] - '0';
    if (field == "attention_backend" && number < kBackends.size() && number > 0)
        return text::make_scalar(std::string(kBackends[number]), value->place);
    if (field.starts_with("cuda_graph_") && number < kScopes.size() && number > 0)
        return text::make_scalar(std::string(kScopes[number]), value->place);
    return value;
}

void rename_words(Settings& settings) {
    settings.transform([](Setting& setting) {
        setting.value = enumerator(setting.name, setting.value);
        if (setting.name == "activation_func" && setting.value->is(Node::Kind::Scalar)) {
            const std::string& word = setting.value->scalar;
            const std::string known = word == "silu" || word == "swish" ? "silu" : word;
            setting.value = text::make_scalar(known, setting.value->place);
        } else if (setting.name.ends_with("_dtype") && setting.value->is(Node::Kind::Scalar)) {
            const std::string& word = setting.value->scalar;
            const std::string known = word == "bfloat16"  ? "bf16"
                                      : word == "float16" ? "fp16"
                                      : word == "float32" ? "fp32"
                                      : word == "uint8"   ? "fp8"
                                                          : word;
            setting.value = text::make_scalar(known, setting.value->place);
        } else if (setting.name == "share_embeddings_and_output_weights") {
            // rename_to_fields() turns it round
        } else if (setting.name == "fp8" && setting.value->scalar == "false") {
            return false;
        } else if (setting.name == "cpu_offloading" && setting.value->scalar == "false") {
            return false;
        }
        return true;
    });
}

}  // namespace

void read_bridge_job(const JobText& text, Reading& job) {
    const std::string ending = text.file.extension().string();
    if (ending == ".yaml" || ending == ".yml")
        add_sections(text, job);
    else
        add_overrides(text, job);
    if (job.in.all().empty())
        throw InputError(
            {{{text.file.string(), 0, 0}, "this file has no field of Megatron-Bridge", {}}});
    refuse_recipe(job);
    read_bridge_adapters(job);
    rename_words(job.in);
    rename_to_fields(job.in);
    read_megatron(job, {.tool = "Megatron-Bridge",
                        .framework = "megatron-2026",
                        .is_bridge = true,
                        .bucket_elements = 128 << 20});
}

}  // namespace debubble::jobs

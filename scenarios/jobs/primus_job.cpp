#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/jobs/formats.h"
#include "scenarios/jobs/megatron.h"
#include "text/document_source.h"
#include "text/yaml_document_reader.h"

/// Primus's YAML: a module that names two other files, whose chains of `extends` are below it, and
/// overrides both.
namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;
using text::Node;
using text::NodePtr;

constexpr int kLongestChain = 20;

/// Files of Primus that only hold defaults: what they say is no decision of the job.
bool holds_defaults(const fs::path& file) {
    const std::string name = file.filename().string();
    constexpr std::array<std::string_view, 6> kNames{"language_model.yaml", "diffusion_model.yaml",
                                                     "trainer_base.yaml",   "module_base.yaml",
                                                     "torch_compile.yaml",  "zero_bubble.yaml"};
    return name.starts_with("primus_") || std::ranges::find(kNames, name) != kNames.end();
}

/// "${VAR:default}" anywhere in a text as the environment's value or the default; a "${VAR}" that
/// nothing sets goes to `lacks`.
std::string expanded(const std::string& text, const Started& started,
                     std::vector<std::string>& lacks) {
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = text.find("${", at);
        const std::size_t close = text.find('}', open);
        if (open == std::string::npos || close == std::string::npos) return made + text.substr(at);
        made += text.substr(at, open - at);
        const std::string inside = text.substr(open + 2, close - open - 2);
        const std::size_t colon = inside.find(':');
        const std::string name = inside.substr(0, colon);
        const auto given = started.environment.find(name);
        if (given != started.environment.end()) {
            made += given->second;
        } else if (colon != std::string::npos) {
            made += inside.substr(colon + 1);
        } else {
            lacks.push_back(name);
            made += "${" + name + "}";
        }
        at = close + 1;
    }
    return made;
}

NodePtr expanded(const NodePtr& value, const Started& started, std::vector<std::string>& lacks) {
    if (value->is(Node::Kind::List)) {
        auto list = std::make_shared<Node>(*value);
        for (NodePtr& item : list->items) item = expanded(item, started, lacks);
        return list;
    }
    if (!value->is(Node::Kind::Scalar)) return value;
    const std::string& scalar = value->scalar;
    if (scalar.find_first_of("$\"") == std::string::npos) return value;
    std::string plain = expanded(scalar, started, lacks);
    // Quotes that stand inside of others: '"[0]*1+[1]*3"'.
    if (plain.size() > 2 && plain.starts_with('"') && plain.ends_with('"'))
        plain = plain.substr(1, plain.size() - 2);
    return text::make_scalar(plain, value->place);
}

/// Settings of Primus's own that make a network of another kind.
constexpr std::pair<std::string_view, std::string_view> kOtherNetworks[] = {
    {"lfm_layer_types", "layers of convolutions"},
    {"linear_attention_freq", "layers of linear attention"},
    {"attn_res_block_size", "attention over the residuals of layers"},
    {"routed_expert_hidden_size", "experts behind a latent projection"},
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

/// Refuses what Primus trains and nothing here plans, before anything else is asked.
void refuse_other_networks(const Node& module, Reading& job) {
    if (const Node::Entry* const trainer = module.find("trainer_class");
        trainer != nullptr && trainer->value->is(Node::Kind::Scalar))
        job.mistakes().add(trainer->place,
                           fmt::format("'{}' trains a network of its own, which is not planned",
                                       trainer->value->scalar));
    if (job.has_model()) return;
    const std::string type = job.in.word("model_type").value_or("gpt");
    if (!same_word(type, "gpt") && !same_word(type, "mamba"))
        job.refuse(
            *job.in.find("model_type"),
            fmt::format("a network of the kind '{}' is not planned; Primus's 'gpt' and 'mamba' are", type));
    for (const auto& [name, what] : kOtherNetworks)
        if (job.in.contains(name))
            if (const Setting* const setting = job.in.find(name);
                setting != nullptr && !is_off(*setting->value))
                job.refuse(*setting,
                           fmt::format("{} make another network, which is not planned", what));
    job.mistakes().throw_if_any();
}

/// Zeros that mean "none": degrees of encoders that are not there, layers that are not recomputed.
bool is_nothing(const std::string& name, const Node& value) {
    if (value.is(Node::Kind::Null)) return true;
    if (!value.is(Node::Kind::Scalar) || value.quoted) return false;
    if (value.scalar.empty() || value.scalar == "null" || value.scalar == "None") return true;
    return value.scalar == "0" &&
           (name.ends_with("_parallel_size") || name == "recompute_num_layers");
}

void add_map(const Node& map, const std::string& above, Reading& job, bool defaults = false) {
    for (const Node::Entry& entry : map.entries) {
        if (entry.key == "extends" ||
            entry.key == "bases")  // an old name of extends, which Primus does not read
            continue;
        if (entry.value->is(Node::Kind::Null) && !job.in.contains(entry.key)) continue;
        std::vector<std::string> lacks;
        const NodePtr value = expanded(entry.value, job.started, lacks);
        const bool known = lacks.empty();
        Setting setting{entry.key, above + entry.key, value, entry.place, known, std::move(lacks)};
        setting.is_default = defaults;
        if (is_nothing(entry.key, *value)) setting.value = text::make_scalar("None", value->place);
        job.in.add(std::move(setting));
    }
}

/// The folders in which Primus keeps what it names, as seen from the job.
std::optional<fs::path> find_file(const fs::path& job, const std::string& name, const char* kind) {
    std::error_code error;
    fs::path folder = fs::absolute(job, error).parent_path();
    const std::string ending = name.ends_with(".yaml") || name.ends_with(".yml") ? "" : ".yaml";
    const std::string full = name + ending;
    for (int up = 0; up < 10; ++up, folder = folder.parent_path())
        for (const fs::path& candidate :
             {folder / full, folder / "primus" / "configs" / kind / "megatron" / full,
              folder / "configs" / kind / "megatron" / full})
            if (fs::is_regular_file(candidate, error)) return candidate;
    return {};
}

/// Adds a file, and before it what it extends.
void add_chain(const fs::path& file, Reading& job, int depth) {
    const NodePtr root = yaml_document(read_file(file, text::kLongestDocument), file.string(), job);
    if (!root || !root->is(Node::Kind::Map)) return;
    if (const NodePtr extends = root->get("extends"); extends)
        for (const NodePtr& name :
             extends->is(Node::Kind::Scalar) ? std::vector<NodePtr>{extends} : extends->items) {
            if (depth >= kLongestChain) {
                job.mistakes().add(name->place, "the chain of 'extends' is too long");
                return;
            }
            std::error_code error;
            const fs::path path = file.parent_path() / name->scalar;
            if (fs::is_regular_file(path, error))
                add_chain(path, job, depth + 1);
            else
                job.mistakes().add(
                    name->place,
                    fmt::format("'{}', which this file extends, is not there", name->scalar));
        }
    add_map(*root, "", job, holds_defaults(file));
}

void add_named(const Node& module, const char* key, const char* kind, const JobText& text,
               Reading& job) {
    const Node::Entry* const entry = module.find(key);
    if (entry == nullptr || !entry->value->is(Node::Kind::Scalar)) return;
    std::vector<std::string> lacks;
    const std::string name = expanded(entry->value->scalar, job.started, lacks);
    if (!lacks.empty()) {
        job.in.unknown.push_back({key, key, entry->value, entry->place, false, lacks});
        return;
    }
    if (const auto file = find_file(text.file, name, kind)) return add_chain(*file, job, 0);
    job.mistakes().add(
        entry->value->place,
        fmt::format("{} '{}' names a file that is not there: give the job as it lies "
                    "in a checkout of Primus, or append the chains of model and "
                    "config as documents 2 and 3",
                    key, name));
}

/// What Primus sets where no file says it.
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
            return fmt::format("The job's folder says {}; ", gpu);
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
    if (const NodePtr backend = module->get("framework");
        backend && backend->is(Node::Kind::Scalar) && backend->scalar != "megatron") {
        job.mistakes().add(backend->place,
                           fmt::format("this job of Primus runs by {}, and only those of megatron "
                                       "are planned",
                                       backend->scalar));
        job.mistakes().throw_if_any();
    }
    add_defaults(job.in, module->place);
    if (documents.size() > 1) {
        for (std::size_t i = 1; i < documents.size(); ++i)
            if (documents[i]->is(Node::Kind::Map)) add_map(*documents[i], "", job);
    } else {
        add_named(*module, "model", "models", text, job);
        add_named(*module, "config", "modules", text, job);
        job.mistakes().throw_if_any();
    }
    if (const NodePtr overrides = module->get("overrides");
        overrides && overrides->is(Node::Kind::Map))
        add_map(*overrides, "overrides.", job);
    refuse_other_networks(*module, job);
    rename_to_fields(job.in);
    const std::string hint = hint_of(text);
    read_megatron(
        job,
        {.tool = "Primus", .framework = "primus-2026", .is_primus = true, .cluster_hint = hint});
}

}  // namespace debubble::jobs

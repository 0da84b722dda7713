#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/formats.h"
#include "scenarios/jobs/megatron.h"

/// Megatron-Bridge's run_config.yaml: sections, whose fields are Megatron-Core's.
namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

/// A dtype, a function or an enumerator as a word: {_target_: torch.bfloat16, _call_: false} is
/// bfloat16, {_target_: ...AttnBackend, _args_: [flash]} is flash.
NodePtr plain(const NodePtr& value) {
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

void add_bridge(const Node& root, Settings& settings) {
    // Later sections win over earlier ones.
    for (const char* name : {"dataset", "tokenizer", "train", "scheduler", "checkpoint",
                             "optimizer", "model", "ddp", "mixed_precision", "comm_overlap"}) {
        const NodePtr section = root.get(name);
        if (section && section->is(Node::Kind::Map)) add_section(*section, name, settings);
    }
    if (const NodePtr env = root.get("env_vars"); env && env->is(Node::Kind::Map))
        for (const Node::Entry& entry : env->entries)
            settings.add(
                {"$" + entry.key, "env_vars." + entry.key, entry.value, entry.place, true});
}

void rename_words(Settings& settings) {
    Settings renaming;
    for (Setting setting : settings.all()) {
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
            continue;
        } else if (setting.name == "cpu_offloading" && setting.value->scalar == "false") {
            continue;
        }
        renaming.add(std::move(setting));
    }
    settings = std::move(renaming);
}

}  // namespace

void read_bridge_job(const JobText& text, Reading& job) {
    const std::vector<NodePtr> documents = yaml_documents(text);
    if (documents.empty() || !documents.front()->is(Node::Kind::Map))
        throw InputError({{{text.file.string(), 0, 0}, "the file has no map of sections", {}}});
    add_bridge(*documents.front(), job.in);
    rename_words(job.in);
    rename_to_fields(job.in);
    read_megatron(job, {.tool = "Megatron-Bridge",
                        .framework = "megatron-2026",
                        .is_bridge = true,
                        .bucket_elements = 128 << 20});
}

}  // namespace debubble::jobs

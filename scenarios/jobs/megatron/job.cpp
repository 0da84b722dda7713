#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/script_settings.h"
#include "text/document_readers.h"

namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

/// The CI's model_config.yaml: MODEL_ARGS has flags; a value "[a b]" is a list.
void add_model_args(const Node& args, Settings& settings) {
    for (const Node::Entry& entry : args.entries) {
        if (!entry.key.starts_with("--")) continue;
        Setting setting{entry.key.substr(2), entry.key, entry.value, entry.place, true};
        std::ranges::replace(setting.name, '-', '_');
        const Node& value = *entry.value;
        if (value.is(Node::Kind::Scalar) && value.scalar == "false" && !value.quoted) continue;
        if (value.is(Node::Kind::Scalar) && value.scalar == "true" && !value.quoted) {
            auto bare = std::make_shared<Node>();
            bare->place = value.place;
            setting.value = bare;
        } else if (value.is(Node::Kind::Scalar) && value.scalar.starts_with('[') &&
                   value.scalar.ends_with(']') && setting.name != "moe_layer_freq") {
            auto list = std::make_shared<Node>();
            list->kind = Node::Kind::List;
            list->place = value.place;
            std::string word;
            for (const char c : value.scalar.substr(1)) {
                if (c != ' ' && c != ',' && c != ']') {
                    word += c;
                } else if (!word.empty()) {
                    list->items.push_back(text::make_scalar(word, value.place));
                    word.clear();
                }
            }
            setting.value = list;
        }
        settings.add(std::move(setting));
    }
}

void add_tests_job(const Node& root, const Node& args, Settings& settings) {
    add_model_args(args, settings);
    if (const NodePtr variables = root.get("ENV_VARS"); variables && variables->is(Node::Kind::Map))
        for (const Node::Entry& entry : variables->entries)
            settings.add(
                {"$" + entry.key, "ENV_VARS." + entry.key, entry.value, entry.place, true});
}

void add_yaml(const JobText& text, Reading& job) {
    const std::vector<NodePtr> documents = yaml_documents(text, job);
    if (documents.empty() || !documents.front()->is(Node::Kind::Map))
        throw InputError({{{text.file.string(), 0, 0}, "the file has no map of settings", {}}});
    const Node& root = *documents.front();
    if (const NodePtr args = root.get("MODEL_ARGS"); args && args->is(Node::Kind::Map))
        add_tests_job(root, *args, job.in);
    else
        add_keys(root, false, job.in);
}

}  // namespace

void read_megatron_job(const JobText& text, Reading& job) {
    const std::string ending = text.file.extension().string();
    if (ending == ".yaml" || ending == ".yml")
        add_yaml(text, job);
    else
        add_script(text::checked_source(text.text, text.file.string()), job);
    if (job.in.all().empty())
        throw InputError(
            {{{text.file.string(), 0, 0}, "this file has no flag of Megatron-LM", {}}});
    rename_to_fields(job.in);
    settle_deepspeed(text, job);
    read_megatron(job, {.tool = "Megatron-LM", .framework = "megatron-2026"});
    finish_deepspeed(job);
}

}  // namespace debubble::jobs

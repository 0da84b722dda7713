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

/// "${VAR:default}" as its default; "${VAR}" is known only when the job starts.
NodePtr expanded(const NodePtr& value, bool& known) {
    known = true;
    if (!value->is(Node::Kind::Scalar) || !value->scalar.starts_with("${")) return value;
    const std::size_t colon = value->scalar.find(':');
    if (!value->scalar.ends_with('}') || colon == std::string::npos) {
        known = false;
        return value;
    }
    return text::make_scalar(value->scalar.substr(colon + 1, value->scalar.size() - colon - 2),
                             value->place);
}

void add_map(const Node& map, const std::string& above, Settings& settings) {
    for (const Node::Entry& entry : map.entries) {
        if (entry.value->is(Node::Kind::Null) || entry.key == "extends") continue;
        bool known = true;
        const NodePtr value = expanded(entry.value, known);
        settings.add({entry.key, above + entry.key, value, entry.place, known});
    }
}

/// The folders in which Primus keeps what it names, as seen from the job.
std::optional<fs::path> find_file(const fs::path& job, const std::string& name, const char* kind) {
    std::error_code error;
    fs::path folder = fs::absolute(job, error).parent_path();
    for (int up = 0; up < 8; ++up, folder = folder.parent_path())
        for (const fs::path& candidate :
             {folder / name, folder / "primus" / "configs" / kind / "megatron" / name,
              folder / "configs" / kind / "megatron" / name})
            if (fs::is_regular_file(candidate, error)) return candidate;
    return {};
}

/// Adds a file, and before it what it extends.
void add_chain(const fs::path& file, Settings& settings, int depth) {
    const NodePtr root = text::read_yaml(file);
    if (!root->is(Node::Kind::Map)) return;
    if (const NodePtr extends = root->get("extends"); extends && extends->is(Node::Kind::List))
        for (const NodePtr& name : extends->items) {
            if (depth >= kLongestChain) {
                settings.mistakes.add(name->place, "the chain of 'extends' is too long");
                return;
            }
            add_chain(file.parent_path() / name->scalar, settings, depth + 1);
        }
    add_map(*root, "", settings);
}

void add_named(const Node& module, const char* key, const char* kind, const JobText& text,
               Reading& job) {
    const Node::Entry* const entry = module.find(key);
    if (entry == nullptr || !entry->value->is(Node::Kind::Scalar)) return;
    if (const auto file = find_file(text.file, entry->value->scalar, kind))
        return add_chain(*file, job.in, 0);
    job.mistakes().add(
        entry->value->place,
        fmt::format("{} '{}' names a file that is not there: give the job as it lies "
                    "in a checkout of Primus, or append the chains of model and "
                    "config as documents 2 and 3",
                    key, entry->value->scalar));
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
    const std::vector<NodePtr> documents = yaml_documents(text);
    const auto refuse = [&](const char* sentence) -> NodePtr {
        throw InputError({{{text.file.string(), 0, 0}, sentence, {}}});
    };
    if (documents.empty()) refuse("the file has no 'modules'");
    NodePtr module = text::at(documents.front(), "modules.pre_trainer");
    if (!module) module = text::at(documents.front(), "modules.post_trainer");
    if (!module || !module->is(Node::Kind::Map)) refuse("the file has no 'modules.pre_trainer'");
    add_defaults(job.in, module->place);
    if (documents.size() > 1) {
        for (std::size_t i = 1; i < documents.size(); ++i)
            if (documents[i]->is(Node::Kind::Map)) add_map(*documents[i], "", job.in);
    } else {
        add_named(*module, "model", "models", text, job);
        add_named(*module, "config", "modules", text, job);
        job.mistakes().throw_if_any();
    }
    if (const NodePtr overrides = module->get("overrides");
        overrides && overrides->is(Node::Kind::Map))
        add_map(*overrides, "overrides.", job.in);
    rename_to_fields(job.in);
    const std::string hint = hint_of(text);
    read_megatron(
        job,
        {.tool = "Primus", .framework = "primus-2026", .is_primus = true, .cluster_hint = hint});
}

}  // namespace debubble::jobs

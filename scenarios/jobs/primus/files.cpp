#include "scenarios/jobs/primus/files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "text/document_readers.h"

namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;
using text::Node;
using text::NodePtr;

constexpr int kLongestChain = 20;

/// Files of Primus that only hold defaults: their values are not decisions of the job.
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

/// Zeros that mean "none": degrees of encoders that are not there, layers that are not recomputed.
bool is_nothing(const std::string& name, const Node& value) {
    if (value.is(Node::Kind::Null)) return true;
    if (!value.is(Node::Kind::Scalar) || value.quoted) return false;
    if (value.scalar.empty() || value.scalar == "null" || value.scalar == "None") return true;
    return value.scalar == "0" &&
           (name.ends_with("_parallel_size") || name == "recompute_num_layers");
}

/// The folders in which Primus keeps what it names, as seen from the job.
std::optional<fs::path> find_file(const fs::path& job, const std::string& name, const char* kind,
                                  const char* backend) {
    std::error_code error;
    fs::path folder = fs::absolute(job, error).parent_path();
    const std::string ending = name.ends_with(".yaml") || name.ends_with(".yml") ? "" : ".yaml";
    const std::string full = name + ending;
    for (int up = 0; up < 10; ++up, folder = folder.parent_path())
        for (const fs::path& candidate :
             {folder / full, folder / "primus" / "configs" / kind / backend / full,
              folder / "configs" / kind / backend / full})
            if (fs::is_regular_file(candidate, error)) return candidate;
    return {};
}

/// Adds a file, and before it what it extends.
void add_chain(const fs::path& file, AddPrimusMap add, Reading& job, int depth) {
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
                add_chain(path, add, job, depth + 1);
            else
                job.mistakes().add(
                    name->place,
                    fmt::format("'{}', which this file extends, does not exist", name->scalar));
        }
    add(*root, "", job, holds_defaults(file));
}

}  // namespace

void add_primus_fields(const Node& map, const std::string& above, Reading& job, bool defaults) {
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

void add_primus_sections(const Node& map, const std::string& above, Reading& job, bool defaults) {
    for (const Node::Entry& entry : map.entries) {
        if (entry.key == "extends" || entry.value->is(Node::Kind::Null)) continue;
        const std::string path = above.empty() ? entry.key : above + "." + entry.key;
        if (entry.value->is(Node::Kind::Map)) {
            add_primus_sections(*entry.value, path, job, defaults);
            continue;
        }
        std::vector<std::string> lacks;
        const NodePtr value = expanded(entry.value, job.started, lacks);
        const bool known = lacks.empty();
        Setting setting{path, path, value, entry.place, known, std::move(lacks)};
        setting.is_default = defaults;
        job.in.add(std::move(setting));
    }
}

void add_primus_file(const Node& module, const char* key, const char* kind, const char* backend,
                     const JobText& text, AddPrimusMap add, Reading& job) {
    const Node::Entry* const entry = module.find(key);
    if (entry == nullptr || !entry->value->is(Node::Kind::Scalar)) return;
    std::vector<std::string> lacks;
    const std::string name = expanded(entry->value->scalar, job.started, lacks);
    if (!lacks.empty()) {
        job.in.unknown.push_back({key, key, entry->value, entry->place, false, lacks});
        return;
    }
    if (const auto file = find_file(text.file, name, kind, backend))
        return add_chain(*file, add, job, 0);
    if (name == "pre_trainer.yaml" || name == "language_model.yaml")
        return job.note(
            fmt::format("{} '{}' does not exist; Primus's defaults are used", key, name),
            Harm::Harmless);
    job.mistakes().add(
        entry->value->place,
        fmt::format("{} '{}' names a missing file: give the job inside a checkout of Primus, or "
                    "append the chains of model and config as documents 2 and 3",
                    key, name));
}

}  // namespace debubble::jobs

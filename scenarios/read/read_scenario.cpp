#include "scenarios/read/read_scenario.h"

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/read/scenario_tree.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"

namespace debubble::scenarios {
namespace {

using text::NodePtr;
using text::ShippedFiles;

constexpr std::string_view kFolder = "scenarios";

std::string name_from(const std::filesystem::path& file) {
    return printable(file.stem().string());
}

/// The tree of a file together with its included files.
NodePtr read_tree(const std::filesystem::path& path, ShippedFiles& shipped) {
    return with_includes(text::read_document(path), shipped);
}

}  // namespace

Override parse_override(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw InputError(
            fmt::format("--set takes key=value, for example parallel.tensor=8, not '{}'", text));
    if (text.find_first_not_of(" \t", equals + 1) == std::string::npos)
        throw InputError(fmt::format("--set {} gives no value; {}null removes the key", text,
                                     text.substr(0, equals + 1)));
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::filesystem::path find_scenario(const std::string& name_or_path) {
    if (text::is_path(name_or_path)) return name_or_path;
    std::filesystem::path shipped = text::data_folder() / kFolder / (name_or_path + ".yaml");
    std::error_code error;
    if (std::filesystem::exists(shipped, error)) return shipped;
    if (std::filesystem::exists(name_or_path, error)) return name_or_path;
    throw InputError(text::unknown_word("scenario", name_or_path, shipped_scenarios()));
}

std::vector<std::string> shipped_scenarios() {
    return text::shipped_names(kFolder);
}

Scenario read_scenario(const std::string& name_or_path, const std::vector<Override>& overrides) {
    ShippedFiles shipped;
    const std::filesystem::path path = find_scenario(name_or_path);
    return scenario_of(with_overrides(read_tree(path, shipped), overrides), name_from(path),
                       shipped, nullptr);
}

Scenario parse_scenario(const std::string& text, const std::string& file,
                        const std::vector<Override>& overrides) {
    ShippedFiles shipped;
    const NodePtr root = with_includes(text::parse_yaml(text, file), shipped);
    return scenario_of(with_overrides(root, overrides), name_from(file), shipped, nullptr);
}

Scenario scenario_of_map(const NodePtr& map, const std::string& name,
                         const std::vector<Override>& overrides) {
    ShippedFiles shipped;
    return scenario_of(with_overrides(map, overrides), name, shipped, nullptr);
}

Sweep read_sweep(const std::string& name_or_path) {
    ShippedFiles shipped;
    return sweep_of(read_tree(find_scenario(name_or_path), shipped), shipped);
}

Sweep parse_sweep(const std::string& text, const std::string& file) {
    ShippedFiles shipped;
    return sweep_of(with_includes(text::parse_yaml(text, file), shipped), shipped);
}

struct ScenarioTemplate::Impl {
    mutable ShippedFiles shipped;
    NodePtr root;
    std::string name;
    Parts parts;
};

ScenarioTemplate::ScenarioTemplate(const std::string& name_or_path)
    : impl_(std::make_unique<Impl>()) {
    const std::filesystem::path path = find_scenario(name_or_path);
    impl_->root = read_tree(path, impl_->shipped);
    impl_->name = name_from(path);
    read_parts_once();
}

ScenarioTemplate::ScenarioTemplate(const std::string& text, const std::string& file)
    : impl_(std::make_unique<Impl>()) {
    impl_->root = with_includes(text::parse_yaml(text, file), impl_->shipped);
    impl_->name = name_from(file);
    read_parts_once();
}

void ScenarioTemplate::read_parts_once() {
    text::Mistakes later;  // overrides may correct these mistakes; instantiate reports those that
                           // stay
    impl_->parts = read_parts(impl_->root, impl_->shipped, later);
    if (!later.empty()) impl_->parts = {};
}

ScenarioTemplate::~ScenarioTemplate() = default;
ScenarioTemplate::ScenarioTemplate(ScenarioTemplate&&) noexcept = default;
ScenarioTemplate& ScenarioTemplate::operator=(ScenarioTemplate&&) noexcept = default;

Scenario ScenarioTemplate::instantiate(const std::vector<Override>& overrides) const {
    const Parts* known = impl_->parts.model_node ? &impl_->parts : nullptr;
    return scenario_of(with_overrides(impl_->root, overrides), impl_->name, impl_->shipped, known);
}

Sweep ScenarioTemplate::sweep() const {
    return sweep_of(impl_->root, impl_->shipped);
}

}  // namespace debubble::scenarios

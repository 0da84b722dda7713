#include "scenarios/read_scenario.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "models/yaml_document_reader.h"
#include "models/yaml_reader.h"
#include "scenarios/scenario_tree.h"

namespace debubble::scenarios {
namespace {

using models::NodePtr;
using models::Shelf;

constexpr std::string_view kFolder = "scenarios";

std::string name_from(const std::filesystem::path& file) {
    return printable(file.stem().string());
}

/// The tree of a file, with what it includes.
NodePtr read_tree(const std::filesystem::path& path, Shelf& shelf) {
    return with_includes(models::read_yaml(path), shelf);
}

}  // namespace

Override parse_override(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw InputError(
            fmt::format("--set takes key=value, such as parallel.tensor=8, not '{}'", text));
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::filesystem::path find_scenario(const std::string& name_or_path) {
    if (models::is_path(name_or_path)) return name_or_path;
    std::filesystem::path shipped = models::data_folder() / kFolder / (name_or_path + ".yaml");
    std::error_code error;
    if (std::filesystem::exists(shipped, error)) return shipped;
    if (std::filesystem::exists(name_or_path, error)) return name_or_path;
    throw InputError(models::unknown_word("scenario", name_or_path, shipped_scenarios()));
}

std::vector<std::string> shipped_scenarios() {
    return models::shipped_names(kFolder);
}

Scenario read_scenario(const std::string& name_or_path, const std::vector<Override>& overrides) {
    Shelf shelf;
    const std::filesystem::path path = find_scenario(name_or_path);
    return scenario_of(with_overrides(read_tree(path, shelf), overrides), name_from(path), shelf,
                       nullptr);
}

Scenario parse_scenario(const std::string& text, const std::string& file,
                        const std::vector<Override>& overrides) {
    Shelf shelf;
    const NodePtr root = with_includes(models::parse_yaml(text, file), shelf);
    return scenario_of(with_overrides(root, overrides), name_from(file), shelf, nullptr);
}

Sweep read_sweep(const std::string& name_or_path) {
    Shelf shelf;
    return sweep_of(read_tree(find_scenario(name_or_path), shelf), shelf);
}

Sweep parse_sweep(const std::string& text, const std::string& file) {
    Shelf shelf;
    return sweep_of(with_includes(models::parse_yaml(text, file), shelf), shelf);
}

struct ScenarioTemplate::Impl {
    mutable Shelf shelf;
    NodePtr root;
    std::string name;
    Parts parts;
};

ScenarioTemplate::ScenarioTemplate(const std::string& name_or_path)
    : impl_(std::make_unique<Impl>()) {
    const std::filesystem::path path = find_scenario(name_or_path);
    impl_->root = read_tree(path, impl_->shelf);
    impl_->name = name_from(path);
    read_parts_once();
}

ScenarioTemplate::ScenarioTemplate(const std::string& text, const std::string& file)
    : impl_(std::make_unique<Impl>()) {
    impl_->root = with_includes(models::parse_yaml(text, file), impl_->shelf);
    impl_->name = name_from(file);
    read_parts_once();
}

void ScenarioTemplate::read_parts_once() {
    models::Mistakes later;  // overrides may mend them; instantiate tells those that stay
    impl_->parts = read_parts(impl_->root, impl_->shelf, later);
    if (!later.empty()) impl_->parts = {};
}

ScenarioTemplate::~ScenarioTemplate() = default;
ScenarioTemplate::ScenarioTemplate(ScenarioTemplate&&) noexcept = default;
ScenarioTemplate& ScenarioTemplate::operator=(ScenarioTemplate&&) noexcept = default;

Scenario ScenarioTemplate::instantiate(const std::vector<Override>& overrides) const {
    const Parts* known = impl_->parts.model_node ? &impl_->parts : nullptr;
    return scenario_of(with_overrides(impl_->root, overrides), impl_->name, impl_->shelf, known);
}

}  // namespace debubble::scenarios

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "scenarios/read/sweep.h"
#include "text/document.h"
#include "text/key.h"

/// From YAML to Scenario, and the keys that may be written. All functions throw InputError with
/// every mistake found, each with file:line:column, the line, a caret and did-you-mean.
namespace debubble::scenarios {

// From YAML to Scenario. All functions throw InputError with every mistake found, each with
// file:line:column, the line, a caret and did-you-mean.

/// The override of a `--set` text.
Override parse_override(const std::string& text);

/// The path of a shipped or given scenario. Names are looked up in the data folder:
/// DEBUBBLE_DATA_DIR, or the one compiled in.
std::filesystem::path find_scenario(const std::string& name_or_path);
std::vector<std::string> shipped_scenarios();

Scenario read_scenario(const std::string& name_or_path,
                       const std::vector<Override>& overrides = {});
Scenario parse_scenario(const std::string& text, const std::string& file,
                        const std::vector<Override>& overrides = {});

/// The scenario that a map of a larger document is.
Scenario scenario_of_map(const text::NodePtr& map, const std::string& name,
                         const std::vector<Override>& overrides = {});

Sweep read_sweep(const std::string& name_or_path);
Sweep parse_sweep(const std::string& text, const std::string& file);

/// A scenario file read once, to be instantiated for many points quickly:
/// thread-safe after construction. A file that a point names (`model: gpt2-xl`) is
/// read the first time only.
class ScenarioTemplate {
public:
    explicit ScenarioTemplate(const std::string& name_or_path);
    /// A template from a text that need not be on the disk; paths in it are relative to `file`.
    ScenarioTemplate(const std::string& text, const std::string& file);
    ~ScenarioTemplate();
    ScenarioTemplate(ScenarioTemplate&&) noexcept;
    ScenarioTemplate& operator=(ScenarioTemplate&&) noexcept;
    Scenario instantiate(const std::vector<Override>& overrides) const;
    /// The `sweep` of the same tree, without keys if it has none. Throws InputError.
    Sweep sweep() const;

private:
    struct Impl;
    void read_parts_once();
    std::unique_ptr<Impl> impl_;
};

// Every key of a scenario and of the files that it names, from the tables by which they are read.

/// The keys of a scenario; those of clusters, frameworks and models lie under the keys that name
/// them, those of a run under `training`.
std::vector<text::Key> scenario_keys();

/// The same without the keys inside of models, clusters and frameworks, whose tables are long.
std::vector<text::Key> keys_of_plan();

}  // namespace debubble::scenarios

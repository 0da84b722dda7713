#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/scenario.h"

/// From YAML to Scenario. All functions throw InputError with every mistake
/// found, each with file:line:column, the line, a caret and did-you-mean.
namespace debubble::scenarios {

/// `parallel.tensor=8`: the value is YAML too.
using Override = std::pair<std::string, std::string>;

/// `--set` text to Override.
Override parse_override(const std::string& text);

/// Path of a shipped or given scenario. Names are looked up in the data
/// folder: DEBUBBLE_DATA_DIR, or the one compiled in.
std::filesystem::path find_scenario(const std::string& name_or_path);
std::vector<std::string> shipped_scenarios();

Scenario read_scenario(const std::string& name_or_path,
                       const std::vector<Override>& overrides = {});
Scenario parse_scenario(const std::string& text, const std::string& file,
                        const std::vector<Override>& overrides = {});

/// The `sweep:` grid of a scenario: every key with the values it takes, in file
/// order (lists, `{from, to, step|factor}` ranges) and the conditions that a
/// point must meet.
struct SweepKey {
    std::string key;
    std::vector<std::string> values;  ///< YAML texts
};
struct Sweep {
    std::vector<SweepKey> keys;
    std::vector<std::string> conditions;  ///< "parallel.tensor * parallel.pipeline <= 64"

    std::size_t points() const;
    /// Point `index`, last key fastest.
    std::vector<Override> point(std::size_t index) const;
    /// Does the point meet every condition?
    bool admits(std::size_t index) const;
};
Sweep read_sweep(const std::string& name_or_path);

/// A scenario file read once, to be instantiated for many points quickly:
/// thread-safe after construction, no file access per point.
class ScenarioTemplate {
public:
    explicit ScenarioTemplate(const std::string& name_or_path);
    ~ScenarioTemplate();
    ScenarioTemplate(ScenarioTemplate&&) noexcept;
    Scenario instantiate(const std::vector<Override>& overrides) const;

private:
    struct Impl;
    Impl* impl_;
};

}  // namespace debubble::scenarios

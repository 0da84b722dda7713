#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "scenarios/expression.h"
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
/// order (a list, or a range {from, to, step} or {from, to, factor}), and under
/// `where` the conditions that a point must meet, one or a list of them.
struct SweepKey {
    std::string key;
    std::vector<std::string> values;  ///< YAML texts
    std::vector<Diagnostic> places;   ///< where each value stands: mistakes without a message
    Diagnostic place = {};            ///< where the key stands
};
struct Sweep {
    std::vector<SweepKey> keys;
    std::vector<Expression> conditions;  ///< "parallel.tensor * parallel.pipeline <= 64"
    /// What a condition may also ask for: every scalar of the scenario by its dotted
    /// key, the model's and cluster's numbers, and defaults of `parallel`.
    std::map<std::string, std::string> fixed;

    std::size_t points() const;
    /// Point `index`, last key fastest.
    std::vector<Override> point(std::size_t index) const;
    /// Does the point meet every condition? Throws InputError where one has no value.
    bool admits(std::size_t index) const;
};
Sweep read_sweep(const std::string& name_or_path);
Sweep parse_sweep(const std::string& text, const std::string& file);

/// A scenario file read once, to be instantiated for many points quickly:
/// thread-safe after construction. A file that a point names (`model: gpt2-xl`) is
/// read the first time only.
class ScenarioTemplate {
public:
    explicit ScenarioTemplate(const std::string& name_or_path);
    /// Of a text that need not be on the disk; paths in it are seen from `file`.
    ScenarioTemplate(const std::string& text, const std::string& file);
    ~ScenarioTemplate();
    ScenarioTemplate(ScenarioTemplate&&) noexcept;
    ScenarioTemplate& operator=(ScenarioTemplate&&) noexcept;
    Scenario instantiate(const std::vector<Override>& overrides) const;

private:
    struct Impl;
    void read_parts_once();
    std::unique_ptr<Impl> impl_;
};

}  // namespace debubble::scenarios

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/costs.h"

namespace debubble {

struct GeneratorOptions {
    /// Measured costs, for the generators that search (zb-auto, v-half, ...).
    PipelineCosts costs = unit_costs();
    /// The most live activations, in microbatches of a rank's layers: one number for all ranks, or
    /// one for each; none if empty.
    std::vector<double> memory_limits;
    /// `--option key=value`, and the further keys of a scenario's `schedule:` map.
    std::map<std::string, std::string> values;
    friend bool operator==(const GeneratorOptions&, const GeneratorOptions&) = default;
};

/// A key of `values` that a generator reads.
struct GeneratorOption {
    std::string_view key;
    std::string_view help;
};

/// The reason why a shape cannot be built, in words with the numbers; nothing if it can.
using Reason = std::optional<std::string>;

}  // namespace debubble

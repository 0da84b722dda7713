#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "schedule/generators/generator_options.h"
#include "schedule/schedule.h"

namespace debubble {

/// A row of the table of schedules. Each is made by the file that writes the schedule.
struct Generator {
    std::string_view name;
    std::string_view summary;  ///< one line for menus
    std::string_view source;   ///< paper (arXiv number) or repository
    /// A pure function. Precondition: why_not(shape, options) is empty.
    Schedule (*make)(const PipelineShape&, const GeneratorOptions&);
    Reason (*why_not)(const PipelineShape&, const GeneratorOptions&);
    bool splits_backward = false;             ///< writes I and W instead of B
    std::optional<int> stages_per_rank = {};  ///< the only value it takes, if there is only one
    bool uses_costs = false;  ///< looks at GeneratorOptions::costs; a scenario gives its own
    std::span<const GeneratorOption> options = {};  ///< the keys that it reads
    bool overlaps = false;            ///< writes Overlap: a forward and a backward at once
    bool takes_memory_limit = false;  ///< obeys GeneratorOptions::memory_limit
    /// What a person should know of a schedule of this shape, if there is something.
    Reason (*note)(const PipelineShape&) = nullptr;
};

}  // namespace debubble

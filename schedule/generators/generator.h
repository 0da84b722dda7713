#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "schedule/generators/generator_options.h"
#include "schedule/schedule.h"

namespace debubble {

/// A row of the table of schedules. The file that writes a schedule makes its row.
struct Generator {
    std::string_view name;
    std::string_view summary;  ///< one line for menus
    std::string_view source;   ///< paper (arXiv number) or repository
    /// Makes the schedule; a pure function. Precondition: why_not(shape, options) is empty.
    Schedule (*make)(const PipelineShape&, const GeneratorOptions&);
    Reason (*why_not)(const PipelineShape&, const GeneratorOptions&);
    bool splits_backward = false;             ///< writes I and W instead of B
    std::optional<int> stages_per_rank = {};  ///< the only value it takes, if there is just one
    bool uses_costs = false;  ///< uses GeneratorOptions::costs; a scenario gives its own
    /// The placement of its stages, of a schedule that uses costs: stages are priced before there
    /// is an order.
    Placement (*placement)(const PipelineShape&) = nullptr;
    std::span<const GeneratorOption> options = {};  ///< the keys that it reads
    bool overlaps = false;            ///< writes Overlap: a forward and a backward at the same time
    bool pairs_layers = false;        ///< in an Overlap, layers run beside layers in two streams
    bool takes_memory_limit = false;  ///< obeys GeneratorOptions::memory_limit
    /// A remark that a person should know about a schedule of this shape, if there is one.
    Reason (*note)(const PipelineShape&) = nullptr;
};

}  // namespace debubble

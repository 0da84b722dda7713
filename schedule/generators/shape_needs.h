#pragma once

#include <optional>
#include <string>

#include "schedule/generators/generator_options.h"
#include "schedule/pipeline_shape.h"

/// The sentences that several generators answer with when a shape does not suit them.
namespace debubble {

struct ShapeNeeds {
    std::optional<int> stages_per_rank = {};  ///< the only value the generator takes
    bool slices = false;                      ///< it can cut the sequence of a microbatch
};

/// Why no schedule of this shape can be written at all (a count below one, more
/// passes than memory holds), or why not by a generator with these needs.
Reason shape_reason(const PipelineShape& shape, const ShapeNeeds& needs);

/// Generator::why_not of those that take any shape with so many stages per rank, or with any
/// number.
Reason one_stage_per_rank(const PipelineShape& shape, const GeneratorOptions& options);
Reason any_stages_per_rank(const PipelineShape& shape, const GeneratorOptions& options);

/// The value of a whole-number option, or what is wrong with it. `fallback` if it is not given.
struct OptionValue {
    int value = 0;
    Reason reason = {};
};
OptionValue whole_number(const GeneratorOptions& options, const std::string& key, int fallback,
                         int least, int greatest);

}  // namespace debubble

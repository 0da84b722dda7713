#pragma once

#include <optional>
#include <string>

#include "schedule/generators/generator_options.h"
#include "schedule/placement.h"

/// The sentences that several generators share for shapes that do not suit them.
namespace debubble {

struct ShapeNeeds {
    std::optional<int> stages_per_rank = {};  ///< the only value the generator takes
    bool slices = false;                      ///< the generator can cut the sequence of a
                                              ///< microbatch
};

/// The reason why no schedule of this shape can be written at all (a count below one, more passes
/// than memory holds), or not by a generator with these needs.
Reason shape_reason(const PipelineShape& shape, const ShapeNeeds& needs);

/// The Generator::why_not of generators that take any shape with this many stages per rank, or with
/// any number.
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

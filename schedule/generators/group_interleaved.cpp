#include <utility>

#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Generalised interleaving, GIS (PipeOffload; Wan et al., 2025, arXiv:2503.01328,
/// section 3): interleaved 1F1B in groups of g microbatches, ceil(p/2) <= g <= p,
/// with a split backward (no W is delayed) and one warm-up forward per rank to
/// go instead of two. Rank 0 holds [p + g(v-1)]/v microbatches of its layers: p at
/// g = p, half of interleaving's at g = p/2 (GIS-H). Bubble, for m a multiple of g:
/// [(p-1)(F+I) + (v-1)((p-g)F + max(0, (p-g)I - gW))]/v
/// if m >= p and no turn of the ranks outlasts a group, p max(F, I) <= g(F+I+W).
///
///   rank 0  0F0 0F1 2F0 2F1 2I0 2W0 2I1 2W1 0I0 0W0 0I1 0W1
///   rank 1  1F0 1F1 3F0 3I0 3W0 3F1 3I1 3W1 1I0 1W0 1I1 1W1
///
/// A short last group keeps the turns of its missing microbatches. Equals the pictures of the
/// paper's figures 5 (g = 4) and 6 (g = 2), p = 4, v = 2, m = 8.
namespace debubble {
namespace {

constexpr GeneratorOption kGroup[] = {
    {"group", "microbatches per group, from p/2 to p; fewer save memory and cost bubble"}};

OptionValue micro_batches_of_group(const PipelineShape& shape, const GeneratorOptions& options) {
    return whole_number(options, "group", shape.ranks, (shape.ranks + 1) / 2, shape.ranks);
}

Reason why_not_group_interleaved(const PipelineShape& shape, const GeneratorOptions& options) {
    if (const Reason reason = shape_reason(shape, {})) return reason;
    const auto [group, reason] = micro_batches_of_group(shape, options);
    return reason ? reason : shape_reason(padded_to_groups(shape, group), {});
}

Schedule group_interleaved(const PipelineShape& shape, const GeneratorOptions& options) {
    const int group = micro_batches_of_group(shape, options).value;
    const PipelineShape whole = padded_to_groups(shape, group);

    Schedule schedule = empty_schedule("group-interleaved", whole);
    for (int rank = 0; rank < shape.ranks; ++rank)
        write({.forwards = looped_forwards(whole, rank, group),
               .backwards = looped_backwards(whole, rank, group),
               .warm_up = (shape.stages_per_rank - 1) * group + shape.ranks - 1 - rank,
               .weight_delay = 0},
              schedule.ranks[rank]);
    return without_missing(std::move(schedule), shape.micro_batches);
}

}  // namespace

Generator group_interleaved_row() {
    return {.name = "group-interleaved",
            .summary = "interleaved 1F1B in groups, down to half the memory (GIS)",
            .source = "arXiv:2503.01328",
            .make = group_interleaved,
            .why_not = why_not_group_interleaved,
            .splits_backward = true,
            .options = kGroup};
}

}  // namespace debubble

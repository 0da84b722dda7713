#include <algorithm>

#include <fmt/format.h>

#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Megatron-Core's combined 1F1B (Megatron-LM d98e8a6, core/pipeline_parallel/combined_1f1b.py):
/// interleaved 1F1B whose forward and backward run as a pair, so that the exchange of experts of
/// one hides behind the kernels of the other. With one more forward in the warm-up, 2 (p-r-1) +
/// (v-1) N
/// + 1 of them for rank r and groups of N microbatches, the two are never of the same microbatch.
/// min(mv, 2 (p-r-1) + (v-1) N + 2) chunks are live. Of the mv passes of a rank as many as its
/// warm-up stay without a partner. With free links pairs that last F + B end as interleaved 1F1B
/// does; a hop C of the link is waited for by each pair, mv + vp + p - 4 times.
///
///   rank 0  0F0 0F1 2F0 2F1 0F2 (0F3;2B0)OVERLAP_F_B (2F2;2B1)OVERLAP_F_B (2F3;0B0)OVERLAP_F_B 0B1
///           2B2 2B3 0B2 0B3
///   rank 1  1F0 1F1 3F0 (3F1;3B0)OVERLAP_F_B (1F2;3B1)OVERLAP_F_B (1F3;1B0)OVERLAP_F_B
///           (3F2;1B1)OVERLAP_F_B (3F3;3B2)OVERLAP_F_B 3B3 1B2 1B3
///
/// Equals what Megatron's own schedule function does with p = 2, v = 2, m = 4 and p = 4, v = 2, m =
/// 8. A weight gradient that is delayed runs inside the pair, at another place.
namespace debubble {
namespace {

constexpr GeneratorOption kOptions[] = {
    {"group", "microbatches per group, from p to m (microbatch_group_size_per_vp_stage)"},
    {"delay_wgrad",
     "true or false: weight gradients run apart in a pair, where they hide exchanges "
     "(delay_wgrad_compute)"}};

OptionValue group_of(const PipelineShape& shape, const GeneratorOptions& options) {
    return whole_number(options, "group", shape.ranks, shape.ranks,
                        std::max(shape.ranks, shape.micro_batches));
}

Reason delay_reason(const GeneratorOptions& options) {
    const auto found = options.values.find("delay_wgrad");
    if (found == options.values.end() || found->second == "true" || found->second == "false")
        return std::nullopt;
    return fmt::format("delay_wgrad must be true or false, not '{}'", found->second);
}

Reason why_not_combined_1f1b(const PipelineShape& shape, const GeneratorOptions& options) {
    if (Reason reason = shape_reason(shape, {})) return reason;
    if (Reason reason = delay_reason(options)) return reason;
    if (shape.ranks > 1 && shape.stages_per_rank == 1)
        return "with several ranks the overlap of experts needs several stages per rank (Megatron: "
               "virtual pipeline parallelism must be enabled)";
    if (shape.ranks == 1 && shape.stages_per_rank > 1)
        return fmt::format("one rank has no use for {} stages", shape.stages_per_rank);
    if (shape.micro_batches < shape.ranks)
        return fmt::format("it needs at least {} microbatches, one per rank, and there are {}",
                           shape.ranks, shape.micro_batches);
    const auto [group, reason] = group_of(shape, options);
    if (reason) return reason;
    const int last = shape.micro_batches % group;
    if (last > 0 && last < shape.ranks)
        return fmt::format(
            "{} microbatches in groups of {} leave a last group of {}, fewer than the {} ranks",
            shape.micro_batches, group, last, shape.ranks);
    return std::nullopt;
}

/// The forward `ahead` turns further on beside each backward, while there is one.
void write_pairs(const std::vector<Turn>& forwards, const std::vector<Turn>& backwards, int ahead,
                 ActionList& actions) {
    const int turns = static_cast<int>(forwards.size());
    const auto forward = [&](int i) {
        return Compute{Pass::Forward, Stage{forwards[i].stage}, forwards[i].micro_batch};
    };
    RankWriter list(actions);
    for (int i = 0; i < std::min(ahead, turns); ++i)
        list.add(Pass::Forward, forwards[i].stage, forwards[i].micro_batch);
    for (int i = 0; i < turns; ++i) {
        const Compute backward{Pass::Backward, Stage{backwards[i].stage}, backwards[i].micro_batch};
        if (ahead + i < turns)
            list.overlap(forward(ahead + i), backward);
        else
            list.add(backward.pass, backward.stage.index, backward.micro_batch);
    }
}

Schedule combined_one_f_one_b(const PipelineShape& shape, const GeneratorOptions& options) {
    const int group = group_of(shape, options).value;
    Schedule schedule = empty_schedule("combined-1f1b", shape);
    for (int rank = 0; rank < shape.ranks; ++rank)
        write_pairs(looped_forwards(shape, rank, group), looped_backwards(shape, rank, group),
                    2 * (shape.ranks - rank - 1) + (shape.stages_per_rank - 1) * group + 1,
                    schedule.ranks[rank]);
    return schedule;
}

}  // namespace

Generator combined_1f1b_row() {
    return {
        .name = "combined-1f1b",
        .summary =
            "interleaved 1F1B whose expert all-to-alls overlap in pairs of passes (Megatron-Core)",
        .source = "Megatron-LM core/pipeline_parallel/combined_1f1b.py",
        .make = combined_one_f_one_b,
        .why_not = why_not_combined_1f1b,
        .options = kOptions,
        .overlaps = true,
        .pairs_layers = true};
}

}  // namespace debubble

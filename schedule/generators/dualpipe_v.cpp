#include <fmt/format.h>

#include "schedule/generators/eight_steps.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"

/// DualPipeV (deepseek-ai/DualPipe; "cut in half", Sea AI Lab): DualPipe's
/// first half of the ranks, its two streams joined at the last rank, so that
/// one copy of the parameters is enough. Bubble (p-1)(F&B + B - 3W)/2.
///
///   rank 0  0F0 0F1 0F2 3F0 3I0 3W0 3F1 (0F3;3B1)OVERLAP_F_B (3F2;0B0)OVERLAP_F_B 3B2
///           (3F3;0B1)OVERLAP_F_B 3B3 0I2 0W2 0I3 0W3
///   rank 1  1F0 2F0 1F1 2F1 1F2 2B0 (2F2;1B0)OVERLAP_F_B (1F3;2B1)OVERLAP_F_B (2F3;1B1)OVERLAP_F_B
///           2B2 1B2 2I3 1I3 2W3 1W3
namespace debubble {
namespace {

Schedule dualpipe_v(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("dualpipe-v", shape, v_placement(shape.ranks));
    for (int rank = 0; rank < shape.ranks; ++rank) {
        const Stream down(rank, 0);
        const Stream up(2 * shape.ranks - 1 - rank, 0);
        write_eight_steps(schedule.ranks[rank], down, up, {rank, shape.ranks, shape.micro_batches});
    }
    return schedule;
}

Reason why_not_dualpipe_v(const PipelineShape& shape, const GeneratorOptions&) {
    if (Reason reason = shape_reason(shape, {.stages_per_rank = 2})) return reason;
    if (shape.micro_batches < 2 * shape.ranks)
        return fmt::format("it needs at least 2 x {} = {} microbatches, and there are {}",
                           shape.ranks, 2 * shape.ranks, shape.micro_batches);
    return std::nullopt;
}

}  // namespace

Generator dualpipe_v_row() {
    return {.name = "dualpipe-v",
            .summary = "DualPipe cut in half, one copy of the parameters",
            .source = "deepseek-ai/DualPipe dualpipe/dualpipev.py",
            .make = dualpipe_v,
            .why_not = why_not_dualpipe_v,
            .splits_backward = true,
            .stages_per_rank = 2,
            .overlaps = true};
}

}  // namespace debubble

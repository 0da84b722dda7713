#include <algorithm>

#include <fmt/format.h>

#include "schedule/generators/eight_steps.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"

/// DualPipe (DeepSeek-V3, 2024, arXiv:2412.19437; order of deepseek-ai/DualPipe):
/// two copies of the parameters, fed from both ends. Microbatches 0..m/2-1
/// enter at rank 0, the others at rank p-1, where stage s lies on rank p-1-s.
/// Bubble (p/2-1)(F&B + B - 3W); p+1 microbatches on each rank.
///
///   rank 0  0F0 1F2 0F1 1B2 (1F3;0B0)OVERLAP_F_B 1B3 0I1 0W1
///   rank 1  0F2 1F0 0F3 1B0 (1F1;0B2)OVERLAP_F_B 1B1 0I3 0W3
namespace debubble {
namespace {

Schedule dualpipe(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("dualpipe", shape, bidirectional_placement(shape.ranks));
    const int half = shape.micro_batches / 2;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        const int mirror = shape.ranks - 1 - rank;
        const Stream down(rank, 0);
        const Stream up(mirror, half);
        const TurnPosition at{std::min(rank, mirror), shape.ranks / 2, half};
        const bool first_half = rank < mirror;
        write_eight_steps(schedule.ranks[rank], first_half ? down : up, first_half ? up : down, at);
    }
    return schedule;
}

Reason why_not_dualpipe(const PipelineShape& shape, const GeneratorOptions&) {
    if (Reason reason = shape_reason(shape, {.stages_per_rank = 1})) return reason;
    if (shape.ranks % 2 != 0)
        return fmt::format("it needs an even number of ranks, and {} is odd", shape.ranks);
    if (shape.micro_batches % 2 != 0)
        return fmt::format("half of the microbatches enter at each end, and {} is odd",
                           shape.micro_batches);
    if (shape.micro_batches < 2 * shape.ranks)
        return fmt::format("it needs at least 2 x {} = {} microbatches, and there are {}",
                           shape.ranks, 2 * shape.ranks, shape.micro_batches);
    return std::nullopt;
}

}  // namespace

Generator dualpipe_row() {
    return {.name = "dualpipe",
            .summary = "fed from both ends, forward and backward overlapped (DeepSeek-V3)",
            .source = "arXiv:2412.19437",
            .make = dualpipe,
            .why_not = why_not_dualpipe,
            .splits_backward = true,
            .stages_per_rank = 1,
            .overlaps = true};
}

}  // namespace debubble

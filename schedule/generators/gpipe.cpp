#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// GPipe (Huang et al., 2018, arXiv:1811.06965): every forward, then every
/// backward. Bubble (p-1)(F+B); every rank holds all m microbatches.
///
///   rank 0  0F0 0F1 0F2 0B0 0B1 0B2
///   rank 1  1F0 1F1 1F2 1B0 1B1 1B2
///
/// Equals the step loop of PyTorch 2.6's ScheduleGPipe, run for p <= 8, m <= 64. (The paper takes
/// the last microbatch back first.)
namespace debubble {
namespace {

Schedule gpipe(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("gpipe", shape);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        RankWriter list(schedule.ranks[rank]);
        for (int mb = 0; mb < shape.micro_batches; ++mb) list.forward(rank, mb);
        for (int mb = 0; mb < shape.micro_batches; ++mb) list.backward(rank, mb);
    }
    return schedule;
}

}  // namespace

Generator gpipe_row() {
    return {.name = "gpipe",
            .summary = "all forwards, then all backwards",
            .source = "arXiv:1811.06965",
            .make = gpipe,
            .why_not = one_stage_per_rank,
            .stages_per_rank = 1};
}

}  // namespace debubble

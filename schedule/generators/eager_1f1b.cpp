#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Eager 1F1B (Alpa's "overlap-friendly" 1F1B; Zhuang et al., 2022,
/// arXiv:2211.05322): 1F1B with twice the warm-up, so that every activation
/// travels one turn before it is needed. Bubble (p-1)(F+B) as 1F1B; a link delay
/// C costs 2(p-1)C however many microbatches there are, where 1F1B pays for it
/// every p microbatches. Rank r holds 2(p-r)-1 microbatches instead of p-r.
///
///   rank 0  0F0 0F1 0F2 0F3 0F4 0B0 0F5 0B1 0B2 0B3 0B4 0B5
///   rank 1  1F0 1F1 1F2 1B0 1F3 1B1 1F4 1B2 1F5 1B3 1B4 1B5
///   rank 2  2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3 2F4 2B4 2F5 2B5
///
/// Equals the order of Alpa 0.2.3's OverlapFriendlyPipeDreamSchedule, run for p <= 8, m <= 64.
namespace debubble {
namespace {

Schedule eager_one_f_one_b(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("eager-1f1b", shape);
    for (int rank = 0; rank < shape.ranks; ++rank)
        write({.forwards = looped_forwards(shape, rank, shape.micro_batches),
               .backwards = looped_backwards(shape, rank, shape.micro_batches),
               .warm_up = 2 * (shape.ranks - 1 - rank)},
              schedule.ranks[rank]);
    return schedule;
}

}  // namespace

Generator eager_1f1b_row() {
    return {.name = "eager-1f1b",
            .summary = "1F1B with twice the warm-up, which hides the links (Alpa)",
            .source = "arXiv:2211.05322",
            .make = eager_one_f_one_b,
            .why_not = one_stage_per_rank,
            .stages_per_rank = 1};
}

}  // namespace debubble

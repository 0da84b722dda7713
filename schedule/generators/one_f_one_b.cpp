#include <algorithm>

#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// 1F1B (PipeDream-Flush; Narayanan et al., 2021, arXiv:2104.04473): fill the
/// pipeline, then one forward for each backward, then drain. GPipe's bubble,
/// but rank r holds at most p - r microbatches.
///
///   rank 0  0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3
///   rank 1  1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3
///   rank 2  2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3
///
/// Equals the step loop of PyTorch 2.6's Schedule1F1B, run for p <= 8, m <= 64.
namespace debubble {
namespace {

Schedule one_f_one_b(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("1f1b", shape);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        const int warmup = std::min(shape.ranks - rank - 1, shape.micro_batches);
        const int steady = shape.micro_batches - warmup;

        RankWriter list(schedule.ranks[rank]);
        for (int mb = 0; mb < warmup; ++mb) list.forward(rank, mb);
        for (int i = 0; i < steady; ++i) list.forward(rank, warmup + i).backward(rank, i);
        for (int i = steady; i < shape.micro_batches; ++i) list.backward(rank, i);
    }
    return schedule;
}

}  // namespace

Generator one_f_one_b_row() {
    return {.name = "1f1b",
            .summary = "one forward, one backward (PipeDream-Flush)",
            .source = "arXiv:2104.04473",
            .make = one_f_one_b,
            .why_not = one_stage_per_rank,
            .stages_per_rank = 1};
}

}  // namespace debubble

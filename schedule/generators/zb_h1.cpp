#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// ZB-H1 (Qi et al., 2023, arXiv:2401.10241, section 2.1): 1F1B with the backward
/// split; rank r runs every W r turns late, so that all ranks hold the p
/// microbatches that 1F1B's rank 0 holds, and the delayed W fill the drain.
/// Bubble (p-1)(F+I-W) for m >= p and W <= min(F, I).
///
///   rank 0  0F0 0F1 0F2 0I0 0W0 0F3 0I1 0W1 0I2 0W2 0I3 0W3
///   rank 1  1F0 1F1 1I0 1F2 1I1 1W0 1F3 1I2 1W1 1I3 1W2 1W3
///   rank 2  2F0 2I0 2F1 2I1 2F2 2I2 2W0 2F3 2I3 2W1 2W2 2W3
///
/// Equals the authors' zbpp_light 0.0.1, and PyTorch 2.6's ScheduleInterleavedZeroBubble with one
/// stage per rank, both run for p <= 8, m <= 64. Gives the paper's bubble rates to four digits.
namespace debubble {
namespace {

Schedule zb_h1(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("zb-h1", shape);
    for (int rank = 0; rank < shape.ranks; ++rank)
        write({.forwards = looped_forwards(shape, rank, shape.micro_batches),
               .backwards = looped_backwards(shape, rank, shape.micro_batches),
               .warm_up = shape.ranks - 1 - rank,
               .weight_delay = rank},
              schedule.ranks[rank]);
    return schedule;
}

}  // namespace

Generator zb_h1_row() {
    return {.name = "zb-h1",
            .summary = "zero bubble with 1F1B's memory",
            .source = "arXiv:2401.10241",
            .make = zb_h1,
            .why_not = one_stage_per_rank,
            .splits_backward = true,
            .stages_per_rank = 1};
}

}  // namespace debubble

#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Interleaved zero bubble (PyTorch's ScheduleInterleavedZeroBubble): interleaved
/// 1F1B with ZB-H1's warm-up and delay of W. Bubble (p-1)(F+I-W)/v for m >= p and
/// W <= min(F, I); every rank holds p microbatches of its layers if p divides m. With one
/// stage per rank it is ZB-H1. Groups are PyTorch's: m / (m / p) microbatches.
///
///   rank 0  0F0 0F1 2F0 2F1 2I0 2W0 2I1 2W1 0I0 0W0 0I1 0W1
///   rank 1  1F0 1F1 3F0 3I0 3F1 3I1 3W0 1I0 3W1 1I1 1W0 1W1
///
/// Equals PyTorch 2.6's pipeline_order, run for p <= 8, v <= 4, m <= 64.
namespace debubble {
namespace {

Reason why_not_interleaved_zb(const PipelineShape& shape, const GeneratorOptions&) {
    if (const Reason reason = shape_reason(shape, {})) return reason;
    return pytorch_group_reason(shape);
}

Schedule interleaved_zb(const PipelineShape& shape, const GeneratorOptions&) {
    const int group = pytorch_group(shape);
    Schedule schedule = empty_schedule("interleaved-zb", shape);
    for (int rank = 0; rank < shape.ranks; ++rank)
        write({.forwards = looped_forwards(shape, rank, group),
               .backwards = looped_backwards(shape, rank, group),
               .warm_up = (shape.stages_per_rank - 1) * group + shape.ranks - 1 - rank,
               .weight_delay = rank},
              schedule.ranks[rank]);
    return schedule;
}

}  // namespace

Generator interleaved_zb_row() {
    return {.name = "interleaved-zb",
            .summary = "ZB-H1 over several chunks per rank (PyTorch)",
            .source = "pytorch/pytorch torch/distributed/pipelining/schedules.py",
            .make = interleaved_zb,
            .why_not = why_not_interleaved_zb,
            .splits_backward = true};
}

}  // namespace debubble

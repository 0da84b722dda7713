#include <fmt/format.h>

#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// ZB-H2 (Qi et al., 2023, arXiv:2401.10241, section 2.2): ZB-H1 with twice the
/// warm-up and twice the delay of W, which fills the bubble before the first
/// backward too. Every rank holds 2p-1 microbatches. Span bubble (p-1)(F+I-2W), or
/// none if that is negative, for W <= min(F, I): ranks start and end at different
/// times, so the gain needs an optimizer step that does not wait for all ranks.
///
///   rank 0  0F0 0F1 0F2 0F3 0F4 0I0 0W0 0F5 0I1 0W1 0I2 0W2 0I3 0W3 0I4 0W4 0I5 0W5
///   rank 1  1F0 1F1 1F2 1I0 1F3 1I1 1F4 1I2 1W0 1F5 1I3 1W1 1I4 1W2 1I5 1W3 1W4 1W5
///   rank 2  2F0 2I0 2F1 2I1 2F2 2I2 2F3 2I3 2F4 2I4 2W0 2F5 2I5 2W1 2W2 2W3 2W4 2W5
///
/// With fewer than 2p-1 microbatches a warm-up takes what there is, and the span bubble is between
/// those of ZB-H1 and of a full ZB-H2.
///
/// Gives the paper's bubble rates to four digits; the paper publishes its order as figure 3 only.
namespace debubble {
namespace {

Reason note_of_zb_h2(const PipelineShape& shape) {
    const int full = 2 * shape.ranks - 1;
    if (shape.micro_batches >= full) return std::nullopt;
    return fmt::format(
        "zb-h2 fills its warm-up with {} microbatches on {} ranks, and there {} {}: ranks start "
        "with all of them, and bubbles are left",
        full, shape.ranks, shape.micro_batches == 1 ? "is" : "are", shape.micro_batches);
}

Schedule zb_h2(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("zb-h2", shape);
    for (int rank = 0; rank < shape.ranks; ++rank)
        write({.forwards = looped_forwards(shape, rank, shape.micro_batches),
               .backwards = looped_backwards(shape, rank, shape.micro_batches),
               .warm_up = 2 * (shape.ranks - 1 - rank),
               .weight_delay = 2 * rank},
              schedule.ranks[rank]);
    return schedule;
}

}  // namespace

Generator zb_h2_row() {
    return {.name = "zb-h2",
            .summary = "zero bubble with twice 1F1B's memory",
            .source = "arXiv:2401.10241",
            .make = zb_h2,
            .why_not = one_stage_per_rank,
            .splits_backward = true,
            .stages_per_rank = 1,
            .note = note_of_zb_h2};
}

}  // namespace debubble

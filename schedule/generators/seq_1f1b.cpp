#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Seq1F1B (Sun et al., 2024, arXiv:2406.03488): 1F1B over slices of sequences. With
/// causal attention a slice reads the keys and values of the slices before it,
/// so forwards run from the first slice and backwards from the last. Bubble
/// (p-1)(F+B)/k for k slices of equal cost; rank 0 holds (p+k-1)/k microbatches.
///
///   rank 0  0F0.0 0F0.1 0F1.0 0B0.1 0F1.1 0B0.0 0B1.1 0B1.0
///   rank 1  1F0.0 1F0.1 1B0.1 1F1.0 1B0.0 1F1.1 1B1.1 1B1.0
///
/// Equals sail-sg/zero-bubble-pipeline-parallelism's scheduler/seq1f1b.py (warm-up
/// min(p - r - 2 + k, mk)). With one slice it is 1F1B.
namespace debubble {
namespace {

Reason why_not_seq_1f1b(const PipelineShape& shape, const GeneratorOptions&) {
    return shape_reason(shape, {.stages_per_rank = 1, .slices = true});
}

Schedule seq_one_f_one_b(const PipelineShape& shape, const GeneratorOptions&) {
    const int k = shape.slices;
    const auto slice = [&](int index) -> std::optional<std::int16_t> {
        if (k == 1) return std::nullopt;
        return static_cast<std::int16_t>(index);
    };
    Schedule schedule = empty_schedule("seq-1f1b", shape);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        Alternation turns{.forwards = {}, .backwards = {}, .warm_up = shape.ranks - rank - 2 + k};
        for (int mb = 0; mb < shape.micro_batches; ++mb)
            for (int i = 0; i < k; ++i) {
                turns.forwards.push_back({rank, {mb, slice(i)}});
                turns.backwards.push_back({rank, {mb, slice(k - 1 - i)}});
            }
        write(turns, schedule.ranks[rank]);
    }
    return schedule;
}

}  // namespace

Generator seq_1f1b_row() {
    return {.name = "seq-1f1b",
            .summary = "1F1B over slices of sequences, for causal attention",
            .source = "arXiv:2406.03488",
            .make = seq_one_f_one_b,
            .why_not = why_not_seq_1f1b,
            .stages_per_rank = 1};
}

}  // namespace debubble

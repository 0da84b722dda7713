#include <algorithm>

#include <fmt/format.h>

#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Chimera (Li and Hoefler, 2021, arXiv:2107.06925): two 1F1B pipelines in
/// opposite directions over the same ranks, merged without a collision. A unit
/// is p microbatches, the first half down from rank 0, the others up from rank
/// p-1; more units are concatenated directly (section 3.5; its forward doubling
/// and backward halving are not here). With B = 2F one unit has a bubble of
/// 2(p-2) forwards; a rank holds between p/2 + 1 and p microbatches.
///
///   rank 0  0F0 1F1 1B1 0B0 0F2 1F3 1B3 0B2
///   rank 1  0F1 1F0 1B0 0B1 0F3 1F2 1B2 0B3
namespace debubble {
namespace {

/// A pass and its slot on a clock on which F and B take equally long.
struct ClockedPass {
    int at;
    Compute compute;
};

void add_slots(int ranks, int stage, int mb, std::vector<ClockedPass>& slots) {
    const int unit = mb / ranks;
    const int turn = mb % (ranks / 2);
    const int start = 2 * ranks * unit + 2 * turn;
    slots.push_back({start + stage, {Pass::Forward, Stage{stage}, {mb, {}}}});
    slots.push_back({start + 2 * ranks - 1 - stage, {Pass::Backward, Stage{stage}, {mb, {}}}});
}

Reason why_not_chimera(const PipelineShape& shape, const GeneratorOptions&) {
    if (Reason reason = shape_reason(shape, {.stages_per_rank = 1})) return reason;
    if (shape.ranks % 2 != 0)
        return fmt::format("it needs an even number of ranks, and {} is odd", shape.ranks);
    if (shape.micro_batches % shape.ranks != 0)
        return fmt::format(
            "a unit is {} microbatches, one per rank, and {} is not a multiple of that",
            shape.ranks, shape.micro_batches);
    return std::nullopt;
}

Schedule chimera(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("chimera", shape, bidirectional_placement(shape.ranks));
    std::vector<ClockedPass> slots;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        slots.clear();
        for (int mb = 0; mb < shape.micro_batches; ++mb) {
            const bool down = mb % shape.ranks < shape.ranks / 2;
            add_slots(shape.ranks, down ? rank : shape.ranks - 1 - rank, mb, slots);
        }
        std::sort(slots.begin(), slots.end(),
                  [](const ClockedPass& a, const ClockedPass& b) { return a.at < b.at; });
        for (const ClockedPass& slot : slots) schedule.ranks[rank].push_back(slot.compute);
    }
    return schedule;
}

}  // namespace

Generator chimera_row() {
    return {.name = "chimera",
            .summary = "two 1F1B pipelines in opposite directions, two copies of the parameters",
            .source = "arXiv:2107.06925",
            .make = chimera,
            .why_not = why_not_chimera,
            .stages_per_rank = 1};
}

}  // namespace debubble

#include <algorithm>

#include "schedule/generators/alternation.h"
#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Looped BFS (breadth-first pipeline parallelism; Lamy-Poirier, 2022,
/// arXiv:2211.05953): all microbatches pass the first chunk, then the second, ...;
/// the backwards come the same way back. Interleaving's bubble (p-1)(F+B)/v for
/// m >= p with GPipe's memory; each chunk's gradients are complete at once,
/// which sharded data parallelism needs.
///
///   rank 0  0F0 0F1 0F2 2F0 2F1 2F2 2B2 2B1 2B0 0B2 0B1 0B0
///   rank 1  1F0 1F1 1F2 3F0 3F1 3F2 3B2 3B1 3B0 1B2 1B1 1B0
///
/// Equals PyTorch 2.6's ScheduleLoopedBFS, run for p <= 8, v <= 4, m <= 64: it, too, takes the last
/// microbatch back first.
namespace debubble {
namespace {

Schedule looped_bfs(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("looped-bfs", shape);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        const std::vector<Turn> forwards = looped_forwards(shape, rank, shape.micro_batches);
        std::vector<Turn> backwards = forwards;
        std::ranges::reverse(backwards);
        write({.forwards = forwards,
               .backwards = backwards,
               .warm_up = static_cast<int>(forwards.size())},
              schedule.ranks[rank]);
    }
    return schedule;
}

}  // namespace

Generator looped_bfs_row() {
    return {.name = "looped-bfs",
            .summary = "several chunks per rank, breadth first",
            .source = "arXiv:2211.05953",
            .make = looped_bfs,
            .why_not = any_stages_per_rank};
}

}  // namespace debubble

#include "schedule/placement.h"

#include <algorithm>

namespace debubble {

int Placement::stage_count() const {
    int count = 0;
    for (const auto& row : stages)
        for (const Stage stage : row) count = std::max(count, stage.index + 1);
    return count;
}

std::vector<Rank> Placement::ranks_of(Stage stage) const {
    std::vector<Rank> holders;
    for (int rank = 0; rank < ranks(); ++rank)
        if (std::ranges::find(stages[rank], stage) != stages[rank].end())
            holders.push_back(Rank{rank});
    return holders;
}

std::string Placement::name() const {
    const int p = ranks();
    if (p == 0) return "custom";
    const int per_rank = static_cast<int>(stages.front().size());
    if (*this == loop_placement(p, per_rank)) return "loop";
    if (*this == v_placement(p)) return "v";
    if (p % 2 == 0 && *this == bidirectional_placement(p)) return "bidirectional";
    return "custom";
}

Placement loop_placement(int ranks, int stages_per_rank) {
    Placement placement{std::vector<std::vector<Stage>>(ranks)};
    for (int rank = 0; rank < ranks; ++rank)
        for (int chunk = 0; chunk < stages_per_rank; ++chunk)
            placement.stages[rank].push_back(Stage{chunk * ranks + rank});
    return placement;
}

Placement v_placement(int ranks) {
    Placement placement;
    for (int rank = 0; rank < ranks; ++rank)
        placement.stages.push_back({Stage{rank}, Stage{2 * ranks - 1 - rank}});
    return placement;
}

Placement bidirectional_placement(int ranks) {
    Placement placement;
    for (int rank = 0; rank < ranks; ++rank)
        placement.stages.push_back({Stage{rank}, Stage{ranks - 1 - rank}});
    return placement;
}

}  // namespace debubble

#include "schedule/placement.h"

#include <algorithm>
#include <cassert>

namespace debubble {
namespace {

thread_local std::int64_t entries_read = 0;

}  // namespace

int Placement::stage_count() const {
    int count = 0;
    for (const auto& row : stages) {
        for (const Stage stage : row) count = std::max(count, stage.index + 1);
        entries_read += static_cast<std::int64_t>(row.size());
    }
    return count;
}

std::vector<Rank> Placement::ranks_of(Stage stage) const {
    std::vector<Rank> holders;
    for (int rank = 0; rank < ranks(); ++rank) {
        if (std::ranges::find(stages[rank], stage) != stages[rank].end())
            holders.push_back(Rank{rank});
        entries_read += static_cast<std::int64_t>(stages[rank].size());
    }
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

PlacementIndex::PlacementIndex(const Placement& placement)
    : first_of_stage_(static_cast<std::size_t>(placement.stage_count()) + 1) {
    std::size_t entries = 0;
    for (const auto& row : placement.stages) {
        first_of_rank_.push_back(entries);
        entries += row.size();
        for (const Stage stage : row)
            if (++first_of_stage_[stage.index + 1] == 1) ++held_;
    }
    first_of_rank_.push_back(entries);
    for (std::size_t i = 1; i < first_of_stage_.size(); ++i)
        first_of_stage_[i] += first_of_stage_[i - 1];
    std::vector<std::size_t> next(first_of_stage_.begin(), first_of_stage_.end() - 1);
    holders_.resize(entries);
    entries_.resize(entries);
    std::size_t entry = 0;
    for (int rank = 0; rank < placement.ranks(); ++rank)
        for (const Stage stage : placement.stages[rank]) {
            const std::size_t at = next[stage.index]++;
            holders_[at] = Rank{rank};
            entries_[at] = entry++;
        }
    entries_read += static_cast<std::int64_t>(entries);
}

std::span<const Rank> PlacementIndex::ranks_of(Stage stage) const {
    const std::size_t first = first_of_stage_[stage.index];
    return std::span(holders_).subspan(first, first_of_stage_[stage.index + 1] - first);
}

std::size_t PlacementIndex::entry_of(Rank rank, Stage stage) const {
    const std::span<const Rank> holders = ranks_of(stage);
    // Most stages have one holder, and this is asked for every action.
    const auto at = holders.size() == 1 ? holders.begin() : std::ranges::lower_bound(holders, rank);
    assert(at != holders.end() && *at == rank && "the rank holds the stage");
    return entries_[first_of_stage_[stage.index] + (at - holders.begin())];
}

std::int64_t placement_entries_read() {
    return entries_read;
}

}  // namespace debubble

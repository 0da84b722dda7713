#include "schedule/lower.h"
#include "schedule/passes/edit.h"
#include "schedule/progress.h"

namespace debubble {

Schedule receive_in_time(Schedule schedule) {
    const std::vector<Move> moves = moves_against_jams(schedule);
    if (moves.empty()) return schedule;
    std::vector<Edit> edits(schedule.ranks.begin(), schedule.ranks.end());
    for (const Move& move : moves) edits[move.rank.index].move(move.from, move.before);
    for (std::size_t r = 0; r < edits.size(); ++r) schedule.ranks[r] = std::move(edits[r]).apply();
    return schedule;
}

}  // namespace debubble

#include "schedule/lower.h"
#include "schedule/passes/edit.h"
#include "schedule/progress.h"

namespace debubble {

Schedule receive_in_time(Schedule schedule) {
    std::vector<Edit> edits(schedule.ranks.begin(), schedule.ranks.end());
    for (const Move& move : moves_against_jams(schedule))
        edits[move.rank.index].move(move.from, move.before);
    for (std::size_t r = 0; r < edits.size(); ++r) schedule.ranks[r] = std::move(edits[r]).apply();
    return schedule;
}

}  // namespace debubble

#include <utility>

#include "schedule/passes/edit.h"
#include "schedule/passes/passes.h"
#include "schedule/standstill.h"

namespace debubble {

void receive_in_time(Lowering& lowering) {
    Schedule& schedule = lowering.schedule;
    if (lowering.messages == MessagePlacement::InBatches) {
        lowering.finishes = exchanged_messages(schedule, Transport::Batched).empty() &&
                            !find_standstill(schedule, Transport::Batched);
        return;
    }
    const Unjamming found = moves_against_jams(schedule);
    lowering.finishes = found.finishes;
    if (found.moves.empty()) return;
    std::vector<Edit> edits(schedule.ranks.begin(), schedule.ranks.end());
    for (const Move& move : found.moves) edits[move.rank.index].move(move.from, move.before);
    for (std::size_t r = 0; r < edits.size(); ++r) schedule.ranks[r] = std::move(edits[r]).apply();
}

}  // namespace debubble

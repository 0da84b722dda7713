#include <utility>

#include "schedule/passes/edit.h"
#include "schedule/passes/messages.h"
#include "schedule/passes/passes.h"
#include "schedule/progress.h"
#include "schedule/streams.h"

namespace debubble {

InTime received_in_time(Schedule schedule) {
    const Unjamming found = moves_against_jams(schedule);
    if (found.moves.empty()) return {std::move(schedule), found.finishes};
    std::vector<Edit> edits(schedule.ranks.begin(), schedule.ranks.end());
    for (const Move& move : found.moves) edits[move.rank.index].move(move.from, move.before);
    for (std::size_t r = 0; r < edits.size(); ++r) schedule.ranks[r] = std::move(edits[r]).apply();
    return {std::move(schedule), found.finishes};
}

Schedule receive_in_time(Schedule schedule) {
    return received_in_time(std::move(schedule)).schedule;
}

Schedule with_messages(const Schedule& compute_only, const LowerOptions& options,
                       const std::function<Schedule(Schedule)>& rest) {
    const auto in_step = [&] {
        return received_in_time(rest(add_send_recv_in_step(compute_only)));
    };
    if (shares_streams(options.transport)) {
        if (options.transport != Transport::Batched) return in_step().schedule;
        Schedule batches = rest(add_send_recv_in_batches(compute_only));
        const bool finishes = exchanged_messages(batches, Transport::Batched).empty() &&
                              !find_standstill(batches, Transport::Batched);
        return finishes ? std::move(batches) : in_step().schedule;
    }
    InTime wished = received_in_time(rest(add_send_recv(compute_only, options)));
    if (wished.finishes) return std::move(wished.schedule);
    InTime played = in_step();
    return std::move(played.finishes ? played.schedule : wished.schedule);
}

}  // namespace debubble

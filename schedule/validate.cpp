#include "schedule/validate.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "schedule/checks/checks.h"
#include "schedule/passes/messages.h"
#include "schedule/progress.h"

namespace debubble {
namespace {

bool has_messages(const Schedule& schedule) {
    return std::ranges::any_of(schedule.ranks, [](const ActionList& list) {
        return std::ranges::any_of(list, [](const Action& a) {
            return std::holds_alternative<Send>(a) || std::holds_alternative<Recv>(a);
        });
    });
}

/// The position in `list` of the action at `position` of `lowered`, which has some sends and
/// receives more; for one of these, the position of the next action that `list` has.
std::size_t position_without_messages(const ActionList& lowered, std::size_t position,
                                      const ActionList& list) {
    std::size_t without = 0;
    for (std::size_t i = 0; i < std::min(position, lowered.size()); ++i)
        if (!std::holds_alternative<Send>(lowered[i]) && !std::holds_alternative<Recv>(lowered[i]))
            ++without;
    return std::min(without, list.size());
}

std::vector<Violation> validate(const Schedule& schedule, std::span<const Transport> transports) {
    Findings findings;
    if (schedule.placement.ranks() != static_cast<int>(schedule.ranks.size())) {
        findings.add(Violation::Kind::Misplaced, Rank{0}, 0,
                     fmt::format("{} lists for a placement on {} ranks", schedule.ranks.size(),
                                 schedule.placement.ranks()));
        return std::move(findings).take();
    }
    check_computes(schedule, findings);
    const bool lowered = has_messages(schedule);
    if (findings.empty() && lowered) check_messages(schedule, findings);
    const bool can_play = findings.empty();
    check_collectives(schedule, findings);
    if (!can_play) return std::move(findings).take();

    const auto as_it_is = [](Schedule sending) { return sending; };
    const Program program = lowered ? schedule : with_messages(schedule, {}, as_it_is);
    std::vector<std::string> told;
    for (const Transport transport : transports) {
        const auto stop = find_standstill(program, transport);
        if (!stop || std::ranges::find(told, stop->sentence) != told.end()) continue;
        told.push_back(stop->sentence);
        const int r = stop->rank.index;
        findings.add(Violation::Kind::Deadlock, stop->rank,
                     lowered ? stop->position
                             : position_without_messages(program.ranks[r], stop->position,
                                                         schedule.ranks[r]),
                     stop->sentence);
    }
    return std::move(findings).take();
}

}  // namespace

std::vector<Violation> validate(const Schedule& schedule, Transport transport) {
    return validate(schedule, std::array{transport});
}

std::vector<Violation> validate(const Schedule& schedule) {
    return validate(
        schedule, std::array{Transport::Buffered, Transport::Rendezvous, Transport::IssueOrdered});
}

}  // namespace debubble

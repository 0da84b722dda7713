#include "schedule/validate.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "schedule/checks/checks.h"
#include "schedule/lower.h"
#include "schedule/standstill.h"

namespace debubble {
namespace {

bool has_messages(const Schedule& schedule) {
    return std::ranges::any_of(schedule.ranks, [](const ActionList& list) {
        return std::ranges::any_of(list, [](const Action& a) {
            return std::holds_alternative<Send>(a) || std::holds_alternative<Recv>(a);
        });
    });
}

/// The position in `list` of the action at `position` of `lowered`, which has additional sends and
/// receives; for one of these, the position of the next action that `list` has.
std::size_t position_without_messages(const ActionList& lowered, std::size_t position,
                                      const ActionList& list) {
    std::size_t without = 0;
    for (std::size_t i = 0; i < std::min(position, lowered.size()); ++i)
        if (!std::holds_alternative<Send>(lowered[i]) && !std::holds_alternative<Recv>(lowered[i]))
            ++without;
    return std::min(without, list.size());
}

/// The order with its sends and receives, placed as by lower() if it has none.
Program sent_over(const Schedule& schedule, Transport transport) {
    if (has_messages(schedule)) return schedule;
    LowerOptions options;
    options.transport = transport;
    std::vector<LoweringPass> of_messages;
    for (const LoweringPass& pass : lowering_passes())
        if (pass.is_of_messages) of_messages.push_back(pass);
    return lower_by(of_messages, schedule, options);
}

/// Messages that never match on the transport, or that match the wrong ones. Precondition: nothing
/// else is wrong with the order.
std::vector<Violation> waits_on(const Schedule& schedule, const Program& program,
                                Transport transport) {
    const bool lowered = has_messages(schedule);
    std::vector<Violation> violations;
    const auto add = [&](Violation::Kind kind, Rank rank, std::size_t position,
                         const std::string& sentence) {
        violations.push_back({kind, rank,
                              lowered ? position
                                      : position_without_messages(program.ranks[rank], position,
                                                                  schedule.ranks[rank]),
                              sentence});
    };
    if (transport != Transport::Buffered)
        for (const Exchanged& two : exchanged_messages(program, transport))
            add(Violation::Kind::Exchanged, two.to, two.position, two.sentence);
    // Edges of their own match messages by name, which cannot mismatch here.
    if (!violations.empty() && !shares_streams(transport)) return violations;
    if (const auto stop = find_standstill(program, transport))
        add(Violation::Kind::Deadlock, stop->rank, stop->position, stop->sentence);
    return violations;
}

/// Precondition: lower() places messages in the same way for all of the transports.
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

    std::vector<std::string> told;
    const Program program = sent_over(schedule, transports.front());
    for (const Transport transport : transports)
        for (const Violation& violation : waits_on(schedule, program, transport)) {
            if (std::ranges::find(told, violation.message) != told.end()) continue;
            told.push_back(violation.message);
            findings.add(violation.kind, violation.rank, violation.position, violation.message);
        }
    return std::move(findings).take();
}

}  // namespace

std::vector<Violation> validate(const Schedule& schedule, Transport transport) {
    return validate(schedule, std::array{transport});
}

std::vector<Violation> validate(const Schedule& schedule) {
    return validate(schedule,
                    std::array{Transport::Buffered, Transport::Own, Transport::IssueOrdered});
}

std::vector<TransportVerdict> judge_transports(const Schedule& schedule) {
    std::vector<TransportVerdict> verdicts;
    for (const NamedTransport& named : kTransports)
        verdicts.push_back(
            {named.transport,
             waits_on(schedule, sent_over(schedule, named.transport), named.transport)});
    return verdicts;
}

}  // namespace debubble

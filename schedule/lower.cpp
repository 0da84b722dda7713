#include "schedule/lower.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "schedule/passes/passes.h"

namespace debubble {
namespace {

template <class... Kinds>
bool has(const Schedule& schedule) {
    return std::ranges::any_of(schedule.ranks, [](const ActionList& list) {
        return std::ranges::any_of(list, [](const Action& action) {
            return (std::holds_alternative<Kinds>(action) || ...);
        });
    });
}

void place_messages(Lowering& lowering) {
    Schedule computes = std::move(lowering.schedule);
    switch (lowering.messages) {
        case MessagePlacement::AtComputes:
            lowering.schedule = add_send_recv(std::move(computes), lowering.options);
            return;
        case MessagePlacement::InBatches:
            lowering.schedule = add_send_recv_in_batches(std::move(computes));
            return;
        case MessagePlacement::InStep:
            lowering.schedule = add_send_recv_in_step(std::move(computes));
            return;
    }
}

template <Schedule (*add)(Schedule, const LowerOptions&)>
void with(Lowering& lowering) {
    lowering.schedule = add(std::move(lowering.schedule), lowering.options);
}

constexpr std::array kLoweringPasses{
    LoweringPass{
        "send-recv",
        "First, because messages follow from the computes alone, and what the other passes "
        "add stands after the sends of a result.",
        true, has<Send, Recv>, place_messages},
    LoweringPass{
        "reduce-grad",
        "After the sends, so that no stage waits for its input until gradients are reduced.", false,
        has<ReduceGrad>, with<add_reduce_grad>},
    LoweringPass{
        "tied-grad",
        "After the reductions of the same rank, so that all ranks list their collectives in "
        "one order.",
        false, has<TiedGradReduce>, with<add_tied_grad>},
    LoweringPass{"optimizer", "After all gradients are summed: the norm and the step need them.",
                 false, has<GradNorm, OptimizerStep>, with<add_optimizer>},
    LoweringPass{"unshard-reshard",
                 "After the step, because ZeRO-1 and 2 gather what it has written.", false,
                 has<Unshard, Reshard>, with<add_unshard_reshard>},
    LoweringPass{"receive-in-time",
                 "Last, because collectives are waited for like messages, and what jams depends on "
                 "all of them.",
                 true, has<Send, Recv>, receive_in_time},
};

/// The placements to try, the best first; the last one is used whether it finishes or not. Streams
/// that messages share (Pair, Group) always have them in step, as PyTorch has.
std::vector<MessagePlacement> placements_for(Transport transport) {
    using enum MessagePlacement;
    if (transport == Transport::Batched) return {InBatches, InStep};
    if (shares_streams(transport)) return {InStep};
    return {AtComputes, InStep, AtComputes};
}

Lowering lowered(std::span<const LoweringPass> passes, const Schedule& order,
                 const LowerOptions& options) {
    Lowering lowering;
    for (const MessagePlacement messages : placements_for(options.transport)) {
        lowering = {order, options, messages};
        for (const LoweringPass& pass : passes) pass.run(lowering);
        if (lowering.finishes) break;
    }
    return lowering;
}

/// "SEND" for "0SEND_F2", "F" for "0F2", "OVERLAP_F_B" for a pair: the letters and bars of the
/// text.
std::string word_of(const Action& action) {
    if (std::holds_alternative<Send>(action)) return "SEND";
    if (std::holds_alternative<Recv>(action)) return "RECV";
    std::string word;
    for (const char c : to_text(action))
        if ((c >= 'A' && c <= 'Z') || c == '_') word += c;
    return word;
}

/// Compares the lists by the texts of their actions: the new ones, and those of the actions in both
/// lists that follow another one than before.
void add_changes(const ActionList& before, const ActionList& after, PassChanges& changes) {
    std::map<std::string, std::size_t> known;
    for (const Action& action : before) ++known[to_text(action)];
    std::vector<std::string> kept;
    for (const Action& action : after) {
        std::string text = to_text(action);
        if (const auto found = known.find(text); found != known.end() && found->second > 0) {
            --found->second;
            kept.push_back(std::move(text));
        } else {
            ++changes.added[word_of(action)];
        }
    }
    std::multiset<std::string> ahead;  // its successors in `before`
    std::size_t at = 0;
    for (const std::string& text : kept) {
        for (; at < before.size(); ++at) {
            const auto found = ahead.find(to_text(before[at]));
            if (found == ahead.end()) break;
            ahead.erase(found);
        }
        if (at < before.size() && to_text(before[at]) == text) {
            ++at;
        } else {
            ahead.insert(text);
            ++changes.moved;
        }
    }
}

}  // namespace

std::span<const LoweringPass> lowering_passes() {
    return kLoweringPasses;
}

Program lower_by(std::span<const LoweringPass> passes, Schedule order,
                 const LowerOptions& options) {
    return lowered(passes, order, options).schedule;
}

Program lower(Schedule compute_only, const LowerOptions& options) {
    return lower_by(kLoweringPasses, std::move(compute_only), options);
}

PartlyLowered lower_to(std::string_view last, Schedule compute_only, const LowerOptions& options) {
    const auto end = std::ranges::find(kLoweringPasses, last, &LoweringPass::name);
    if (end == kLoweringPasses.end()) {
        std::vector<std::string_view> names;
        for (const LoweringPass& pass : kLoweringPasses) names.push_back(pass.name);
        throw InputError(
            fmt::format("there is no pass '{}'; the passes are {}", last, fmt::join(names, ", ")));
    }
    Lowering lowering;
    lowering.messages = lowered(kLoweringPasses, compute_only, options).messages;
    lowering.options = options;
    lowering.schedule = std::move(compute_only);
    PartlyLowered result;
    for (auto pass = kLoweringPasses.begin(); pass <= end; ++pass) {
        const Schedule before = lowering.schedule;
        pass->run(lowering);
        PassChanges& changes = result.changes.emplace_back();
        changes.pass = pass->name;
        changes.reason = pass->reason;
        for (std::size_t r = 0; r < before.ranks.size(); ++r)
            add_changes(before.ranks[r], lowering.schedule.ranks[r], changes);
    }
    result.schedule = std::move(lowering.schedule);
    return result;
}

}  // namespace debubble

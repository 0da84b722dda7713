#include "schedule/communicators.h"

#include <algorithm>
#include <map>

namespace debubble {
namespace {

/// Identifies a communicator: its purpose, then ranks or a stage.
struct Key {
    int purpose = 0;
    int first = 0;
    int second = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
};
constexpr int kNone = -1;
constexpr int kReduces = 2;  ///< smaller values are the kinds of messages
constexpr int kTied = 3;
constexpr int kNorm = 4;

/// Has the purpose kNone for an action that does not communicate.
Key key_of(const Action& action, int rank) {
    if (const auto* s = std::get_if<Send>(&action))
        return {static_cast<int>(s->message.kind), rank, s->to.index};
    if (const auto* r = std::get_if<Recv>(&action))
        return {static_cast<int>(r->message.kind), r->from.index, rank};
    if (const auto* r = std::get_if<ReduceGrad>(&action)) return {kReduces, r->stage.index, 0};
    if (std::holds_alternative<TiedGradReduce>(action)) return {kTied, 0, 0};
    if (std::holds_alternative<GradNorm>(action)) return {kNorm, 0, 0};
    return {kNone, 0, 0};
}

}  // namespace

Communicators::Communicators(const Program& program) {
    std::map<Key, int> known;
    /// The communicators of one rank, of which there are few.
    std::vector<std::pair<Key, Part>> joined;
    const auto join = [&](const Key& key, int r) {
        const auto [entry, is_new] = known.try_emplace(key, static_cast<int>(all_.size()));
        if (is_new) {
            Communicator& made = all_.emplace_back();
            made.is_channel = key.purpose < kReduces;
            if (made.is_channel) made.sides = {{Rank{key.first}, {}}, {Rank{key.second}, {}}};
        }
        auto& sides = all_[entry->second].sides;
        auto side = std::ranges::find(sides, Rank{r}, &Communicator::Side::rank);
        if (side == sides.end()) side = sides.insert(side, {Rank{r}, {}});
        joined.push_back({key, {entry->second, static_cast<int>(side - sides.begin()), 0}});
        of_rank_.back().push_back(joined.back().second);
        return joined.back().second;
    };
    for (int r = 0; r < static_cast<int>(program.ranks.size()); ++r) {
        const ActionList& list = program.ranks[r];
        std::vector<Part>& parts = parts_.emplace_back(list.size());
        of_rank_.emplace_back();
        joined.clear();
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Key key = key_of(list[i], r);
            if (key.purpose == kNone) continue;
            const auto found = std::ranges::find(joined, key, &std::pair<Key, Part>::first);
            Part part = found != joined.end() ? found->second : join(key, r);
            auto& positions = all_[*part.communicator].sides[part.side].positions;
            part.number = positions.size();
            parts[i] = part;
            positions.push_back(i);
        }
    }
}

}  // namespace debubble

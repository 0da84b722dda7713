#include "schedule/communicators.h"

#include <algorithm>
#include <array>
#include <map>

namespace debubble {
namespace {

/// Identifies a communicator: its purpose, then ranks or a stage.
using Key = std::array<int, 3>;

std::optional<Key> key_of(const Action& action, int rank) {
    return std::visit(
        Overloaded{
            [&](const Send& s) {
                return std::optional(Key{static_cast<int>(s.message.kind), rank, s.to.index});
            },
            [&](const Recv& r) {
                return std::optional(Key{static_cast<int>(r.message.kind), r.from.index, rank});
            },
            [](const ReduceGrad& r) {
                return std::optional(Key{2, r.stage.index, 0});
            },
            [](const TiedGradReduce&) {
                return std::optional(Key{3, 0, 0});
            },
            [](const GradNorm&) {
                return std::optional(Key{4, 0, 0});
            },
            [](const auto&) { return std::optional<Key>{}; },
        },
        action);
}

}  // namespace

Communicators::Communicators(const Program& program) {
    std::map<Key, int> known;
    /// Of one rank, which has a handful.
    std::vector<std::pair<Key, Part>> joined;
    const auto join = [&](const Key& key, int r) {
        const auto [entry, is_new] = known.try_emplace(key, static_cast<int>(all_.size()));
        if (is_new) {
            Communicator& made = all_.emplace_back();
            made.is_channel = key[0] < 2;
            if (made.is_channel) made.sides = {{Rank{key[1]}, {}}, {Rank{key[2]}, {}}};
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
            const auto key = key_of(list[i], r);
            if (!key) continue;
            const auto found = std::ranges::find(joined, *key, &std::pair<Key, Part>::first);
            Part part = found != joined.end() ? found->second : join(*key, r);
            auto& positions = all_[part.communicator].sides[part.side].positions;
            part.number = positions.size();
            parts[i] = part;
            positions.push_back(i);
        }
    }
}

}  // namespace debubble

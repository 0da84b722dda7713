#include "schedule/replay/replay.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace debubble {
namespace {

/// The ranks on the chain of waits from `rank`, until one recurs or the chain ends. `closed` says
/// which.
std::vector<Rank> follow(const std::vector<std::optional<Wait>>& waits, Rank rank, bool& closed) {
    std::vector<Rank> path;
    std::vector<bool> seen(waits.size(), false);
    closed = false;
    while (!seen[rank.index]) {
        seen[rank.index] = true;
        path.push_back(rank);
        const auto& wait = waits[rank.index];
        if (!wait->on || !waits[wait->on->index]) return path;
        rank = *wait->on;
    }
    closed = true;
    path.erase(path.begin(), std::ranges::find(path, rank));
    return path;
}

}  // namespace

WaitingCycle waiting_cycle(const std::vector<std::optional<Wait>>& waits) {
    const auto first = std::ranges::find_if(waits, [](const auto& w) { return w.has_value(); });
    assert(first != waits.end() && "a deadlock has a rank that waits");
    bool closed = false;
    WaitingCycle cycle;
    cycle.ranks = follow(waits, Rank{static_cast<int>(first - waits.begin())}, closed);
    if (closed)
        std::rotate(cycle.ranks.begin(), std::ranges::min_element(cycle.ranks), cycle.ranks.end());

    for (std::size_t i = 0; i < cycle.ranks.size(); ++i) {
        const Wait& wait = *waits[cycle.ranks[i].index];
        cycle.sentence += i == 0 ? fmt::format("rank {} waits", cycle.ranks[i].index)
                                 : std::string(", which waits");
        cycle.sentence += fmt::format(" at {} for {}", wait.at, wait.needs);
    }
    return cycle;
}

}  // namespace debubble

#include "trace/profile/passes/message_ends.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "schedule/dependencies.h"

namespace debubble::profile {
namespace {

struct MessageKey {
    std::int32_t replica = 0;
    int step = 0;
    Message message;
    friend auto operator<=>(const MessageKey&, const MessageKey&) = default;
};

/// The peer of a message whose other end was not recorded is the rank of the neighbouring stage.
void peers_of_lonely(std::vector<RankActions>& ranks, const std::vector<Place>& places,
                     const EndPairs& pairs) {
    std::map<int, Rank> holder;
    for (std::size_t r = 0; r < ranks.size(); ++r)
        for (const TimedAction& timed : ranks[r].actions)
            for_each_compute(timed.action, [&](const Compute& compute) {
                holder.try_emplace(compute.stage.index, places[r].rank);
            });
    std::set<std::pair<std::size_t, std::size_t>> paired;
    for (const auto& [send, recv] : pairs) {
        paired.insert({send.rank, send.action});
        paired.insert({recv.rank, recv.action});
    }
    for (std::size_t r = 0; r < ranks.size(); ++r)
        for (std::size_t a = 0; a < ranks[r].actions.size(); ++a) {
            if (paired.contains({r, a})) continue;
            Action& lonely = ranks[r].actions[a].action;
            if (auto* send = std::get_if<Send>(&lonely)) {
                const bool up = send->message.kind == Message::Kind::Activation;
                const auto to = holder.find(send->message.producer.index + (up ? 1 : -1));
                if (to != holder.end()) send->to = to->second;
            }
            if (auto* recv = std::get_if<Recv>(&lonely)) {
                const auto from = holder.find(recv->message.producer.index);
                if (from != holder.end()) recv->from = from->second;
            }
        }
}

}  // namespace

MatchedMessages match_messages(std::vector<RankActions>& ranks, const std::vector<Place>& places) {
    const auto action = [&](const MessageEnd& end) -> TimedAction& {
        return ranks[end.rank].actions[end.action];
    };
    MatchedMessages matched;
    EndPairs& pairs = matched.pairs;
    std::map<MessageKey, MessageEnd> sends;
    std::map<MessageKey, MessageEnd> recvs;
    for (std::size_t r = 0; r < ranks.size(); ++r)
        for (std::size_t a = 0; a < ranks[r].actions.size(); ++a) {
            const TimedAction& timed = ranks[r].actions[a];
            const std::int32_t replica = places[r].replica;
            if (const auto* send = std::get_if<Send>(&timed.action))
                sends.try_emplace({replica, timed.step, send->message}, MessageEnd{r, a});
            if (const auto* recv = std::get_if<Recv>(&timed.action))
                recvs.try_emplace({replica, timed.step, recv->message}, MessageEnd{r, a});
        }
    for (const auto& [key, send] : sends) {
        const auto recv = recvs.find(key);
        if (recv == recvs.end()) {
            ++matched.alone;
            continue;
        }
        pairs.emplace_back(send, recv->second);
        std::get<Send>(action(send).action).to = places[recv->second.rank].rank;
        std::get<Recv>(action(recv->second).action).from = places[send.rank].rank;
    }
    matched.alone += recvs.size() - pairs.size();
    peers_of_lonely(ranks, places, pairs);
    return matched;
}

std::vector<ExchangeTimes> exchange_times(const std::vector<RankActions>& ranks,
                                          const EndPairs& pairs) {
    std::vector<ExchangeTimes> sums(ranks.size());
    const auto action = [&](const MessageEnd& end) -> const TimedAction& {
        return ranks[end.rank].actions[end.action];
    };
    std::vector<std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>> began(ranks.size());
    for (const auto& [send, recv] : pairs) {
        const TimedAction& s = action(send);
        const TimedAction& r = action(recv);
        const std::int64_t both = std::max(s.begin, r.begin);
        for (const auto& [end, timed] : {std::pair(send, &s), std::pair(recv, &r)}) {
            auto& ready = began[end.rank][{timed->begin, timed->end}];
            ready = std::max(ready, std::clamp(both, timed->begin, timed->end));
        }
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        ExchangeTimes& sum = sums[r];
        for (const auto& [kernel, ready] : began[r]) {
            ++sum.kernels;
            sum.total += Duration{kernel.second - kernel.first};
            sum.transfer += Duration{kernel.second - ready};
            sum.wait += Duration{ready - kernel.first};
        }
    }
    return sums;
}

}  // namespace debubble::profile

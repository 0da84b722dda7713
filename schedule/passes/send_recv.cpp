#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/dependencies.h"
#include "schedule/passes/edit.h"
#include "schedule/passes/passes.h"

namespace debubble {
namespace {

/// Another rank, and the kind of message that a rank sends to it or receives from it.
using Channel = std::pair<Rank, Message::Kind>;

/// A value for each channel of a rank, of which there are few.
template <class What>
using OnChannels = std::vector<std::pair<Channel, What>>;

template <class What>
What& on(OnChannels<What>& all, const Channel& channel) {
    for (auto& [known, what] : all)
        if (known == channel) return what;
    return all.emplace_back(channel, What{}).second;
}

/// For each result, its index among the messages of its channel, in sending order.
std::vector<std::size_t> sending_order(const Schedule& schedule, const ResultIndex& index,
                                       const Owners& owners) {
    std::vector<std::size_t> order(index.size(), 0);
    OnChannels<std::size_t> sent;
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
        sent.clear();
        for (const Action& action : schedule.ranks[r])
            for_each_compute(action, [&](const Compute& c) {
                const auto result = result_of(c);
                if (!result) return;
                const auto to = owners.consumer_of(*result);
                const Rank from{static_cast<int>(r)};
                if (to && *to != from) order[index.of(*result)] = on(sent, {*to, result->kind})++;
            });
    }
    return order;
}

/// A receive and the position of the compute that it precedes.
struct Arrival {
    std::size_t position;
    std::size_t order;
    Recv recv;
};

class ReceivePlacer {
public:
    ReceivePlacer(const Schedule& schedule, const LowerOptions& options)
        : schedule_(schedule),
          options_(options),
          index_(schedule),
          owners_(schedule),
          order_(sending_order(schedule, index_, owners_)) {}

    ActionList lower(Rank rank) const {
        const ActionList& list = schedule_.ranks[rank.index];
        Edit edit(list);
        for (std::size_t i = 0; i < list.size(); ++i)
            for_each_compute(list[i], [&](const Compute& c) {
                const auto result = result_of(c);
                const auto to = result ? owners_.consumer_of(*result) : std::nullopt;
                if (to && *to != rank) edit.after(i, Send{*result, *to});
            });
        for (const Arrival& arrival : arrivals(rank)) edit.before(arrival.position, arrival.recv);
        return std::move(edit).apply();
    }

private:
    /// The receives in the order in which they are listed. A channel delivers in the order of
    /// sending: a message that is needed late but sent early is received early.
    std::vector<Arrival> arrivals(Rank rank) const {
        const ActionList& list = schedule_.ranks[rank.index];
        OnChannels<std::vector<Arrival>> channels;
        for (std::size_t i = 0; i < list.size(); ++i)
            for_each_compute(list[i], [&](const Compute& c) {
                const auto input = neighbour_input_of(c, index_.stage_count());
                const auto from = input ? owners_.producer_of(*input) : std::nullopt;
                if (!from || *from == rank) return;
                const bool early = options_.receive == ReceivePlacement::Early;
                const std::size_t at = early ? compute_before(list, i) : i;
                on(channels, {*from, input->kind})
                    .push_back({at, order_[index_.of(*input)], Recv{*input, *from}});
            });
        std::ranges::sort(channels, {}, &std::pair<Channel, std::vector<Arrival>>::first);
        std::vector<Arrival> all;
        for (auto& [channel, arrivals] : channels) {
            if (!std::ranges::is_sorted(arrivals, {}, &Arrival::order))
                std::ranges::sort(arrivals, {}, &Arrival::order);
            std::size_t latest = list.size();
            for (auto it = arrivals.rbegin(); it != arrivals.rend(); ++it)
                latest = it->position = std::min(it->position, latest);
            const auto before = static_cast<std::ptrdiff_t>(all.size());
            all.insert(all.end(), arrivals.begin(), arrivals.end());
            std::ranges::inplace_merge(all, all.begin() + before, {}, &Arrival::position);
        }
        return all;
    }

    const Schedule& schedule_;
    const LowerOptions& options_;
    ResultIndex index_;
    Owners owners_;
    std::vector<std::size_t> order_;
};

}  // namespace

/// A Send directly follows the compute that makes its message.
Schedule add_send_recv(Schedule schedule, const LowerOptions& options) {
    const ReceivePlacer placer(schedule, options);
    std::vector<ActionList> lowered;
    lowered.reserve(schedule.ranks.size());
    for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank)
        lowered.push_back(placer.lower(Rank{rank}));
    schedule.ranks = std::move(lowered);
    return schedule;
}

}  // namespace debubble

#include "sim/engine/longest_path.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/parallel.h"

namespace debubble::sim {
namespace {

constexpr Instant kLatest{Duration{static_cast<Duration::rep>(kLongestSeconds * 1e9)}};

/// The time of bytes on links of their own, by the arithmetic of FlowNetwork; nothing if that is
/// too long.
std::optional<Duration> time_alone(Bytes bytes, std::span<const BytesPerSecond> capacity,
                                   std::span<const Link> links) {
    double rate = std::numeric_limits<double>::infinity();
    for (const Link link : links) rate = std::min(rate, capacity[link].value);
    const double length = static_cast<double>(bytes.count) / rate;
    if (!(rate > 0) || !(length <= kLongestSeconds)) return std::nullopt;
    return Duration{static_cast<Duration::rep>(std::ceil(length * 1e9))};
}

/// The times that flows spend on each link.
class LinkTimes {
public:
    explicit LinkTimes(std::size_t links) : uses_(links), next_check_(links, kFirstCheck) {}

    /// Returns false if the flow is found to meet another one on the link. Most are found late, by
    /// nobody_meets(), but those of a crowded link soon.
    bool use(Link link, Instant begin, Instant join, Instant end) {
        const auto at = static_cast<std::size_t>(link);
        uses_[at].push_back({begin, join, end});
        if (uses_[at].size() < next_check_[at]) return true;
        next_check_[at] *= 2;
        return are_apart(uses_[at]);
    }

    bool nobody_meets() {
        return std::ranges::all_of(uses_, [](std::vector<Use>& uses) { return are_apart(uses); });
    }

private:
    static constexpr std::size_t kFirstCheck = 8;

    struct Use {
        Instant begin;  ///< of the flow, whose latency comes first
        Instant join;   ///< begins to move
        Instant end;
    };

    /// Where one flow ends at the instant at which another begins to move, the event that was asked
    /// for first comes first: the end, if it was known when the other flow began.
    static bool are_apart(std::vector<Use>& uses) {
        if (!std::ranges::is_sorted(uses, {}, &Use::join)) std::ranges::sort(uses, {}, &Use::join);
        for (std::size_t i = 1; i < uses.size(); ++i) {
            const Use& a = uses[i - 1];
            const Use& b = uses[i];
            if (a.join == b.join || a.end > b.join) return false;
            if (a.end == b.join && b.begin <= a.join) return false;
        }
        return true;
    }

    std::vector<std::vector<Use>> uses_;
    std::vector<std::size_t> next_check_;
};

class LongestPath {
public:
    LongestPath(const TaskGraph& graph, std::span<const BytesPerSecond> links)
        : graph_(graph),
          times_(graph.tasks.size()),
          open_(graph.tasks.size()),
          links_(links.size()) {
        lengths_.reserve(graph.flows.size());
        for (const Flow& flow : graph.flows) lengths_.push_back(length_of(flow, links));
    }

    bool run(const std::stop_token& stop) {
        constexpr std::size_t kTasksBetween = 65'536;  // some ms
        if (std::ranges::any_of(lengths_, [](const Length& l) { return !l.known; })) return false;
        for (std::size_t id = 0; id < open_.size(); ++id) {
            open_[id] = graph_.tasks[id].open_edges;
            if (open_[id] == 0) ready_.push_back(static_cast<TaskId>(id));
        }
        while (!ready_.empty()) {
            if (ended_++ % kTasksBetween == 0) give_up_if(stop);
            const TaskId id = ready_.back();
            ready_.pop_back();
            if (!play(id)) return false;
        }
        return ended_ == open_.size() && links_.nobody_meets();
    }

    PlayedTasks result(bool in_order) {
        PlayedTasks played{std::move(times_), {}, ended_, events_};
        if (in_order) played.begun = in_order_of_begins(played.times);
        return played;
    }

private:
    /// A flow on links of its own.
    struct Length {
        bool known = true;
        bool moves = false;
        Duration first{};  ///< the bytes of Flow::bytes
        InlineVector<Duration, 2> also;
    };

    static constexpr Length kUnknown{false, false, {}, {}};

    static Length length_of(const Flow& flow, std::span<const BytesPerSecond> links) {
        Length length;
        length.moves = !flow.links.empty() && flow.bytes.count > 0;
        if (!length.moves) return length;
        const auto first = time_alone(flow.bytes, links, flow.links);
        if (!first) return kUnknown;
        length.first = *first;
        for (const LinkBytes& part : flow.also) {
            const auto time = time_alone(part.bytes, links, part.links);
            if (!time) return kUnknown;
            length.also.push_back(*time);
        }
        return length;
    }

    bool play(TaskId id) {
        const Task& task = graph_.tasks[id];
        TaskTimes& times = times_[id];
        const auto cost = static_cast<std::size_t>(task.cost);
        ++events_;
        if (!task.is_flow) {
            times.end = times.begin + graph_.compute_costs[cost].duration;
        } else {
            times.end = times.begin + graph_.flows[cost].latency;
            if (lengths_[cost].moves && !move(graph_.flows[cost], lengths_[cost], times))
                return false;
        }
        if (times.end > kLatest) return false;
        fire(graph_.after_begin.of(id), times.begin);
        fire(graph_.after_end.of(id), times.end);
        return true;
    }

    bool move(const Flow& flow, const Length& length, TaskTimes& times) {
        const Instant join = times.end;
        const auto part = [&](const auto& links, Duration time) {
            ++events_;
            times.end = std::max(times.end, join + time);
            return std::ranges::all_of(
                links, [&](Link link) { return links_.use(link, times.begin, join, join + time); });
        };
        if (!part(flow.links, length.first)) return false;
        const Duration* time = length.also.begin();
        return std::ranges::all_of(
            flow.also, [&](const LinkBytes& bytes) { return part(bytes.links, *time++); });
    }

    void fire(std::span<const TaskId> successors, Instant when) {
        for (const TaskId next : successors) {
            const auto at = static_cast<std::size_t>(next);
            times_[at].begin = std::max(times_[at].begin, when);
            if (--open_[at] == 0) ready_.push_back(next);
        }
    }

    /// Tasks by their begins: counts of 11 bits of them at a time, the lowest first.
    static std::vector<TaskId> in_order_of_begins(const std::vector<TaskTimes>& times) {
        constexpr unsigned kBits = 11;
        constexpr std::size_t kDigits = std::size_t{1} << kBits;
        const auto begin_of = [&](TaskId id) {
            return static_cast<std::uint64_t>((times[id].begin - Instant{}).count());
        };
        std::vector<TaskId> order(times.size());
        std::uint64_t latest = 0;
        for (std::size_t id = 0; id < order.size(); ++id) {
            order[id] = static_cast<TaskId>(id);
            latest = std::max(latest, begin_of(order[id]));
        }
        std::vector<TaskId> sorted(order.size());
        for (unsigned shift = 0; shift < 64 && latest >> shift != 0; shift += kBits) {
            std::array<std::uint32_t, kDigits + 1> place{};
            for (const TaskId id : order) ++place[(begin_of(id) >> shift) % kDigits + 1];
            for (std::size_t digit = 0; digit < kDigits; ++digit) place[digit + 1] += place[digit];
            for (const TaskId id : order) sorted[place[(begin_of(id) >> shift) % kDigits]++] = id;
            order.swap(sorted);
        }
        return order;
    }

    const TaskGraph& graph_;
    std::vector<TaskTimes> times_;
    std::vector<std::int32_t> open_;  ///< by task: edges that have not fired
    std::vector<Length> lengths_;     ///< by flow
    LinkTimes links_;
    std::vector<TaskId> ready_;
    std::size_t ended_ = 0;
    std::size_t events_ = 0;
};

}  // namespace

std::optional<PlayedTasks> play_longest_path(const TaskGraph& graph,
                                             std::span<const BytesPerSecond> links, bool in_order,
                                             const std::stop_token& stop) {
    LongestPath path(graph, links);
    if (!path.run(stop)) return std::nullopt;
    return path.result(in_order);
}

}  // namespace debubble::sim

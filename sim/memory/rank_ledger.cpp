#include "sim/memory/rank_ledger.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/overloaded.h"

namespace debubble::sim {
namespace {

/// Gives events their times.
class Clock {
public:
    Clock(const std::vector<MemoryEvent>& events, std::span<const ActionTimes> times)
        : events_(events), times_(times) {}

    Instant of(Moment moment) const {
        const ActionTimes& action = times_[moment.action];
        return moment.edge == Moment::Edge::Begin ? action.begin : action.end;
    }
    Instant of(const Release& r) const {
        const Instant then = of(r.at);
        return r.not_before ? std::max(then, of(*r.not_before)) : then;
    }
    const Allocation& allocation_of(const Release& r) const {
        return std::get<Allocation>(events_[r.allocation].what);
    }

private:
    const std::vector<MemoryEvent>& events_;
    std::span<const ActionTimes> times_;
};

bool is_message(Held held) {
    return held == Held::Received || held == Held::Sent;
}

/// The changes of one rank, in the order of its events.
class Collector {
public:
    Collector(const std::vector<MemoryEvent>& events, std::span<const ActionTimes> times)
        : events_(events), times_(times), clock_(events, times) {
        changes_.reserve(events.size() + times.size());
    }

    std::vector<LedgerChange> collect() {
        for (std::uint32_t i = 0; i < events_.size(); ++i) {
            event_ = i;
            action_ = events_[i].action;
            std::visit(
                Overloaded{[&](const Allocation& a) { add(clock_.of(a.at), a, a.bytes); },
                           [&](const Release& r) {
                               const Allocation& a = clock_.allocation_of(r);
                               add(clock_.of(r), a, Bytes{-a.bytes.count});
                           },
                           [&](const PassRuns&) { pass(); }, [&](const OptimizerRuns&) { pass(); },
                           [&](const SavedLeaves&) {
                               add(times_[action_].end, LedgerChange::What::SavedLeaves);
                           },
                           [&](const SavedReturns&) {
                               add(times_[action_].begin, LedgerChange::What::SavedReturns);
                           }},
                events_[i].what);
        }
        return std::move(changes_);
    }

private:
    LedgerChange& add(Instant when, LedgerChange::What what) {
        LedgerChange& change = changes_.emplace_back();
        change.when = when;
        change.what = what;
        change.event = event_;
        change.action = action_;
        change.held_as = MemoryClass::Activations;
        return change;
    }
    void add(Instant when, const Allocation& of, Bytes delta) {
        LedgerChange& change = add(when, LedgerChange::What::Memory);
        change.delta = delta;
        change.held_as = of.held_as;
        change.quiet = is_message(of.held);
    }
    /// Both passes of an Overlap run at the same time.
    void pass() {
        if (last_pass_ == action_) return;
        last_pass_ = action_;
        const ActionTimes& when = times_[action_];
        add(when.begin, LedgerChange::What::PassBegins);
        add(when.end, LedgerChange::What::PassEnds).at_once = when.begin == when.end;
    }

    const std::vector<MemoryEvent>& events_;
    std::span<const ActionTimes> times_;
    Clock clock_;
    std::uint32_t event_ = 0;
    std::uint32_t action_ = 0;
    std::optional<std::uint32_t> last_pass_;
    std::vector<LedgerChange> changes_;
};

/// Sorts values that are almost in order, each past the few greater ones before it; those that turn
/// out to be in another order are sorted from scratch. No two are equal.
template <class T, class Less = std::less<>>
void sort_almost_sorted(std::vector<T>& values, const Less& less = {}) {
    constexpr std::size_t kMostMoves = 8;  // of a value on average
    std::size_t moves = 0;
    for (std::size_t i = 1; i < values.size(); ++i) {
        const T value = values[i];
        std::size_t to = i;
        for (; to > 0 && less(value, values[to - 1]); --to) values[to] = values[to - 1];
        values[to] = value;
        moves += i - to;
        if (moves > kMostMoves * values.size())
            return std::sort(values.begin(), values.end(), less);
    }
}

std::uint32_t turn_of(const LedgerChange& change) {
    if (change.quiet) return 0;
    using enum LedgerChange::What;
    return change.what == PassBegins || change.what == PassEnds ? 1 : 2;
}

}  // namespace

Compute forward_of(const MemoryEvent& event) {
    if (const auto* leaves = std::get_if<SavedLeaves>(&event.what)) return leaves->forward;
    return std::get<SavedReturns>(event.what).forward;
}

RankLedger::RankLedger(const std::vector<MemoryEvent>& events, std::span<const ActionTimes> times)
    : changes_(Collector(events, times).collect()) {
    keys_.reserve(changes_.size());
    for (const LedgerChange& change : changes_) {
        const std::uint32_t allocates = change.allocates() ? 1U << 31 : 0;
        keys_.push_back({change.when, allocates | change.action << 2 | turn_of(change),
                         static_cast<std::uint32_t>(keys_.size())});
    }
    sort_almost_sorted(keys_);
}

namespace {

/// Where an event comes: in the gap before a pass, by the number of that pass, or the pass itself.
struct Place {
    std::uint32_t gap = 0;
    bool is_pass = false;
    bool allocates = false;
    Instant when;             ///< within the gap
    std::uint32_t event = 0;  ///< the order of the list

    friend bool operator<(const Place& a, const Place& b) {
        if (a.gap != b.gap) return a.gap < b.gap;
        if (a.is_pass != b.is_pass) return !a.is_pass;
        if (!a.is_pass && a.when != b.when) return a.when < b.when;
        if (!a.is_pass && a.allocates != b.allocates) return !a.allocates;
        return a.event < b.event;
    }
};

class Ordering {
public:
    Ordering(const std::vector<MemoryEvent>& events, std::span<const ActionTimes> times)
        : events_(events), times_(times), clock_(events, times) {
        std::optional<std::uint32_t> last;
        for (const MemoryEvent& event : events) {
            const bool runs = is_pass(event);
            if (runs && last != event.action) {
                passes_.push_back(times[event.action]);
                last = event.action;
            }
            if (!runs && !is_message(event)) others_.push_back(time_of(event));
        }
        std::ranges::sort(others_);
    }

    std::vector<std::uint32_t> order() {
        place_all();
        drop_what_never_leaves();
        std::vector<std::uint32_t> indices(places_.size());
        for (std::uint32_t i = 0; i < indices.size(); ++i) indices[i] = i;
        std::erase_if(indices, [&](std::uint32_t i) { return left_out_[i]; });
        sort_almost_sorted(
            indices, [&](std::uint32_t a, std::uint32_t b) { return places_[a] < places_[b]; });
        return indices;
    }

private:
    static bool is_pass(const MemoryEvent& event) {
        return std::holds_alternative<PassRuns>(event.what) ||
               std::holds_alternative<OptimizerRuns>(event.what);
    }
    bool is_message(const MemoryEvent& event) const {
        if (const auto* a = std::get_if<Allocation>(&event.what)) return sim::is_message(a->held);
        const auto* r = std::get_if<Release>(&event.what);
        return r != nullptr && sim::is_message(clock_.allocation_of(*r).held);
    }
    Instant time_of(const MemoryEvent& event) const {
        return std::visit(Overloaded{[&](const Allocation& a) { return clock_.of(a.at); },
                                     [&](const Release& r) { return clock_.of(r); },
                                     [&](const SavedLeaves&) { return times_[event.action].end; },
                                     [&](const auto&) { return times_[event.action].begin; }},
                          event.what);
    }
    static bool allocates(const MemoryEvent& event) {
        return std::holds_alternative<Allocation>(event.what) ||
               std::holds_alternative<SavedReturns>(event.what);
    }

    /// The number of passes that are `over` at an instant: they are in the order of time. It is
    /// sought around a gap, further and further away.
    std::uint32_t passes_over(std::uint32_t near, const auto& over) const {
        std::size_t first = 0, end = passes_.size(), step = 1;
        if (near < end && over(passes_[near])) {
            for (first = near + 1; first + step < end && over(passes_[first + step]); step *= 2)
                first += step;
            end = std::min(end, first + step);
        } else {
            for (end = near; end > step && !over(passes_[end - step]); step *= 2) end -= step;
            first = end > step ? end - step : 0;
        }
        const auto from = passes_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto to = passes_.begin() + static_cast<std::ptrdiff_t>(end);
        return static_cast<std::uint32_t>(std::partition_point(from, to, over) - passes_.begin());
    }
    /// The gap before the first pass that ends after the instant. A message that comes while a pass
    /// runs counts from the next change of another kind on, as in the ledger.
    std::uint32_t latest_gap(Instant when, bool message, std::uint32_t near) const {
        const std::uint32_t gap =
            passes_over(near, [&](const ActionTimes& pass) { return pass.end <= when; });
        if (!message || gap == passes_.size() || passes_[gap].begin >= when) return gap;
        const auto other = std::ranges::lower_bound(others_, when);
        return other != others_.end() && *other < passes_[gap].end ? gap : gap + 1;
    }
    /// The gap after the last pass that begins before the instant.
    std::uint32_t earliest_gap(Instant when, std::uint32_t near) const {
        return passes_over(near, [&](const ActionTimes& pass) { return pass.begin < when; });
    }
    Instant begin_of(std::uint32_t gap) const {
        return gap == 0 ? Instant::min() : passes_[gap - 1].end;
    }
    Instant within(std::uint32_t gap, Instant when) const {
        const Instant last = gap == passes_.size() ? Instant::max() : passes_[gap].begin;
        return std::clamp(when, begin_of(gap), std::max(begin_of(gap), last));
    }

    void place_all() {
        places_.reserve(events_.size());
        left_out_.assign(events_.size(), false);
        std::uint32_t gap = 0;
        std::optional<std::uint32_t> running;
        for (std::uint32_t i = 0; i < events_.size(); ++i) {
            const MemoryEvent& event = events_[i];
            if (is_pass(event)) {
                if (running != event.action) ++gap;
                running = event.action;
                places_.push_back({gap - 1, true, false, {}, i});
            } else {
                const auto* release = std::get_if<Release>(&event.what);
                const bool before = release != nullptr && release->at.action == running &&
                                    release->at.edge == Moment::Edge::Begin;
                places_.push_back(place(event, before ? gap - 1 : gap, i));
            }
        }
    }
    /// `listed`: the gap by the order of the list.
    Place place(const MemoryEvent& event, std::uint32_t listed, std::uint32_t index) const {
        const Instant when = time_of(event);
        const bool allocated = allocates(event);
        const std::uint32_t timed =
            allocated ? latest_gap(when, is_message(event), listed) : earliest_gap(when, listed);
        Place place{allocated ? std::min(listed, timed) : std::max(listed, timed), false, allocated,
                    when, index};
        // What the list has there longer than the clock is there from the gap's beginning on, or
        // leaves at once.
        place.when = place.gap == timed ? within(place.gap, when) : begin_of(place.gap);
        if (const auto* release = std::get_if<Release>(&event.what)) {
            const Place& made = places_[release->allocation];
            if (made.gap == place.gap && made.when >= place.when) {
                place.when = made.when;
                place.allocates = true;  // it stays behind its allocation
            }
        }
        return place;
    }
    void drop_what_never_leaves() {
        std::map<std::pair<Stage, MicroBatch>, std::uint32_t> left;
        for (std::uint32_t i = 0; i < events_.size(); ++i) {
            if (const auto* leaves = std::get_if<SavedLeaves>(&events_[i].what)) {
                left[{leaves->forward.stage, leaves->forward.micro_batch}] = i;
            } else if (const auto* back = std::get_if<SavedReturns>(&events_[i].what)) {
                const auto found = left.find({back->forward.stage, back->forward.micro_batch});
                if (found == left.end() || places_[found->second] < places_[i]) continue;
                left_out_[found->second] = left_out_[i] = true;
            }
        }
    }

    const std::vector<MemoryEvent>& events_;
    std::span<const ActionTimes> times_;
    Clock clock_;
    std::vector<ActionTimes> passes_;  ///< in the order of the list, which is that of time
    std::vector<Instant> others_;      ///< changes that are neither passes nor messages
    std::vector<Place> places_;        ///< by event
    std::vector<bool> left_out_;       ///< by event
};

}  // namespace

std::vector<std::uint32_t> order_in_time(const std::vector<MemoryEvent>& events,
                                         std::span<const ActionTimes> times) {
    return Ordering(events, times).order();
}

}  // namespace debubble::sim

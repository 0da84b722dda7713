#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "sim/memory/memory_events.h"

/// The events of a rank's memory with the times of its actions. Both figures of a rank come from
/// this one list: the level over time (RankLedger), and the order in which an allocator is asked
/// (order_in_time), which never asks for less at once than the level says.
namespace debubble::sim {

/// When an action of a rank's list begins and ends.
struct ActionTimes {
    Instant begin;
    Instant end;
};

/// A change of the memory that a rank holds.
struct LedgerChange {
    enum class What : std::uint8_t {
        Memory,        ///< an Allocation or a Release
        PassBegins,    ///< from here on the pass may be at its greatest level
        PassEnds,      ///< what the pass leaves, or frees, counts from here on
        SavedLeaves,   ///< saved tensors have been copied to the host
        SavedReturns,  ///< saved tensors are on the device again
    };
    Instant when;
    Bytes delta;  ///< of Memory; others have what their pass says
    std::uint32_t event = 0;
    std::uint32_t action = 0;
    MemoryClass held_as{};
    What what{};
    bool quiet = false;    ///< a message's buffer: shown with the next change of another kind
    bool at_once = false;  ///< the pass that ends here has begun at the same instant

    /// True for an allocation; a pass leaves no more than it held.
    bool allocates() const {
        switch (what) {
            case What::Memory: return delta.count > 0;
            case What::PassBegins:
            case What::SavedReturns: return true;
            case What::PassEnds: return at_once;
            case What::SavedLeaves: break;
        }
        return false;
    }
};

/// All changes of a rank in order of time. At one instant frees come before allocations, in the
/// order of the list; for one action, messages' buffers before its pass, and the pass before all
/// others.
class RankLedger {
public:
    RankLedger(const std::vector<MemoryEvent>& events, std::span<const ActionTimes> times);

    /// Calls `visit(change)` for each change.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Key& key : keys_) visit(changes_[key.index]);
    }

private:
    /// The key by which changes are sorted: a change is twice as long. No two are equal.
    struct Key {
        Instant when;
        std::uint32_t order;  ///< whether it allocates, its action, its turn in it
        std::uint32_t index;  ///< in changes_

        friend bool operator<(const Key& a, const Key& b) {
            if (a.when != b.when) return a.when < b.when;
            return a.order != b.order ? a.order < b.order : a.index < b.index;
        }
    };

    std::vector<LedgerChange> changes_;
    std::vector<Key> keys_;
};

/// The forward whose saved tensors a SavedLeaves or SavedReturns moves.
Compute forward_of(const MemoryEvent& event);

/// The greatest sum of what a rank holds: `held` throughout, and what the ledger says.
/// `passes.of_action(action)` gives the memory of the pass of an action, `passes.saved(event)` the
/// bytes that a SavedLeaves or SavedReturns moves.
template <class Passes>
Bytes fullest_of(const RankLedger& ledger, Bytes held, Passes&& passes) {
    Bytes level = held, fullest = held, inside;
    ledger.for_each([&](const LedgerChange& change) {
        using enum LedgerChange::What;
        switch (change.what) {
            case Memory: level += change.delta; break;
            case PassBegins: inside = passes.of_action(change.action).peak_above; break;
            case PassEnds:
                level += passes.of_action(change.action).held_after;
                inside = Bytes{};
                break;
            case SavedLeaves:
            case SavedReturns: {
                const Bytes moved = passes.saved(change.event);
                if (moved.count == 0) return;
                level += change.what == SavedLeaves ? Bytes{-moved.count} : moved;
                break;
            }
        }
        fullest = std::max(fullest, change.quiet ? level : level + inside);
    });
    return fullest;
}

/// The events as an allocator is asked for them, as indices: in the order of the list, but an
/// allocation comes before every pass that ends after it is made, and a release after every pass
/// that begins before it is. So a gather that runs ahead of the list is there while the passes
/// before it run, and what waits for a slow message or copy stays while the passes after it do.
/// What leaves and returns during one pass never leaves, and is left out.
std::vector<std::uint32_t> order_in_time(const std::vector<MemoryEvent>& events,
                                         std::span<const ActionTimes> times);

}  // namespace debubble::sim

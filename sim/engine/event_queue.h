#pragma once

#include <cassert>
#include <cstdint>

#include <boost/heap/d_ary_heap.hpp>

#include "base/units.h"

/// The queue of a simulation's next events.
namespace debubble::sim {

/// The thing to wake, as an index that the owner of the queue understands.
struct Event {
    enum class Kind : std::uint8_t { TaskEnd, FlowBegin, FlowEnd };

    Instant when;
    std::uint64_t order = 0;  ///< in which it was requested, and its kind in the last two bits
    std::int32_t task = 0;
    std::int32_t version = 0;  ///< a flow whose rate has changed since ignores its older events

    Kind kind() const { return static_cast<Kind>(order & 3U); }
};

/// Gives events by time; those of one instant, in the order in which they were requested. That
/// tie-break makes a run repeatable.
class EventQueue {
public:
    Instant now() const { return now_; }
    bool empty() const { return heap_.empty(); }
    std::uint64_t handled() const { return handled_; }

    /// Precondition: `when >= now()`. Throws InputError if that is later than the longest time.
    void at(Instant when, Event::Kind kind, std::int32_t task, std::int32_t version = 0) {
        assert(when >= now_ && "an event cannot be put in the past");
        checked(when - Instant{});
        heap_.push({when, next_order_++ << 2U | static_cast<std::uint64_t>(kind), task, version});
    }

    /// Precondition: not empty. Moves now() to the event's time.
    Event next() {
        const Event event = heap_.top();
        heap_.pop();
        now_ = event.when;
        ++handled_;
        return event;
    }

private:
    struct Later {
        bool operator()(const Event& a, const Event& b) const {
            return a.when != b.when ? a.when > b.when : a.order > b.order;
        }
    };
    boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::compare<Later>> heap_;
    Instant now_{};
    std::uint64_t next_order_ = 0;
    std::uint64_t handled_ = 0;
};

}  // namespace debubble::sim

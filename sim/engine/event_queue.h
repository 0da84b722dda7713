#pragma once

#include <cassert>
#include <cstdint>

#include <boost/heap/d_ary_heap.hpp>

#include "base/units.h"

/// The queue of a simulation's next events.
namespace debubble::sim {

/// The thing to wake, as an index that the owner of the queue understands.
struct Event {
    Instant when;
    std::uint64_t sequence = 0;  ///< order in which it was requested
    std::int32_t task = 0;
    std::int32_t version = 0;  ///< a flow whose rate has changed since ignores its older events
    enum class Kind : std::uint8_t { TaskEnd, FlowBegin, FlowEnd } kind{};
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
        heap_.push({when, next_sequence_++, task, version, kind});
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
            return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
        }
    };
    boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::compare<Later>> heap_;
    Instant now_{};
    std::uint64_t next_sequence_ = 0;
    std::uint64_t handled_ = 0;
};

}  // namespace debubble::sim

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "sim/engine/event_queue.h"
#include "sim/network/max_min.h"

namespace debubble::sim {

/// The flows under way, sharing links max-min fairly. When one joins or leaves, only the flows that
/// share a link with it, directly or through others, get new rates. Ends are announced as FlowEnd
/// events; a flow whose rate changes gets a new event, and the version distinguishes it from the
/// old one.
class FlowNetwork {
public:
    FlowNetwork(std::span<const BytesPerSecond> links, EventQueue& queue);

    /// Precondition: it crosses at least one link.
    void join(std::int32_t task, Bytes bytes, const FlowLinks& links);

    /// Returns true, and removes the flow, if the event is its current end.
    bool leave_if_current(std::int32_t task, std::int32_t version);

private:
    struct Active {
        std::int32_t task = 0;
        std::int32_t version = 0;
        FlowLinks links{};
        double left = 0;  ///< bytes at `since`
        double rate = 0;  ///< bytes per second from `since` on
        Instant since;
        bool in_system = false;
    };
    static constexpr std::int32_t kNowhere = -1;
    void add_sharers(const FlowLinks& links);
    void collect_neighbours();
    bool alone_on(const FlowLinks& links) const;  ///< true if no other flow crosses the links
    double narrowest(const FlowLinks& links) const;
    void share();
    void announce(Active& flow, double rate);

    EventQueue& queue_;
    MaxMinSolver solver_;
    std::vector<double> capacity_;
    std::vector<Active> active_;                      ///< in no order
    std::vector<std::int32_t> place_of_;              ///< by task, its index in active_
    std::vector<std::vector<std::int32_t>> on_link_;  ///< tasks that cross a link now
    std::vector<std::size_t> system_;                 ///< indices into active_ whose rates must be
                                                      ///< computed again
    std::vector<FlowLinks> system_links_;
    std::vector<double> rates_;
    std::int32_t next_version_ = 1;
};

}  // namespace debubble::sim

#include "sim/engine/flow_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace debubble::sim {

FlowNetwork::FlowNetwork(std::span<const BytesPerSecond> links, EventQueue& queue)
    : queue_(queue), on_link_(links.size()) {
    for (const BytesPerSecond link : links) capacity_.push_back(link.value);
}

void FlowNetwork::join(std::int32_t task, Bytes bytes, const FlowLinks& links) {
    if (static_cast<std::size_t>(task) >= place_of_.size()) place_of_.resize(task + 1, kNowhere);
    place_of_[task] = static_cast<std::int32_t>(active_.size());
    active_.push_back(
        {task, next_version_++, links, static_cast<double>(bytes.count), 0, queue_.now(), false});
    for (const std::int32_t link : links) on_link_[link].push_back(task);
    if (alone_on(links)) return announce(active_.back(), narrowest(links));
    system_.assign(1, active_.size() - 1);
    active_.back().in_system = true;
    collect_neighbours();
    share();
}

bool FlowNetwork::leave_if_current(std::int32_t task, std::int32_t version) {
    const std::int32_t place = place_of_[task];
    if (place == kNowhere || active_[place].version != version) return false;
    const FlowLinks links = active_[place].links;
    active_[place] = active_.back();
    place_of_[active_[place].task] = place;
    place_of_[task] = kNowhere;
    active_.pop_back();
    for (const std::int32_t link : links) {
        auto& tasks = on_link_[link];
        tasks.erase(std::ranges::find(tasks, task));
    }
    system_.clear();
    add_sharers(links);
    collect_neighbours();
    share();
    return true;
}

void FlowNetwork::add_sharers(const FlowLinks& links) {
    for (const std::int32_t link : links)
        for (const std::int32_t task : on_link_[link]) {
            Active& flow = active_[place_of_[task]];
            if (flow.in_system) continue;
            flow.in_system = true;
            system_.push_back(place_of_[task]);
        }
}

/// Adds to system_ every flow that shares a link with one in it, and theirs in turn.
void FlowNetwork::collect_neighbours() {
    for (std::size_t i = 0; i < system_.size(); ++i) {
        const FlowLinks of = active_[system_[i]].links;  // active_ does not grow in this loop
        if (!alone_on(of)) add_sharers(of);
    }
}

bool FlowNetwork::alone_on(const FlowLinks& links) const {
    return std::ranges::all_of(links,
                               [&](std::int32_t link) { return on_link_[link].size() == 1; });
}

double FlowNetwork::narrowest(const FlowLinks& links) const {
    double least = std::numeric_limits<double>::infinity();
    for (const std::int32_t link : links) least = std::min(least, capacity_[link]);
    return least;
}

void FlowNetwork::share() {
    rates_.resize(system_.size());
    if (system_.size() == 1 && alone_on(active_[system_.front()].links)) {
        rates_.front() = narrowest(active_[system_.front()].links);
    } else if (!system_.empty()) {
        system_links_.clear();
        for (const std::size_t index : system_) system_links_.push_back(active_[index].links);
        solver_.solve(capacity_, system_links_, rates_);
    }
    for (std::size_t i = 0; i < system_.size(); ++i) {
        active_[system_[i]].in_system = false;
        announce(active_[system_[i]], rates_[i]);
    }
}

void FlowNetwork::announce(Active& flow, double rate) {
    if (rate == flow.rate) return;
    const Instant now = queue_.now();
    flow.left = std::max(0.0, flow.left - flow.rate * seconds(now - flow.since));
    flow.since = now;
    flow.rate = rate;
    flow.version = next_version_++;
    const double length = flow.left / rate;
    if (!(length <= kLongestSeconds)) refuse_time(length);
    queue_.at(now + Duration{static_cast<Duration::rep>(std::ceil(length * 1e9))},
              Event::Kind::FlowEnd, flow.task, flow.version);
}

}  // namespace debubble::sim

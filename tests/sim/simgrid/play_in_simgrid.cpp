#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>

#include "tests/sim/simgrid/shared_links.h"

namespace sg4 = simgrid::s4u;

namespace debubble::sim {
namespace {

/// Max-min sharing, and nothing that stands for TCP.
void without_tcp() {
    sg4::Engine::set_config("network/model:CM02");
    sg4::Engine::set_config("network/bandwidth-factor:1");
    sg4::Engine::set_config("network/latency-factor:1");
    sg4::Engine::set_config("network/TCP-gamma:0");
    sg4::Engine::set_config("network/weight-S:0");
    sg4::Engine::set_config("network/crosstraffic:0");
    sg4::Engine::set_config("contexts/stack-size:64");
}

/// One case in a zone of its own, an actor per item.
class Zone {
public:
    Zone(const sg4::NetZone& root, std::string name, const Case& played, bool latency_on_route)
        : zone_(sg4::create_full_zone(name)),
          name_(std::move(name)),
          played_(played),
          latency_on_route_(latency_on_route),
          waits_(played.items.size(), 0),
          ends_(played.items.size(), 0) {
        zone_->set_parent(&root);
        for (std::size_t i = 0; i < played.capacity.size(); ++i)
            links_.push_back(
                zone_->create_link(fmt::format("{}-link-{}", name_, i), played.capacity[i])
                    ->seal());
        home_ = host("home");
        for (const Item& item : played.items) {
            routes_.push_back(item.moves() ? route_of(item) : Route{});
            turns_.push_back(sg4::Semaphore::create(0));
            for (const std::int32_t next : item.after_begin) ++waits_[next];
            for (const std::int32_t next : item.after_end) ++waits_[next];
        }
        zone_->seal();
    }

    void start() {
        for (std::size_t i = 0; i < played_.items.size(); ++i)
            sg4::Actor::create(fmt::format("{}-{}", name_, i), home_, [this, i] { act(i); });
    }

    const std::vector<double>& ends() const { return ends_; }

private:
    struct Route {
        sg4::Host* from = nullptr;
        sg4::Host* to = nullptr;
    };

    sg4::Host* host(const std::string& name) {
        return zone_->create_host(fmt::format("{}-{}", name_, name), 1e9)->seal();
    }

    /// Flows over the same links share a route; a latency of its own makes another.
    Route route_of(const Item& item) {
        const Duration latency = latency_on_route_ ? item.delay : Duration{};
        const auto [known, is_new] = known_.try_emplace({item.links, latency});
        if (!is_new) return known->second;
        const std::size_t number = known_.size();
        known->second = {host(fmt::format("from-{}", number)), host(fmt::format("to-{}", number))};
        std::vector<sg4::LinkInRoute> route;
        for (const std::int32_t link : item.links) route.emplace_back(links_[link]);
        if (latency > Duration{}) {
            constexpr double kWide = 1e18;
            auto* far = zone_->create_link(fmt::format("{}-latency-{}", name_, number), kWide);
            far->set_latency(seconds(latency))->seal();
            route.emplace_back(far);
        }
        zone_->add_route(known->second.from->get_netpoint(), known->second.to->get_netpoint(),
                         nullptr, nullptr, route, false);
        return known->second;
    }

    void act(std::size_t i) {
        const Item& item = played_.items[i];
        for (int turn = 0; turn < waits_[i]; ++turn) turns_[i]->acquire();
        for (const std::int32_t next : item.after_begin) turns_[next]->release();
        const bool on_route = latency_on_route_ && item.moves();
        if (!on_route && item.delay > Duration{}) sg4::this_actor::sleep_for(seconds(item.delay));
        if (item.moves())
            sg4::Comm::sendto(routes_[i].from, routes_[i].to,
                              static_cast<std::uint64_t>(item.bytes.count));
        ends_[i] = sg4::Engine::get_clock();
        for (const std::int32_t next : item.after_end) turns_[next]->release();
    }

    sg4::NetZone* zone_;
    std::string name_;
    const Case& played_;
    bool latency_on_route_;
    sg4::Host* home_ = nullptr;
    std::vector<sg4::Link*> links_;
    std::map<std::pair<FlowLinks, Duration>, Route> known_;
    std::vector<Route> routes_;             // by item
    std::vector<sg4::SemaphorePtr> turns_;  // by item
    std::vector<int> waits_;                // by item
    std::vector<double> ends_;              // by item
};

}  // namespace

std::vector<std::vector<double>> play_in_simgrid(const std::vector<const Case*>& cases,
                                                 bool latency_on_route) {
    std::string program = "flows_beside_simgrid";
    std::string quiet = "--log=xbt_cfg.thresh:warning";
    int argc = 2;
    char* argv[] = {program.data(), quiet.data(), nullptr};
    sg4::Engine engine(&argc, argv);
    without_tcp();
    // Its lazy update (3.32) overlooks links where several latencies end at one instant.
    if (latency_on_route) sg4::Engine::set_config("network/optim:Full");
    sg4::NetZone* root = sg4::create_full_zone("root");
    std::vector<std::unique_ptr<Zone>> zones;
    for (std::size_t i = 0; i < cases.size(); ++i)
        zones.push_back(
            std::make_unique<Zone>(*root, fmt::format("case-{}", i), *cases[i], latency_on_route));
    root->seal();
    for (const auto& zone : zones) zone->start();
    engine.run();
    std::vector<std::vector<double>> ends;
    for (const auto& zone : zones) ends.push_back(zone->ends());
    return ends;
}

}  // namespace debubble::sim

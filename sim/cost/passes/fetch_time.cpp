#include "sim/cost/passes/sharding_time.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "sim/cost/passes/data_parallel.h"

namespace debubble::sim {
namespace {

/// Elements sent in one collective.
struct Sent {
    std::int64_t dense = 0;
    std::int64_t experts = 0;
    std::int64_t narrow = 0;

    void add(const FetchedParameter& parameter) {
        (parameter.expert ? experts : dense) += parameter.elements;
        narrow += parameter.narrow;
    }
    std::int64_t all() const { return dense + experts; }
};

/// The collectives of a pass with their prices, in the order of the operators' runs.
class Collectives {
public:
    Collectives(const scenarios::Scenario& scenario, const FetchPlan& plan, const FetchPass& pass,
                PassUse use)
        : plan_(plan),
          pass_(pass),
          prices_(scenario, use),
          one_by_one_(scenario.framework.gather == scenarios::Gather::Parameter) {
        for (const FetchVisit& visit : pass.visits) {
            needed.push_back(gather(visit.needed));
            ahead.push_back(gather(visit.ahead));
        }
        reductions.assign(pass.visits.size() + 1, 0);
        if (use.makes_gradients) reduce();
        PassUse reads = use;
        reads.makes_gradients = false;
        PassUse makes = use;
        makes.reads_parameters = false;
        copies = ShardingPrices(scenario, reads).copying(gathered_) +
                 ShardingPrices(scenario, makes).copying(use.makes_gradients ? reduced_ : 0);
    }

    /// The share of a layer's time in which the collectives progress, though on no tier while the
    /// layer uses its links: the tier with the least progress decides.
    double room_beside(const PassTime& time) const {
        const double in_layers = time.layers + time.exposed_in_layers;
        double room = 1;
        for (std::size_t tier = 1; tier < sent_.size(); ++tier)
            if (in_layers > 0 && sent_[tier] > 0)
                room = std::min(room, std::max(0.0, 1 - time.communicating[tier] / in_layers) *
                                          alone(sent_) / sent_[tier]);
        return room;
    }

    std::vector<double> needed;      ///< seconds by visit, before it runs
    std::vector<double> ahead;       ///< seconds by visit, while it runs
    std::vector<double> reductions;  ///< seconds by visit, after it has run; the last after all
    double copies = 0;               ///< seconds of all kernels that copy
    const ShardingTime& time() const { return prices_.time; }

private:
    const FetchedParameter& parameter(int index) const { return plan_.parameters[index]; }
    double gather(std::span<const int> parameters) {
        Sent sent;
        for (const int index : parameters) sent.add(parameter(index));
        if (sent.all() == 0) return 0;
        gathered_ += sent.all();
        if (one_by_one_) return gather_each(parameters);
        return add(
            prices_.gathering(sent.dense, sent.experts, 1,
                              static_cast<double>(sent.narrow) / static_cast<double>(sent.all())));
    }
    double gather_each(std::span<const int> parameters) {
        double seconds = 0;
        for (const int index : parameters) {
            const FetchedParameter& one = parameter(index);
            seconds += add(prices_.gathering(
                one.expert ? 0 : one.elements, one.expert ? one.elements : 0, 1,
                static_cast<double>(one.narrow) / static_cast<double>(one.elements)));
        }
        return seconds;
    }
    /// A parameter's gradient is complete after the last of its operators' runs.
    void reduce() {
        const std::vector<FetchVisit>& visits = pass_.visits;
        std::vector<std::size_t> last(plan_.parameters.size(), visits.size());
        std::vector<std::size_t> last_of_layer(visits.size());
        for (std::size_t v = 0; v < visits.size(); ++v) {
            for (const int use : visits[v].uses) last[use] = v;
            if (visits[v].layer >= 0) last_of_layer[visits[v].layer] = v;
        }
        std::vector<Sent> sent(visits.size() + 1);
        for (std::size_t p = 0; p < last.size(); ++p) {
            if (last[p] == visits.size()) continue;
            const int layer = visits[last[p]].layer;
            const std::size_t at = layer >= 0 ? last_of_layer[layer] : visits.size();
            sent[at].add(plan_.parameters[p]);
            reduced_ += plan_.parameters[p].elements;
        }
        for (std::size_t at = 0; at < sent.size(); ++at)
            if (sent[at].all() > 0)
                reductions[at] = add(prices_.reducing(sent[at].dense, sent[at].experts, 1));
    }
    double add(const ShardingSeconds& collective) {
        sim::add(sent_, collective);
        return alone(collective);
    }

    const FetchPlan& plan_;
    const FetchPass& pass_;
    ShardingPrices prices_;
    bool one_by_one_;
    ShardingSeconds sent_{};
    std::int64_t gathered_ = 0;  ///< elements
    std::int64_t reduced_ = 0;
};

}  // namespace

void FetchLanes::arrive() {
    now_ += queue_.front().left;
    queue_.pop_front();
}

void FetchLanes::run(double seconds, double room) {
    const double pace = 1 - contention_.slowed;  // of kernels that overlap communication
    const double flow = room / contention_.stretch;
    while (!queue_.empty() && seconds > 0 && flow > 0) {
        Transfer& first = queue_.front();
        const double arrives = first.left / flow;
        const double ends = seconds / pace;
        if (ends < arrives) {
            now_ += ends;
            first.left -= ends * flow;
            return;
        }
        now_ += arrives;
        seconds -= arrives * pace;
        queue_.pop_front();
    }
    now_ += seconds;
}

void FetchLanes::await(int parameter) {
    const auto wanted = std::ranges::find(queue_, parameter, &Transfer::parameter);
    if (wanted == queue_.end()) return;
    for (auto before = wanted - queue_.begin(); before >= 0; --before) arrive();
}

void FetchLanes::await_all() {
    while (!queue_.empty()) arrive();
}

ShardingTime fetch_time(const scenarios::Scenario& scenario, const FetchPlan& plan,
                        const FetchPass& pass, const PassTime& time, PassUse use,
                        FetchLanes& lanes) {
    const Collectives collectives(scenario, plan, pass, use);
    ShardingTime sharding = collectives.time();
    const double room = collectives.room_beside(time);
    const auto enqueue = [&](std::span<const int> parameters, double seconds) {
        double elements = 0;
        for (const int index : parameters)
            elements += static_cast<double>(plan.parameters[index].elements);
        for (const int index : parameters) {
            const auto of = plan.parameters[index].elements;
            lanes.enqueue(seconds * static_cast<double>(of) / elements, index);
        }
    };
    const double begin = lanes.now();
    double kernels = 0;
    double sent = 0;
    for (std::size_t v = 0; v < pass.visits.size(); ++v) {
        const FetchVisit& visit = pass.visits[v];
        enqueue(visit.needed, collectives.needed[v]);
        for (const int use_of : visit.uses) lanes.await(use_of);
        enqueue(visit.ahead, collectives.ahead[v]);
        double takes = 0;
        for (std::size_t kernel = visit.begin; kernel < visit.end; ++kernel)
            takes += time.each[kernel].takes;
        lanes.run(takes, visit.layer >= 0 ? room : 1);
        if (collectives.reductions[v] > 0) lanes.enqueue(collectives.reductions[v], -1);
        kernels += takes;
        sent += collectives.needed[v] + collectives.ahead[v] + collectives.reductions[v];
    }
    if (use.makes_gradients) {
        lanes.enqueue(collectives.reductions.back(), -1);
        lanes.await_all();
        sent += collectives.reductions.back();
    }
    sharding.copies = collectives.copies;
    sharding.exposed = std::max(0.0, lanes.now() - begin - kernels);
    sharding.hidden = std::max(0.0, sent - sharding.exposed);
    return sharding;
}

}  // namespace debubble::sim

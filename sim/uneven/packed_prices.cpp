#include "sim/uneven/packed_step.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/overloaded.h"
#include "scenarios/plan/packing.h"
#include "sim/cost/physical_models.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

constexpr double kTokenShares[] = {1, 0.75, 0.5, 0.25, 0.125, 0.0625, 0.03125};
constexpr std::int64_t kFewestTokens = 64;  ///< of a rank, and of a document
constexpr int kDocuments[] = {1, 2, 8, 32, 128};

ComputeCost cost_of_work(const CostModel& costs, const Work& work, Rank rank) {
    return std::visit(Overloaded{[&](const Compute& c) { return costs.compute(c, rank); },
                                 [&](const Recompute& r) { return costs.recompute(r, rank); },
                                 [&](const Overlap& o) { return costs.overlap(o, rank); }},
                      work);
}

/// The divisor of a rank's tokens: an early and a late part of each document, which tensor-parallel
/// ranks cut.
std::int64_t least_stretch(const Scenario& scenario) {
    const scenarios::Parallel& parallel = scenario.parallel;
    return std::lcm<std::int64_t>(2, parallel.sequence ? parallel.tensor : 1);
}

/// Tokens of a rank at which passes are priced, ascending. For equal groups, whose sequences may be
/// longer than the capacity of ranks, up to their length.
std::vector<std::int64_t> priced_tokens(const Scenario& scenario, int ranks) {
    const std::int64_t capacity = scenarios::rank_capacity(scenario);
    std::vector<std::int64_t> all;
    if (ranks == scenario.parallel.context) {
        const std::int64_t whole = scenario.training.seq_length / ranks;
        if (whole > capacity) all.push_back(whole);
    }
    const std::int64_t stretch = least_stretch(scenario);
    for (const double share : kTokenShares) {
        const auto tokens = static_cast<std::int64_t>(share * static_cast<double>(capacity));
        const std::int64_t cut = share == 1 ? tokens : tokens / (16 * stretch) * 16 * stretch;
        if (all.empty() || cut >= kFewestTokens) all.push_back(cut);
    }
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
}

/// A time and its parts in seconds, and the bytes of its flows.
struct Sum {
    double duration = 0;
    double exposed = 0;
    double host = 0;
    double bytes = 0;

    void add(const ComputeCost& cost, double times) {
        duration += times * seconds(cost.duration);
        exposed += times * seconds(cost.exposed);
        host += times * seconds(cost.host);
        bytes += times * bytes_of(cost);
    }
    static double bytes_of(const ComputeCost& cost) {
        double bytes = 0;
        for (const InnerFlow& flow : cost.flows) bytes += static_cast<double>(flow.bytes.count);
        return bytes;
    }
    /// The sum, with its bytes over the links of `like`.
    ComputeCost over_links_of(const ComputeCost& like) const {
        ComputeCost cost = like;
        cost.duration = from_seconds(std::max(0.0, duration));
        cost.exposed = std::min(cost.duration, from_seconds(std::max(0.0, exposed)));
        cost.host = std::min(cost.duration, from_seconds(std::max(0.0, host)));
        const double before = bytes_of(like);
        for (InnerFlow& flow : cost.flows)
            if (flow.bytes.count > 0)
                flow.bytes = {
                    std::max<std::int64_t>(1, std::llround(static_cast<double>(flow.bytes.count) *
                                                           std::max(0.0, bytes) / before))};
        return cost;
    }
};

/// The two neighbours of a value on an axis, or its ends, and the weight of the second.
struct Between {
    std::size_t first;
    std::size_t second;
    double weight;
};

template <class Points>
Between between(const Points& points, double place, auto at) {
    if (points.size() == 1) return {0, 0, 0};
    const auto above = std::ranges::lower_bound(points, place, {}, at);
    const std::size_t b = std::clamp(above, points.begin() + 1, points.end() - 1) - points.begin();
    const double low = std::invoke(at, points[b - 1]);
    return {b - 1, b, (place - low) / (std::invoke(at, points[b]) - low)};
}

}  // namespace

PackedPrices::PackedPrices(const Scenario& scenario,
                           const std::vector<models::StageContent>& stages,
                           const Schedule& schedule, const Program& program,
                           const std::set<int>& sizes)
    : scenario_(scenario), stages_(stages) {
    for (int rank = 0; rank < program.shape.ranks; ++rank)
        for (const Action& action : program.ranks[rank])
            std::visit(
                [&](const auto& a) {
                    if constexpr (std::is_constructible_v<Work, decltype(a)>) {
                        const std::pair key{without_micro_batches(a), Rank{rank}};
                        if (index_.try_emplace(key, works_.size()).second) works_.push_back(key);
                    }
                },
                action);
    for (const int ranks : sizes) groups_.emplace(ranks, priced(ranks, schedule));
}

PackedPrices::OfGroup PackedPrices::priced(int ranks, const Schedule& schedule) const {
    OfGroup group;
    for (const std::int64_t tokens : priced_tokens(scenario_, ranks))
        group.nodes.push_back(priced(ranks, tokens, schedule, &group.full));
    return group;
}

PackedPrices::Node PackedPrices::priced(int ranks, std::int64_t tokens, const Schedule& schedule,
                                        std::unique_ptr<const CostModel>* whole) const {
    const std::int64_t sequence = tokens * ranks;
    const std::int64_t cuts = least_stretch(scenario_) * ranks;
    const int fewest = scenarios::fewest_documents(scenario_, sequence);
    Node node{static_cast<double>(tokens), {}};
    for (const int times : kDocuments) {
        const int documents = times * fewest;
        const std::int64_t length = sequence / documents;
        if (times > 1 && (sequence % (documents * cuts) != 0 || length < kFewestTokens)) break;
        Scenario packed = scenarios::filled_groups(scenario_, ranks);
        packed.training.seq_length = length;
        packed.training.micro_batch = documents;
        std::unique_ptr<const CostModel> costs = make_cost_model(packed, stages_, schedule);
        const auto side = static_cast<double>(length);
        Point point{side * side * documents / ranks, {}};
        for (const auto& [work, rank] : works_)
            point.costs.push_back(cost_of_work(*costs, work, rank));
        node.points.insert(node.points.begin(), std::move(point));
        if (times == 1) *whole = std::move(costs);
    }
    return node;
}

ComputeCost PackedPrices::cost(std::size_t work, const DocumentGroup& group) const {
    const std::vector<Node>& nodes = groups_.at(group.ranks).nodes;
    const double pairs = group.work();
    const Between in_tokens = between(nodes, group.tokens_of_rank(), &Node::tokens);
    Sum sum;
    const ComputeCost* like = nullptr;
    const auto add = [&](const Node& node, double times) {
        if (times == 0) return;
        const Between in_pairs = between(node.points, pairs, &Point::pairs);
        const auto add_point = [&](std::size_t point, double share) {
            if (share == 0) return;
            const ComputeCost& cost = node.points[point].costs[work];
            sum.add(cost, times * share);
            like = &cost;
        };
        add_point(in_pairs.first, 1 - in_pairs.weight);
        add_point(in_pairs.second, in_pairs.weight);
    };
    add(nodes[in_tokens.first], 1 - in_tokens.weight);
    add(nodes[in_tokens.second], in_tokens.weight);
    return sum.over_links_of(*like);
}

}  // namespace debubble::sim

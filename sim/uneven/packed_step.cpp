#include "sim/uneven/packed_step.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace debubble::sim {
namespace {

/// Neighbouring ranks of data x context that share the experts of a layer.
int ranks_that_share_experts(const scenarios::Scenario& scenario) {
    const scenarios::Parallel& parallel = scenario.parallel;
    if (!scenario.model.has_experts()) return 1;
    return std::max(1, parallel.expert * parallel.expert_tensor / parallel.tensor);
}

/// Sets of the positions that wait for each other: groups, merged where they share a block.
std::vector<int> sets_of(const PackedMicroBatch& micro_batch, int block) {
    std::vector<int> set_of;
    int set = -1;
    int end_of_blocks = 0;  // number of the positions merged into the latest set
    for (const DocumentGroup& group : micro_batch) {
        if (group.first_rank >= end_of_blocks) ++set;
        set_of.resize(set_of.size() + static_cast<std::size_t>(group.ranks), set);
        const int end = group.first_rank + group.ranks;
        end_of_blocks = std::max(end_of_blocks, (end + block - 1) / block * block);
    }
    return set_of;
}

}  // namespace

PackedStep::PackedStep(const PackedPrices& prices, std::vector<PackedMicroBatch> micro_batches)
    : prices_(prices), micro_batches_(std::move(micro_batches)) {
    const int block = ranks_that_share_experts(prices.scenario());
    for (const PackedMicroBatch& micro_batch : micro_batches_)
        priced_.push_back(priced(micro_batch, block));
    const int positions = static_cast<int>(priced_.front().set_of.size());
    find_waits(positions);
    find_distinct(positions);
    find_means(positions);
}

PackedStep::Priced PackedStep::priced(const PackedMicroBatch& micro_batch, int block) const {
    Priced of;
    of.set_of = sets_of(micro_batch, block);
    of.costs.resize(static_cast<std::size_t>(of.set_of.back()) + 1);
    for (const DocumentGroup& group : micro_batch) {
        std::vector<ComputeCost>& costs = of.costs[of.set_of[group.first_rank]];
        const bool first = costs.empty();
        costs.resize(prices_.works().size());
        for (std::size_t work = 0; work < costs.size(); ++work) {
            const ComputeCost cost = prices_.cost(work, group);
            if (first || cost.duration > costs[work].duration) costs[work] = cost;
        }
    }
    return of;
}

void PackedStep::find_waits(int positions) {
    const auto& works = prices_.works();
    int pipeline = 0;
    for (const auto& [work, rank] : works) pipeline = std::max(pipeline, rank.index + 1);
    const std::vector<Duration> none(pipeline);
    std::vector<std::vector<Duration>> ends(positions, none);
    std::vector<std::vector<Duration>> busy = ends;
    for (Priced& of : priced_) {
        std::vector<std::vector<Duration>> begins(of.costs.size(), none);
        std::vector<std::vector<Duration>> lasts = begins;
        for (std::size_t set = 0; set < of.costs.size(); ++set)
            for (std::size_t work = 0; work < works.size(); ++work)
                lasts[set][works[work].second.index] += of.costs[set][work].duration;
        for (std::size_t p = 0; p < ends.size(); ++p)
            for (std::size_t rank = 0; rank < none.size(); ++rank) {
                Duration& begin = begins[of.set_of[p]][rank];
                begin = std::max(begin, ends[p][rank]);
            }
        of.wait.assign(ends.size(), none);
        for (std::size_t p = 0; p < ends.size(); ++p)
            for (std::size_t rank = 0; rank < none.size(); ++rank) {
                const int set = of.set_of[p];
                of.wait[p][rank] = begins[set][rank] - ends[p][rank];
                ends[p][rank] = begins[set][rank] + lasts[set][rank];
                busy[p][rank] += lasts[set][rank];
            }
    }
    Duration longest{};
    for (std::size_t rank = 0; rank < none.size(); ++rank) {
        Duration last{};
        for (const std::vector<Duration>& end : ends) last = std::max(last, end[rank]);
        if (last <= longest) continue;
        longest = last;
        double idle = 0;
        for (const std::vector<Duration>& of : busy) idle += seconds(last - of[rank]);
        waiting_ = idle / positions / seconds(last);
    }
}

void PackedStep::find_distinct(int positions) {
    std::map<std::vector<int>, int> first;
    for (int p = 0; p < positions; ++p) {
        std::vector<int> sets;
        for (std::size_t mb = 0; mb < micro_batches_.size(); ++mb) {
            const PackedMicroBatch& groups = micro_batches_[mb];
            const auto after = std::ranges::upper_bound(groups, p, {}, &DocumentGroup::first_rank);
            sets.push_back(static_cast<int>(after - groups.begin()));
        }
        if (first.try_emplace(std::move(sets), p).second) distinct_.push_back(p);
    }
}

void PackedStep::find_means(int positions) {
    const double parts = static_cast<double>(positions) * static_cast<double>(priced_.size());
    for (std::size_t work = 0; work < prices_.works().size(); ++work) {
        double duration = 0;
        double exposed = 0;
        double host = 0;
        ComputeCost mean = priced_.front().costs.front()[work];
        for (const Priced& of : priced_)
            for (const int set : of.set_of) {
                const ComputeCost& cost = of.costs[set][work];
                duration += seconds(cost.duration);
                exposed += seconds(cost.exposed);
                host += seconds(cost.host);
            }
        mean.duration = from_seconds(duration / parts);
        mean.exposed = std::min(mean.duration, from_seconds(exposed / parts));
        mean.host = std::min(mean.duration, from_seconds(host / parts));
        mean_costs_.push_back(mean);
    }
}

const DocumentGroup& PackedStep::group(int micro_batch, int position) const {
    const PackedMicroBatch& groups = micro_batches_[micro_batch];
    return *(std::ranges::upper_bound(groups, position, {}, &DocumentGroup::first_rank) - 1);
}

const ComputeCost& PackedStep::cost(int micro_batch, int position, std::size_t work) const {
    const Priced& of = priced_[micro_batch];
    return of.costs[of.set_of[position]][work];
}

Duration PackedStep::wait(int micro_batch, int position, Rank rank) const {
    return priced_[micro_batch].wait[position][rank];
}

double PackedStep::tokens() const {
    double sum = 0;
    for (const PackedMicroBatch& micro_batch : micro_batches_)
        for (const DocumentGroup& group : micro_batch) sum += static_cast<double>(group.tokens());
    return sum;
}

PackedCostModel::PackedCostModel(const PackedStep& step, std::optional<int> position)
    : DelegatingCostModel(step.prices().full(
          step.group(static_cast<int>(step.micro_batches().size()) - 1, position.value_or(0))
              .ranks)),
      step_(step),
      position_(position) {}

ComputeCost PackedCostModel::cost(const Work& work, const MicroBatch& micro_batch,
                                  Rank rank) const {
    const std::size_t index = step_.prices().index_of(work, rank);
    return position_ ? step_.cost(micro_batch.index, *position_, index) : step_.mean_cost(index);
}

ComputeCost PackedCostModel::compute(const Compute& action, Rank rank) const {
    ComputeCost cost = this->cost(action, action.micro_batch, rank);
    const bool first_chunk = action.stage.index < step_.pipeline();
    if (!position_ || action.pass != Pass::Forward || !first_chunk) return cost;
    const Duration wait = step_.wait(action.micro_batch.index, *position_, rank);
    cost.duration += wait;
    cost.exposed += wait;
    return cost;
}

Flow PackedCostModel::transfer(const Message& message, Rank from, Rank to) const {
    const DocumentGroup& group = step_.group(message.micro_batch.index, position_.value_or(0));
    Flow flow = step_.prices().full(group.ranks).transfer(message, from, to);
    double share = group.tokens_of_rank() / step_.prices().full_tokens(group.ranks);
    if (!position_) {
        double slots = 0;
        for (const PackedMicroBatch& micro_batch : step_.micro_batches())
            for (const DocumentGroup& of : micro_batch) slots += of.ranks;
        share = step_.tokens() / slots / step_.prices().full_tokens(group.ranks);
    }
    if (share == 1) return flow;
    const auto scaled = [&](Bytes bytes) {
        return Bytes{std::llround(share * static_cast<double>(bytes.count))};
    };
    flow.bytes = scaled(flow.bytes);
    flow.payload = scaled(flow.payload);
    return flow;
}

}  // namespace debubble::sim

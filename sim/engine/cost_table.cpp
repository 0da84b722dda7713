#include "sim/engine/cost_table.h"

namespace debubble::sim {
namespace {

constexpr int kPasses = 4;
constexpr int kRecompute = kPasses;  // priced in addition to the passes
enum Copies { kUnshard, kOffload, kCopies };

Compute without_micro_batch(Compute c) {
    c.micro_batch.index = 0;
    return c;
}

}  // namespace

CostTable::CostTable(const Program& program, const CostModel& model, const MemoryModel& memory,
                     TaskGraph& graph)
    : model_(model),
      memory_(memory),
      graph_(graph),
      index_(program.placement),
      slices_(program.shape.slices),
      computes_((kPasses + 1) * slices_ * index_.size(), -1),
      transfers_(2 * index_.size(), -1),
      copies_(kCopies * index_.size(), -1),
      reductions_(index_.stage_count(), -1),
      unshards_hidden_(index_.size()),
      reductions_hidden_(index_.stage_count()) {}

std::int32_t CostTable::add(const ComputeCost& cost) {
    graph_.compute_costs.push_back(cost);
    return static_cast<std::int32_t>(graph_.compute_costs.size() - 1);
}

std::int32_t CostTable::add(const Flow& flow) {
    graph_.flows.push_back(flow);
    return static_cast<std::int32_t>(graph_.flows.size() - 1);
}

std::int32_t& CostTable::slot(std::vector<std::int32_t>& table, int kind, int kinds, Stage stage,
                              Rank rank) {
    return table[index_.entry_of(rank, stage) * kinds + kind];
}

std::int32_t CostTable::of(const Compute& compute, Rank rank) {
    if (model_.per_micro_batch()) return add(model_.compute(compute, rank));
    const int kinds = (kPasses + 1) * slices_;
    const int kind =
        static_cast<int>(compute.pass) * slices_ + compute.micro_batch.slice.value_or(0);
    std::int32_t& cost = slot(computes_, kind, kinds, compute.stage, rank);
    if (cost < 0) cost = add(model_.compute(compute, rank));
    return cost;
}

std::int32_t CostTable::of(const Recompute& recompute, Rank rank) {
    if (model_.per_micro_batch()) return add(model_.recompute(recompute, rank));
    const int kinds = (kPasses + 1) * slices_;
    const int kind = kRecompute * slices_ + recompute.micro_batch.slice.value_or(0);
    std::int32_t& cost = slot(computes_, kind, kinds, recompute.stage, rank);
    if (cost < 0) cost = add(model_.recompute(recompute, rank));
    return cost;
}

std::int32_t CostTable::of(const Overlap& overlap, Rank rank) {
    if (model_.per_micro_batch()) return add(model_.overlap(overlap, rank));
    const std::tuple key{without_micro_batch(overlap.first), without_micro_batch(overlap.second),
                         rank};
    const auto [place, is_new] = overlaps_.try_emplace(key, 0);
    if (is_new) place->second = add(model_.overlap(overlap, rank));
    return place->second;
}

/// A stage's neighbour lies on one rank per direction, so the sender decides the price.
std::int32_t CostTable::of(const Message& message, Rank from, Rank to) {
    if (model_.per_micro_batch()) return add(model_.transfer(message, from, to));
    std::int32_t& cost =
        slot(transfers_, static_cast<int>(message.kind), 2, message.producer, from);
    if (cost < 0) cost = add(model_.transfer(message, from, to));
    return cost;
}

std::int32_t CostTable::between_steps(Rank rank) {
    const Duration length = model_.between_steps(rank);
    return length == Duration{} ? kNone : delay(length);
}

std::int32_t CostTable::optimizer(Rank rank) {
    ComputeCost cost;
    cost.duration = model_.optimizer_step(rank);
    return add(cost);
}

std::int32_t CostTable::unshard(Stage stage, Rank rank) {
    std::int32_t& cost = slot(copies_, kUnshard, kCopies, stage, rank);
    if (cost < 0) cost = add(model_.unshard(stage, rank));
    return cost;
}

std::int32_t CostTable::offload(Stage stage, Rank rank) {
    std::int32_t& cost = slot(copies_, kOffload, kCopies, stage, rank);
    if (cost < 0) cost = add(model_.offload(stage, rank));
    return cost;
}

std::int32_t CostTable::reduce_grad(Stage stage) {
    std::int32_t& cost = reductions_[stage.index];
    if (cost < 0) cost = add(model_.reduce_grad(stage, index_.ranks_of(stage)));
    return cost;
}

std::int32_t CostTable::tied_grad(Stage stage, std::span<const Rank> holders) {
    return add(model_.tied_grad(stage, holders));
}

std::int32_t CostTable::grad_norm() {
    return add(model_.grad_norm());
}

CostTable::Hidden CostTable::add(const HiddenPart& part) {
    return part.any() ? Hidden{add(part.flow), part.overlap} : Hidden{};
}

CostTable::Hidden CostTable::unshard_hidden(Stage stage, Rank rank) {
    std::optional<Hidden>& known = unshards_hidden_[index_.entry_of(rank, stage)];
    if (!known) known = add(model_.unshard_hidden(stage, rank));
    return *known;
}

CostTable::Hidden CostTable::reduce_grad_hidden(Stage stage) {
    std::optional<Hidden>& known = reductions_hidden_[stage.index];
    if (!known) known = add(model_.reduce_grad_hidden(stage, index_.ranks_of(stage)));
    return *known;
}

bool CostTable::leaves_unreduced(const Compute& compute) const {
    return total(memory_.left_unreduced(compute)) > Bytes{};
}

std::int32_t CostTable::inner(const InnerFlow& flow) {
    Flow whole;
    whole.bytes = flow.bytes;
    for (const Link link : flow.links) whole.links.push_back(link);
    return add(whole);
}

std::int32_t CostTable::delay(Duration length) {
    const auto [place, is_new] = delays_.try_emplace(length, 0);
    if (is_new) {
        Flow flow;
        flow.latency = length;
        place->second = add(flow);
    }
    return place->second;
}

std::int32_t CostTable::nothing() {
    return delay({});
}

}  // namespace debubble::sim

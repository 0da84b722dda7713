#include "sim/cost_table.h"

namespace debubble::sim {
namespace {

constexpr int kPasses = 4;
constexpr int kRecompute = kPasses;  // priced beside the passes
enum PerStage { kUnshard, kOffload, kReduceGrad, kPerStageKinds };

std::size_t entries(int kinds, int stages, int ranks) {
    return static_cast<std::size_t>(kinds) * stages * ranks;
}

Compute without_micro_batch(Compute c) {
    c.micro_batch.index = 0;
    return c;
}

}  // namespace

CostTable::CostTable(const Program& program, const CostModel& model, TaskGraph& graph)
    : program_(program),
      model_(model),
      graph_(graph),
      stages_(program.stage_count()),
      slices_(program.shape.slices),
      computes_(entries((kPasses + 1) * slices_, stages_, program.shape.ranks), -1),
      transfers_(entries(2, stages_, program.shape.ranks), -1),
      per_stage_(entries(kPerStageKinds, stages_, program.shape.ranks), -1) {}

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
    const auto row = static_cast<std::size_t>(rank.index) * stages_ + stage.index;
    return table[row * kinds + kind];
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

/// A stage's neighbour lies on one rank per direction, so the sender decides.
std::int32_t CostTable::of(const Message& message, Rank from, Rank to) {
    if (model_.per_micro_batch()) return add(model_.transfer(message, from, to));
    std::int32_t& cost =
        slot(transfers_, static_cast<int>(message.kind), 2, message.producer, from);
    if (cost < 0) cost = add(model_.transfer(message, from, to));
    return cost;
}

std::int32_t CostTable::optimizer(Rank rank) {
    ComputeCost cost;
    cost.duration = model_.optimizer_step(rank);
    cost.peak_above = model_.optimizer_transient(rank);
    cost.at_peak[static_cast<std::size_t>(MemoryClass::Workspace)] = cost.peak_above;
    cost.op_at_peak = "optimizer";
    return add(cost);
}

std::int32_t CostTable::unshard(Stage stage, Rank rank) {
    std::int32_t& cost = slot(per_stage_, kUnshard, kPerStageKinds, stage, rank);
    if (cost < 0) cost = add(model_.unshard(stage, rank));
    return cost;
}

std::int32_t CostTable::offload(Stage stage, Rank rank) {
    std::int32_t& cost = slot(per_stage_, kOffload, kPerStageKinds, stage, rank);
    if (cost < 0) cost = add(model_.offload(stage, rank));
    return cost;
}

std::int32_t CostTable::reduce_grad(Stage stage) {
    std::int32_t& cost = slot(per_stage_, kReduceGrad, kPerStageKinds, stage, Rank{0});
    if (cost < 0) cost = add(model_.reduce_grad(stage, program_.placement.ranks_of(stage)));
    return cost;
}

std::int32_t CostTable::tied_grad(Stage stage, std::span<const Rank> holders) {
    return add(model_.tied_grad(stage, holders));
}

std::int32_t CostTable::grad_norm() {
    return add(model_.grad_norm());
}

std::int32_t CostTable::nothing() {
    return add(Flow{});
}

}  // namespace debubble::sim

#include "sim/engine/task_graph.h"

namespace debubble::sim {

void Successors::pack(std::size_t tasks) {
    begin_.assign(tasks + 1, 0);
    for (const Edge& edge : edges_) ++begin_[edge.from + 1];
    for (std::size_t i = 0; i < tasks; ++i) begin_[i + 1] += begin_[i];
    targets_.resize(edges_.size());
    std::vector<std::int32_t> next(begin_.begin(), begin_.end() - 1);
    for (const Edge& edge : edges_) targets_[next[edge.from]++] = edge.to;
    edges_ = {};
}

}  // namespace debubble::sim

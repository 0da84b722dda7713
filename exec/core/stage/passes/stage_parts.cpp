#include "exec/core/stage/passes/pass_run.h"

#include <algorithm>
#include <utility>

namespace debubble::exec {
namespace {

bool returns(const models::OperatorRun& run, int tensor) {
    return std::ranges::find(run.returns, tensor) != run.returns.end();
}

}  // namespace

StageParts::StageParts(std::vector<models::StageGraph> graphs, const StageTools& tools)
    : state{tools, nullptr, {}, {}, {}, {}, {}, {}, {}},
      offloaded(tools),
      module_offloads(tools),
      clock(tools) {
    for (models::StageGraph& graph : graphs) {
        models::RunsByPass fused = operator_runs(graph, false), split = operator_runs(graph, true);
        slices.push_back({std::move(graph), std::move(fused), std::move(split)});
    }
}

const SlicePlan& StageParts::slice_of(const MicroBatch& micro_batch) const {
    if (slices.size() == 1) return slices.front();
    return slices[micro_batch.slice.value_or(0)];
}

/// Memory for a graph's tensor, in elements of the compute type; its operators decide what it
/// holds. One of routed tokens has room for those that were received in the pass.
ArenaTensor StageParts::allocate(const models::Tensor& tensor, const RoutedPass& pass) {
    const DataType type = executed_type(slices.front().graph.execution.compute);
    std::int64_t bytes = tensor.bytes.count;
    Bytes if_even;
    if (tensor.routed) {
        const Routing& routing = state.routed.at(pass);
        bytes = rows_of(routing, *tensor.routed) * tensor.routed->row_bytes;
        if_even = Bytes{even_rows_of(routing, *tensor.routed) * tensor.routed->row_bytes};
    }
    const std::int64_t elements = (bytes + size_of(type) - 1) / size_of(type);
    return state.tools.arena.allocate({elements}, type, tensor.held_as, tensor.name, if_even);
}

/// Makes room for sums over slices in all of them, once the last slice's backward starts.
void StageParts::make_room(const MicroBatch& micro_batch, const models::StageGraph& graph,
                           int index, std::optional<int> layer) {
    const models::Tensor& tensor = graph.tensors[index];
    LiveTensors& live = state.live.at(micro_batch);
    const RoutedPass pass{micro_batch.index, micro_batch.slice.value_or(0), layer.value_or(0)};
    if (!live[index]) live[index] = allocate(tensor, pass);
    if (tensor.slices != models::Across::Summed) return;
    for (MicroBatch earlier = micro_batch; *earlier.slice > 0;) {
        --*earlier.slice;
        LiveTensors& of_slice = state.live.at(earlier);
        if (!of_slice[index]) of_slice[index] = allocate(tensor, pass);
    }
}

void StageParts::make_room(const MicroBatch& micro_batch, const models::StageGraph& graph,
                           const models::OperatorRun& run, std::optional<int> but) {
    for (const int tensor : run.allocates) {
        if (tensor == but || returns(run, tensor)) continue;
        make_room(micro_batch, graph, tensor, graph.operators[run.op].layer);
    }
    LiveTensors& live = state.live.at(micro_batch);
    for (const int tensor : run.returns) {
        const models::Tensor& of = graph.tensors[tensor];
        const int layer = module_offloads.layer_of(micro_batch, tensor);
        live[tensor] = allocate(of, {micro_batch.index, micro_batch.slice.value_or(0), layer});
        module_offloads.come_back(micro_batch, tensor, live[tensor].view());
    }
    module_offloads.await(micro_batch, graph.operators[run.op], run.part);
}

void StageParts::did(const Action& action) {
    if (state.tools.log != nullptr) state.tools.log->actions.push_back(action);
}

}  // namespace debubble::exec

#include "exec/core/stage/model_stage.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "exec/core/stage/away_tensors.h"
#include "exec/core/stage/offloaded_tensors.h"
#include "exec/core/stage/operator_call.h"
#include "exec/core/stage/operator_clock.h"
#include "exec/core/stage/pairs.h"
#include "exec/core/stage/rope_table.h"
#include "exec/core/stage/run_operator.h"
#include "models/operator_runs.h"

namespace debubble::exec {

namespace {

using models::OperatorRun;
using models::Part;

PassOrder order_of(const models::StageGraph& graph, const std::vector<OperatorRun>& runs) {
    PassOrder order;
    for (const OperatorRun& run : runs) {
        const std::optional<int> layer = graph.operators[run.op].layer;
        if (order.empty() || order.back() != layer) order.push_back(layer);
    }
    return order;
}

bool contains(const std::vector<int>& tensors, int tensor) {
    return std::ranges::find(tensors, tensor) != tensors.end();
}

PassReads reads_of(const std::vector<OperatorRun>& runs) {
    const auto is_weight = [](const OperatorRun& run) { return run.part == Part::Weight; };
    return std::ranges::all_of(runs, is_weight) ? PassReads::NoParameters : PassReads::Parameters;
}

/// The pass that has run, by the parts of operators that were called; a pass that calls none is the
/// one that was meant.
Pass pass_of(const std::vector<Part>& called, Pass meant) {
    const auto any = [&](Part part) { return std::ranges::find(called, part) != called.end(); };
    if (any(Part::Fused)) return Pass::Backward;
    if (any(Part::Weight)) return Pass::BackwardWeight;
    if (any(Part::Input)) return Pass::BackwardInput;
    return any(Part::Forward) ? Pass::Forward : meant;
}

/// A slice of the sequence with its graph and the order of its passes.
struct SlicePlan {
    models::StageGraph graph;
    models::RunsByPass fused;
    models::RunsByPass split;
};

class ModelStage final : public StageRunner {
public:
    ModelStage(std::vector<models::StageGraph> graphs, const StageTools& tools)
        : state_{tools, nullptr, {}, {}, {}, {}, {}, {}, {}},
          offloaded_(tools),
          away_(tools),
          clock_(tools) {
        for (models::StageGraph& graph : graphs) {
            models::RunsByPass fused = operator_runs(graph, false),
                               split = operator_runs(graph, true);
            slices_.push_back({std::move(graph), std::move(fused), std::move(split)});
        }
        allocate_constants();
        away_.reserve(slices_.front().graph, slices_.front().fused[0]);
    }

    ArenaTensor edge(Message::Kind) override {
        const models::StageGraph& graph = slices_.front().graph;
        const models::Execution& how = graph.execution;
        const DataType type = executed_type(how.compute);
        const std::int64_t elements = graph.boundary_bytes().count / size_of(type);
        const std::int64_t hidden = graph.architecture.hidden;
        return state_.tools.arena.allocate({elements / hidden, hidden}, type,
                                           MemoryClass::Activations, "edge");
    }

    void begin_step(const StepInputs& inputs) override {
        state_.step = &inputs;
        state_.load = {};
        state_.tools.kernels.fill_zero(state_.totals.view());
        for (auto& [layer, so_far] : state_.balanced) {
            so_far.micro_batches = 0;
            state_.tools.kernels.fill_zero(so_far.counts.view());
        }
    }

    void end_step() override {
        state_.tools.kernels.finish();
        clock_.end_step();
        DEBUBBLE_CHECK(std::ranges::all_of(state_.live, is_empty),
                       "a step leaves no activation behind");
        state_.live.clear();
        state_.routed.clear();
        state_.step = nullptr;
    }

    ArenaTensor forward(const MicroBatch& micro_batch, ArenaTensor input) override {
        const SlicePlan& slice = slice_of(micro_batch);
        LiveTensors& live = begin(micro_batch);
        if (slice.graph.input) live[*slice.graph.input] = std::move(input);
        ArenaTensor output =
            run_pass(Pass::Forward, micro_batch, slice.fused[0], slice.graph.output, false);
        if (!state_.step->training) {
            drop_evaluated(micro_batch);
        } else if (state_.tools.recomputed) {
            keep(live, [&](int tensor) {
                return tensor == slice.graph.input || seen_later(slice.graph, tensor);
            });
        }
        return output;
    }

    void recompute(const MicroBatch& micro_batch) override {
        const SlicePlan& slice = slice_of(micro_batch);
        const ArenaTensor output =
            run_pass(Pass::Forward, micro_batch, slice.fused[0], slice.graph.output, true);
    }

    ArenaTensor backward(const MicroBatch& micro_batch, ArenaTensor output_gradient) override {
        return backward_pass(Pass::Backward, micro_batch, slice_of(micro_batch).fused[1],
                             std::move(output_gradient));
    }
    ArenaTensor backward_input(const MicroBatch& micro_batch,
                               ArenaTensor output_gradient) override {
        return backward_pass(Pass::BackwardInput, micro_batch, slice_of(micro_batch).split[1],
                             std::move(output_gradient));
    }
    void backward_weight(const MicroBatch& micro_batch) override {
        run_pass(Pass::BackwardWeight, micro_batch, slice_of(micro_batch).split[2], std::nullopt,
                 false);
    }

    void offload(const MicroBatch& micro_batch) override {
        offloaded_.offload(micro_batch, slice_of(micro_batch).graph, state_.live.at(micro_batch));
        did(Offload{state_.tools.stage, micro_batch});
    }
    void reload(const MicroBatch& micro_batch) override {
        offloaded_.reload(micro_batch, slice_of(micro_batch).graph, state_.live.at(micro_batch));
        did(Reload{state_.tools.stage, micro_batch});
    }

    double loss_total() const override { return total(StepTotal::Loss); }
    double ahead_loss_total() const override { return total(StepTotal::Ahead); }
    double correct_total() const override { return total(StepTotal::Correct); }
    RouterTotals router_totals() const override {
        return {total(StepTotal::Balance), total(StepTotal::Z)};
    }
    ExpertLoad expert_load() const override { return state_.load; }
    std::chrono::nanoseconds communicated() const override {
        return state_.communicated + state_.tools.parameters.communicated();
    }

private:
    static bool is_empty(const std::pair<const MicroBatch, LiveTensors>& tensors) {
        return std::ranges::none_of(
            tensors.second, [](const ArenaTensor& tensor) { return static_cast<bool>(tensor); });
    }

    double total(StepTotal which) const {
        const Tensor host({kStepTotals}, DataType::Fp64);
        state_.tools.kernels.download(state_.totals.view(), host.view());
        return host.as<double>()[static_cast<std::int64_t>(which)];
    }

    /// Memory for a graph's tensor, in elements of the compute type; its operators decide what it
    /// holds. One of routed rows has room for those that came in the pass.
    ArenaTensor allocate(const models::Tensor& tensor, const RoutedPass& pass) {
        const DataType type = executed_type(slices_.front().graph.execution.compute);
        std::int64_t bytes = tensor.bytes.count;
        Bytes if_even;
        if (tensor.routed) {
            const Routing& routing = state_.routed.at(pass);
            bytes = rows_of(routing, *tensor.routed) * tensor.routed->row_bytes;
            if_even = Bytes{even_rows_of(routing, *tensor.routed) * tensor.routed->row_bytes};
        }
        const std::int64_t elements = (bytes + size_of(type) - 1) / size_of(type);
        return state_.tools.arena.allocate({elements}, type, tensor.held_as, tensor.name, if_even);
    }

    void allocate_constants() {
        Arena& arena = state_.tools.arena;
        state_.totals =
            arena.allocate({kStepTotals}, DataType::Fp64, MemoryClass::Buffers, "totals");
        state_.tools.kernels.fill_zero(state_.totals.view());
        const models::StageGraph& graph = slices_.front().graph;
        const models::Architecture& network = graph.architecture;
        const int further = graph.content.head ? network.mtp_layers : 0;
        for (int layer = 0; layer < graph.content.layers + further; ++layer) {
            const auto* attention =
                network.layer_at(graph.content.first_layer + layer).as<models::Attention>();
            if (attention != nullptr && attention->rotary)
                make_table(angles_of(*attention, network.max_positions),
                           graph.execution.seq_length);
        }
        count_over_step(graph);
    }

    void count_over_step(const models::StageGraph& graph) {
        const models::RouterTerms& terms = graph.execution.router_terms;
        if (!terms.balance || !terms.by_step) return;
        for (const models::Operator& op : graph.operators) {
            if (op.as<op::Router>() == nullptr) continue;
            const auto& of =
                std::get<models::Experts>(graph.architecture.layer_at(op.layer.value()).mlp);
            state_.balanced[*op.layer].counts = state_.tools.arena.allocate(
                {of.count}, DataType::Fp32, MemoryClass::Buffers, "tokens of experts");
        }
    }

    /// Makes the tables of a kind of angles, once.
    void make_table(const RotaryAngles& angles, std::int64_t positions) {
        if (std::ranges::count(state_.tables, angles, &RotaryTable::angles) > 0) return;
        Arena& arena = state_.tools.arena;
        const Shape shape{positions, angles.columns / 2};
        const Tensor cosines(shape), sines(shape);
        rope_table(angles, cosines.as<float>(), sines.as<float>());
        state_.tables.push_back(
            {angles, arena.allocate(shape, DataType::Fp32, MemoryClass::Buffers, "rope.cos"),
             arena.allocate(shape, DataType::Fp32, MemoryClass::Buffers, "rope.sin")});
        state_.tools.kernels.upload(cosines.view(), state_.tables.back().cosines.view());
        state_.tools.kernels.upload(sines.view(), state_.tables.back().sines.view());
    }

    const SlicePlan& slice_of(const MicroBatch& micro_batch) const {
        if (slices_.size() == 1) return slices_.front();
        return slices_[static_cast<std::size_t>(micro_batch.slice.value_or(0))];
    }

    LiveTensors& begin(const MicroBatch& micro_batch) {
        LiveTensors& live = state_.live[micro_batch];
        live.resize(slice_of(micro_batch).graph.tensors.size());
        return live;
    }

    template <class Test>
    static void keep(LiveTensors& live, const Test& is_kept) {
        for (std::size_t i = 0; i < live.size(); ++i)
            if (!is_kept(static_cast<int>(i))) live[i] = {};
    }

    /// Drops all tensors of an evaluation except those that later slices of its microbatch read.
    void drop_evaluated(const MicroBatch& micro_batch) {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        const int slice = micro_batch.slice.value_or(0);
        const bool last = slice + 1 == graph.execution.slices || state_.tools.keys != nullptr;
        keep(state_.live.at(micro_batch),
             [&](int tensor) { return !last && seen_later(graph, tensor); });
        for (MicroBatch earlier = micro_batch; last && earlier.slice.value_or(0) > 0;) {
            --*earlier.slice;
            state_.live.erase(earlier);
        }
    }

    /// Makes room for sums over slices in all of them, once the last slice's backward starts.
    void make_room(const MicroBatch& micro_batch, const models::StageGraph& graph, int index,
                   std::optional<int> layer) {
        const models::Tensor& tensor = graph.tensors[index];
        LiveTensors& live = state_.live.at(micro_batch);
        const RoutedPass pass{micro_batch.index, micro_batch.slice.value_or(0), layer.value_or(0)};
        if (!live[index]) live[index] = allocate(tensor, pass);
        if (tensor.slices != models::Across::Summed) return;
        for (MicroBatch earlier = micro_batch; *earlier.slice > 0;) {
            --*earlier.slice;
            LiveTensors& of_slice = state_.live.at(earlier);
            if (!of_slice[index]) of_slice[index] = allocate(tensor, pass);
        }
    }

    void did(const Action& action) {
        if (state_.tools.log != nullptr) state_.tools.log->actions.push_back(action);
    }

    ArenaTensor backward_pass(Pass meant, const MicroBatch& micro_batch,
                              const std::vector<OperatorRun>& runs, ArenaTensor output_gradient) {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        if (graph.output_gradient)
            state_.live.at(micro_batch)[*graph.output_gradient] = std::move(output_gradient);
        return run_pass(meant, micro_batch, runs, graph.input_gradient, false);
    }

    /// Runs the operator calls; the tensor `kept` is returned where the plan would free it.
    ArenaTensor run_pass(Pass meant, const MicroBatch& micro_batch,
                         const std::vector<OperatorRun>& runs, std::optional<int> kept,
                         bool again) {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        LiveTensors& live = state_.live.at(micro_batch);
        ArenaTensor result;
        called_.clear();
        StageParameters& parameters = state_.tools.parameters;
        parameters.begin_pass(order_of(graph, runs), reads_of(runs));
        clock_.begin();
        std::chrono::nanoseconds waited = parameters.communicated();
        const auto end_sharding = [&] {
            const std::chrono::nanoseconds before =
                std::exchange(waited, parameters.communicated());
            clock_.end_sharding(waited - before);
        };
        /// An operator of the layer whose parameters are open.
        const models::Operator* opened = nullptr;
        const auto open_for = [&](const models::Operator& op) {
            if (opened != nullptr && opened->layer == op.layer) return;
            if (opened != nullptr) parameters.close(opened->layer);
            parameters.open(op.layer);
            opened = &op;
            end_sharding();
        };
        const auto call_of = [&](const OperatorRun& run) {
            const bool repeated = again || run.part == Part::Again;
            return OperatorCall{
                graph,    graph.operators[run.op],       live,    state_, micro_batch.index,
                repeated, micro_batch.slice.value_or(0), run.part};
        };
        const auto free = [&](const OperatorRun& run) {
            if (meant == Pass::Forward && state_.step->training)
                away_.leave(micro_batch, graph, run, live);
            for (const int tensor : run.frees) {
                if (tensor == kept) result = std::move(live[tensor]);
                live[tensor] = {};
            }
        };
        for (std::size_t at = 0; at < runs.size(); ++at) {
            const OperatorRun& run = runs[at];
            const OperatorCall call = call_of(run);
            const Part part = call.again ? Part::Again : run.part;
            const auto pair = state_.tools.kernels.makes_pairs()
                                  ? pair_at(graph, runs, at, call.dropout() > 0)
                                  : std::nullopt;
            if (!pair) {
                open_for(call.op);
                make_room(micro_batch, graph, run, {});
                run_operator(call, run.part);
                called_.push_back(run.part);
                free(run);
                clock_.end(graph, call.op, part);
                continue;
            }
            const OperatorRun& next = runs[++at];
            DEBUBBLE_CHECK(!pair->reuse || !contains(run.leaves, pair->reuse->tensor),
                           "a tensor that goes to the host is not overwritten before");
            const OperatorCall second = call_of(next);
            open_for(call.op.parameters.empty() ? second.op : call.op);
            make_room(micro_batch, graph, run, {});
            std::optional<int> but;
            if (pair->reuse) but = pair->reuse->becomes;
            make_room(micro_batch, graph, next, but);
            if (pair->reuse) live[pair->reuse->becomes] = std::move(live[pair->reuse->tensor]);
            run_pair(pair->kind, call, second, run.part);
            called_.insert(called_.end(), {run.part, next.part});
            free(run);
            free(next);
            clock_.end(graph, call.op, part);
            clock_.end(graph, second.op, part);  // next to nothing: the first has all of it
        }
        if (opened != nullptr) parameters.close(opened->layer);
        parameters.end_pass();
        end_sharding();
        if (again)
            did(Recompute{state_.tools.stage, micro_batch});
        else
            did(Compute{pass_of(called_, meant), state_.tools.stage, micro_batch});
        return result;
    }

    /// Makes room for the tensors that the call needs, except one.
    void make_room(const MicroBatch& micro_batch, const models::StageGraph& graph,
                   const OperatorRun& run, std::optional<int> but) {
        for (const int tensor : run.allocates) {
            if (tensor == but || contains(run.returns, tensor)) continue;
            make_room(micro_batch, graph, tensor, graph.operators[run.op].layer);
        }
        LiveTensors& live = state_.live.at(micro_batch);
        for (const int tensor : run.returns) {
            const models::Tensor& of = graph.tensors[tensor];
            const int layer = away_.layer_of(micro_batch, tensor);
            live[tensor] = allocate(of, {micro_batch.index, micro_batch.slice.value_or(0), layer});
            away_.come_back(micro_batch, tensor, live[tensor].view());
        }
        away_.await(micro_batch, graph.operators[run.op], run.part);
    }

    StageMemory state_;
    std::vector<SlicePlan> slices_;
    OffloadedTensors offloaded_;
    AwayTensors away_;
    OperatorClock clock_;
    std::vector<Part> called_;  ///< parts called in the pass under way
};

}  // namespace

std::unique_ptr<StageRunner> make_model_stage(std::vector<models::StageGraph> graphs,
                                              const StageTools& tools) {
    DEBUBBLE_CHECK(!graphs.empty(), "a stage has a graph");
    return std::make_unique<ModelStage>(std::move(graphs), tools);
}

}  // namespace debubble::exec

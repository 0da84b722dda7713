#include "exec/stage/model_stage.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "exec/cpu/reference/rope.h"
#include "exec/pinned_pool.h"
#include "exec/stage/operator_call.h"
#include "exec/stage/pairs.h"
#include "models/visits.h"

namespace debubble::exec {

namespace {

using models::OperatorKind;
using models::Part;
using models::Visit;

void run_forward(const OperatorCall& call) {
    switch (call.op.kind) {
        case OperatorKind::TokenEmbedding: return token_embedding_forward(call);
        case OperatorKind::PositionEmbedding: return positions_forward(call);
        case OperatorKind::PatchEmbedding:
        case OperatorKind::Linear: return linear_forward(call);
        case OperatorKind::Norm: return norm_forward(call);
        case OperatorKind::Rope:
        case OperatorKind::SplitHeads: return split_heads_forward(call);
        case OperatorKind::Attention: return attention_forward(call);
        case OperatorKind::Activation: return activation_forward(call);
        case OperatorKind::Residual: return residual_forward(call);
        case OperatorKind::Gather: return gather_forward(call);
        case OperatorKind::Loss: return loss_forward(call);
    }
}

void run_backward_input(const OperatorCall& call) {
    switch (call.op.kind) {
        case OperatorKind::TokenEmbedding: return;
        case OperatorKind::PositionEmbedding: return positions_backward_input(call);
        case OperatorKind::PatchEmbedding:
        case OperatorKind::Linear: return linear_backward_input(call);
        case OperatorKind::Norm: return norm_backward_input(call);
        case OperatorKind::Rope:
        case OperatorKind::SplitHeads: return split_heads_backward_input(call);
        case OperatorKind::Attention: return attention_backward_input(call);
        case OperatorKind::Activation: return activation_backward_input(call);
        case OperatorKind::Residual: return residual_backward_input(call);
        case OperatorKind::Gather: return gather_backward_input(call);
        case OperatorKind::Loss: return loss_backward_input(call);
    }
}

void run_backward_weight(const OperatorCall& call) {
    switch (call.op.kind) {
        case OperatorKind::TokenEmbedding: return token_embedding_backward_weight(call);
        case OperatorKind::PositionEmbedding: return positions_backward_weight(call);
        case OperatorKind::PatchEmbedding:
        case OperatorKind::Linear: return linear_backward_weight(call);
        case OperatorKind::Norm:  // with the input's, which reads the same
        case OperatorKind::Rope:
        case OperatorKind::SplitHeads:
        case OperatorKind::Attention:
        case OperatorKind::Activation:
        case OperatorKind::Residual:
        case OperatorKind::Gather:
        case OperatorKind::Loss: return;
    }
}

void run(const OperatorCall& call, Part part) {
    switch (part) {
        case Part::Forward:
        case Part::Again: return run_forward(call);
        case Part::Input: return run_backward_input(call);
        case Part::Weight: return run_backward_weight(call);
        case Part::Fused: run_backward_input(call); return run_backward_weight(call);
    }
}

/// A slice of the sequence with its graph, and how its passes go.
struct SlicePlan {
    models::StageGraph graph;
    models::PassVisits fused;
    models::PassVisits split;
};

/// Activations that wait outside the arena, by tensor.
struct OffloadedTensor {
    int index = 0;
    Tensor host;        ///< or, of a device's,
    TensorView pinned;  ///< in
    PinnedPool::Block memory;
};

class ModelStage final : public StageRunner {
public:
    ModelStage(std::vector<models::StageGraph> graphs, const StageTools& tools)
        : state_{tools, nullptr, {}, {}, {}, {}, {}} {
        if (tools.lanes != nullptr) pinned_.emplace(*tools.lanes);
        for (models::StageGraph& graph : graphs) {
            models::PassVisits fused = visits_of(graph, false), split = visits_of(graph, true);
            slices_.push_back({std::move(graph), std::move(fused), std::move(split)});
        }
        allocate_constants();
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
        state_.tools.kernels.fill_zero(state_.totals.view());
    }

    void end_step() override {
        state_.tools.kernels.finish();
        assert(std::ranges::all_of(state_.live, is_empty) && "a step leaves no activation behind");
        state_.live.clear();
        state_.step = nullptr;
    }

    ArenaTensor forward(const MicroBatch& micro_batch, ArenaTensor input) override {
        const SlicePlan& slice = slice_of(micro_batch);
        LiveTensors& live = begin(micro_batch);
        if (slice.graph.input) live[*slice.graph.input] = std::move(input);
        ArenaTensor output = run_pass(micro_batch, slice.fused[0], slice.graph.output, false);
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
        const ArenaTensor output = run_pass(micro_batch, slice.fused[0], slice.graph.output, true);
    }

    ArenaTensor backward(const MicroBatch& micro_batch, ArenaTensor output_gradient) override {
        return backward_pass(micro_batch, slice_of(micro_batch).fused[1],
                             std::move(output_gradient));
    }
    ArenaTensor backward_input(const MicroBatch& micro_batch,
                               ArenaTensor output_gradient) override {
        return backward_pass(micro_batch, slice_of(micro_batch).split[1],
                             std::move(output_gradient));
    }
    void backward_weight(const MicroBatch& micro_batch) override {
        run_pass(micro_batch, slice_of(micro_batch).split[2], std::nullopt, false);
    }

    void offload(const MicroBatch& micro_batch) override {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        LiveTensors& live = state_.live.at(micro_batch);
        std::vector<OffloadedTensor>& waiting = offloaded_[micro_batch];
        if (pinned_) return offload_by_lane(graph, live, waiting);
        for (std::size_t i = 0; i < live.size(); ++i) {
            if (!live[i] || seen_later(graph, static_cast<int>(i))) continue;
            const TensorView& view = live[i].view();
            waiting.push_back({static_cast<int>(i), Tensor(view.shape, view.type), {}, {}});
            state_.tools.kernels.download(view, waiting.back().host.view());
            live[i] = {};
        }
    }

    void reload(const MicroBatch& micro_batch) override {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        LiveTensors& live = state_.live.at(micro_batch);
        for (const OffloadedTensor& tensor : offloaded_[micro_batch]) {
            const TensorView host = pinned_ ? tensor.pinned : tensor.host.view();
            live[tensor.index] = state_.tools.arena.allocate(
                host.shape, host.type, MemoryClass::Activations, graph.tensors[tensor.index].name);
            const TensorView& back = live[tensor.index].view();
            if (pinned_)
                state_.tools.lanes->copy(kCopyLane, host.data, back.data, Bytes{host.bytes()});
            else
                state_.tools.kernels.upload(host, back);
        }
        offloaded_.erase(micro_batch);
    }

    /// The copy lane does one copy after the other, out and in, so that pinned memory may be given
    /// to the next as soon as its copy was asked for.
    void offload_by_lane(const models::StageGraph& graph, LiveTensors& live,
                         std::vector<OffloadedTensor>& waiting) {
        DeviceLanes& lanes = *state_.tools.lanes;
        std::vector<ArenaTensor> leaving;
        for (std::size_t i = 0; i < live.size(); ++i) {
            if (!live[i] || seen_later(graph, static_cast<int>(i))) continue;
            const TensorView& view = live[i].view();
            PinnedPool::Block memory = pinned_->take(Bytes{view.bytes()});
            lanes.copy(kCopyLane, view.data, memory.data(), Bytes{view.bytes()});
            const TensorView there{memory.data(), view.shape, view.type};
            waiting.push_back({static_cast<int>(i), {}, there, std::move(memory)});
            leaving.push_back(std::move(live[i]));
        }
        const Mark left = lanes.mark(kCopyLane);
        for (ArenaTensor& tensor : leaving)
            state_.tools.arena.lend(std::move(tensor),
                                    [&lanes, left] { return lanes.reached(left); });
    }

    double loss_total() const override { return totals()[0]; }
    double correct_total() const override { return totals()[1]; }
    std::chrono::nanoseconds communicated() const override {
        return state_.communicated + state_.tools.parameters.communicated();
    }

private:
    static bool is_empty(const std::pair<const MicroBatch, LiveTensors>& tensors) {
        return std::ranges::none_of(
            tensors.second, [](const ArenaTensor& tensor) { return static_cast<bool>(tensor); });
    }

    std::array<double, 2> totals() const {
        const Tensor host({2}, DataType::Fp64);
        state_.tools.kernels.download(state_.totals.view(), host.view());
        return {host.as<double>()[0], host.as<double>()[1]};
    }

    /// Memory of a graph's tensor, in elements of the compute type: what it holds is the
    /// operators' matter.
    ArenaTensor allocate(const models::Tensor& tensor) {
        const DataType type = executed_type(slices_.front().graph.execution.compute);
        const std::int64_t elements = (tensor.bytes.count + size_of(type) - 1) / size_of(type);
        return state_.tools.arena.allocate({elements}, type, tensor.held_as, tensor.name);
    }

    void allocate_constants() {
        Arena& arena = state_.tools.arena;
        state_.totals = arena.allocate({2}, DataType::Fp64, MemoryClass::Buffers, "totals");
        state_.tools.kernels.fill_zero(state_.totals.view());
        const models::StageGraph& graph = slices_.front().graph;
        if (graph.architecture.positions != models::Positions::Rope) return;
        const Shape table{graph.execution.seq_length, graph.architecture.head_dim / 2};
        const Tensor cosines(table), sines(table);
        reference::rope_table(graph.architecture.rope_theta, cosines.as<float>(),
                              sines.as<float>());
        state_.cosines = arena.allocate(table, DataType::Fp32, MemoryClass::Buffers, "rope.cos");
        state_.sines = arena.allocate(table, DataType::Fp32, MemoryClass::Buffers, "rope.sin");
        state_.tools.kernels.upload(cosines.view(), state_.cosines.view());
        state_.tools.kernels.upload(sines.view(), state_.sines.view());
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

    static bool seen_later(const models::StageGraph& graph, int tensor) {
        return graph.tensors[tensor].slices == models::Across::Seen;
    }

    template <class Test>
    static void keep(LiveTensors& live, const Test& is_kept) {
        for (std::size_t i = 0; i < live.size(); ++i)
            if (!is_kept(static_cast<int>(i))) live[i] = {};
    }

    /// An evaluation leaves nothing but what the later slices of its microbatch see.
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

    /// Sums over slices have room in all of them, once the last one's backward begins.
    void make_room(const MicroBatch& micro_batch, const models::StageGraph& graph, int index) {
        const models::Tensor& tensor = graph.tensors[index];
        LiveTensors& live = state_.live.at(micro_batch);
        if (!live[index]) live[index] = allocate(tensor);
        if (tensor.slices != models::Across::Summed) return;
        for (MicroBatch earlier = micro_batch; *earlier.slice > 0;) {
            --*earlier.slice;
            LiveTensors& of_slice = state_.live.at(earlier);
            if (!of_slice[index]) of_slice[index] = allocate(tensor);
        }
    }

    ArenaTensor backward_pass(const MicroBatch& micro_batch, const std::vector<Visit>& visits,
                              ArenaTensor output_gradient) {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        if (graph.output_gradient)
            state_.live.at(micro_batch)[*graph.output_gradient] = std::move(output_gradient);
        return run_pass(micro_batch, visits, graph.input_gradient, false);
    }

    /// Runs the visits; the tensor `kept` is handed out where the plan would free it.
    ArenaTensor run_pass(const MicroBatch& micro_batch, const std::vector<Visit>& visits,
                         std::optional<int> kept, bool again) {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        LiveTensors& live = state_.live.at(micro_batch);
        ArenaTensor result;
        StageParameters& parameters = state_.tools.parameters;
        Clock::time_point begin = listens() ? Clock::now() : Clock::time_point{};
        const models::Operator* opened = nullptr;  ///< one of the layer whose parameters are open
        const auto open_for = [&](const models::Operator& op) {
            if (opened != nullptr && opened->layer == op.layer) return;
            if (opened != nullptr) parameters.close(opened->layer);
            parameters.open(op.layer);
            opened = &op;
        };
        const auto call_of = [&](const Visit& visit) {
            const bool repeated = again || visit.part == Part::Again;
            return OperatorCall{
                graph,    graph.operators[visit.op],    live, state_, micro_batch.index,
                repeated, micro_batch.slice.value_or(0)};
        };
        const auto free = [&](const Visit& visit) {
            for (const int tensor : visit.frees) {
                if (tensor == kept) result = std::move(live[tensor]);
                live[tensor] = {};
            }
        };
        for (std::size_t at = 0; at < visits.size(); ++at) {
            const Visit& visit = visits[at];
            const OperatorCall call = call_of(visit);
            const Part part = call.again ? Part::Again : visit.part;
            const auto pair = state_.tools.kernels.makes_pairs()
                                  ? pair_at(graph, visits, at, call.dropout() > 0)
                                  : std::nullopt;
            if (!pair) {
                open_for(call.op);
                make_room(micro_batch, graph, visit, -1);
                run(call, visit.part);
                free(visit);
                if (listens()) begin = tell(graph, call.op, part, begin);
                continue;
            }
            const Visit& next = visits[++at];
            const OperatorCall second = call_of(next);
            open_for(call.op.parameters.empty() ? second.op : call.op);
            make_room(micro_batch, graph, visit, pair->skipped);
            make_room(micro_batch, graph, next, pair->becomes);
            if (pair->reused >= 0) live[pair->becomes] = std::move(live[pair->reused]);
            run_pair(pair->kind, call, second, visit.part);
            free(visit);
            free(next);
            if (!listens()) continue;
            begin = tell(graph, call.op, part, begin);
            begin = tell(graph, second.op, part, begin);  // next to nothing: the first has it all
        }
        if (opened != nullptr) parameters.close(opened->layer);
        return result;
    }

    /// For what the visit wants, but for one tensor.
    void make_room(const MicroBatch& micro_batch, const models::StageGraph& graph,
                   const Visit& visit, int but) {
        for (const int tensor : visit.allocates)
            if (tensor != but) make_room(micro_batch, graph, tensor);
    }

    static void run_pair(VisitPair::Kind kind, const OperatorCall& first,
                         const OperatorCall& second, Part part) {
        switch (kind) {
            case VisitPair::Kind::LinearActivation: return linear_activation_forward(first, second);
            case VisitPair::Kind::ActivationLinear:
                linear_activation_backward_input(first, second);
                if (part == Part::Fused) run_backward_weight(first);
                return;
            case VisitPair::Kind::ResidualNorm: return residual_norm_forward(first, second);
        }
    }

    bool listens() const { return static_cast<bool>(state_.tools.on_visit); }
    /// Returns where the next operator begins: what the listener does counts for none.
    Clock::time_point tell(const models::StageGraph& graph, const models::Operator& op, Part part,
                           Clock::time_point begin) {
        state_.tools.kernels.finish();
        state_.tools.on_visit(graph, op, part, Clock::now() - begin);
        return Clock::now();
    }

    StageMemory state_;
    std::vector<SlicePlan> slices_;
    std::optional<PinnedPool> pinned_;  ///< of the copy lane alone
    std::map<MicroBatch, std::vector<OffloadedTensor>> offloaded_;
};

}  // namespace

std::unique_ptr<StageRunner> make_model_stage(std::vector<models::StageGraph> graphs,
                                              const StageTools& tools) {
    assert(!graphs.empty() && "a stage has a graph");
    const models::Execution& how = graphs.front().execution;
    if (how.context > 1) {
        throw InputError(
            fmt::format("context parallelism (here over {} ranks) is simulated, and "
                        "not executed yet",
                        how.context));
    }
    return std::make_unique<ModelStage>(std::move(graphs), tools);
}

}  // namespace debubble::exec

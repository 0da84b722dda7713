#include "exec/core/stage/passes/model_stage.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "base/check.h"
#include "exec/core/stage/passes/pass_run.h"
#include "exec/core/stage/rope_table.h"

namespace debubble::exec {

namespace {

using models::OperatorRun;

class ModelStage final : public StageRunner {
public:
    ModelStage(std::vector<models::StageGraph> graphs, const StageTools& tools)
        : parts_(std::move(graphs), tools) {
        allocate_constants();
        parts_.module_offloads.reserve(parts_.slices.front().graph, parts_.slices.front().fused[0]);
    }

    ArenaTensor edge(Message::Kind kind) override {
        const models::StageGraph& graph = parts_.slices.front().graph;
        const models::Execution& how = graph.execution;
        const DataType type = executed_type(how.compute);
        const Bytes bytes =
            kind == Message::Kind::Activation ? graph.input_bytes() : graph.output_bytes();
        const std::int64_t elements = bytes.count / size_of(type);
        const std::int64_t hidden = graph.architecture.hidden;
        return parts_.state.tools.arena.allocate({elements / hidden, hidden}, type,
                                                 MemoryClass::Activations, "edge");
    }

    void begin_step(const StepInputs& inputs) override {
        parts_.state.step = &inputs;
        parts_.state.load = {};
        parts_.state.routed.clear();
        parts_.state.tools.kernels.fill_zero(parts_.state.totals.view());
        for (auto& [layer, so_far] : parts_.state.balanced) {
            so_far.micro_batches = 0;
            parts_.state.tools.kernels.fill_zero(so_far.counts.view());
        }
    }

    void end_step() override {
        parts_.state.tools.kernels.finish();
        parts_.clock.end_step();
        DEBUBBLE_CHECK(std::ranges::all_of(parts_.state.live, is_empty),
                       "no activation is left after a step");
        parts_.state.live.clear();
        parts_.state.step = nullptr;
    }

    ArenaTensor forward(const MicroBatch& micro_batch, ArenaTensor input) override {
        const SlicePlan& slice = parts_.slice_of(micro_batch);
        take_input(micro_batch, std::move(input));
        ArenaTensor output =
            run_pass(Pass::Forward, micro_batch, slice.fused[0], slice.graph.output, false);
        after_forward(micro_batch);
        return output;
    }
    std::unique_ptr<OverlappedPass> begin_forward(const MicroBatch& micro_batch,
                                                  ArenaTensor input) override {
        const SlicePlan& slice = parts_.slice_of(micro_batch);
        take_input(micro_batch, std::move(input));
        return overlapped_pass(
            parts_,
            PassAsked{Pass::Forward, micro_batch, slice.fused[0], slice.graph.output, false, false},
            [this, micro_batch] { after_forward(micro_batch); });
    }
    std::unique_ptr<OverlappedPass> begin_backward(Pass pass, const MicroBatch& micro_batch,
                                                   ArenaTensor output_gradient) override {
        const SlicePlan& slice = parts_.slice_of(micro_batch);
        take_gradient(micro_batch, std::move(output_gradient));
        return overlapped_pass(
            parts_,
            PassAsked{pass, micro_batch, pass == Pass::Backward ? slice.fused[1] : slice.split[1],
                      slice.graph.input_gradient});
    }
    bool can_overlap() const override {
        return !parts_.state.tools.on_operator &&
               !parts_.state.tools.parameters.gathers_in_passes();
    }

    void recompute(const MicroBatch& micro_batch) override {
        const SlicePlan& slice = parts_.slice_of(micro_batch);
        const ArenaTensor output =
            run_pass(Pass::Forward, micro_batch, slice.fused[0], slice.graph.output, true);
    }

    ArenaTensor backward(const MicroBatch& micro_batch, ArenaTensor output_gradient) override {
        return backward_pass(Pass::Backward, micro_batch, parts_.slice_of(micro_batch).fused[1],
                             std::move(output_gradient));
    }
    ArenaTensor backward_input(const MicroBatch& micro_batch,
                               ArenaTensor output_gradient) override {
        return backward_pass(Pass::BackwardInput, micro_batch,
                             parts_.slice_of(micro_batch).split[1], std::move(output_gradient));
    }
    void backward_weight(const MicroBatch& micro_batch) override {
        run_pass(Pass::BackwardWeight, micro_batch, parts_.slice_of(micro_batch).split[2],
                 std::nullopt, false);
    }

    void offload(const MicroBatch& micro_batch) override {
        parts_.offloaded.offload(micro_batch, parts_.slice_of(micro_batch).graph,
                                 parts_.state.live.at(micro_batch));
        parts_.did(Offload{parts_.state.tools.stage, micro_batch});
    }
    void reload(const MicroBatch& micro_batch) override {
        parts_.offloaded.reload(micro_batch, parts_.slice_of(micro_batch).graph,
                                parts_.state.live.at(micro_batch));
        parts_.did(Reload{parts_.state.tools.stage, micro_batch});
    }

    double loss_total() const override { return total(StepTotal::Loss); }
    double ahead_loss_total() const override { return total(StepTotal::Ahead); }
    double correct_total() const override { return total(StepTotal::Correct); }
    RouterTotals router_totals() const override {
        return {total(StepTotal::Balance), total(StepTotal::Z)};
    }
    ExpertLoad expert_load() const override { return parts_.state.load; }
    std::vector<ReceivedTokens> received_tokens() const override {
        std::vector<ReceivedTokens> rows;
        const bool sliced = parts_.slices.front().graph.execution.slices > 1;
        for (const auto& [pass, routing] : parts_.state.routed) {
            MicroBatch of{pass.micro_batch, {}};
            if (sliced) of.slice = static_cast<std::int16_t>(pass.slice);
            rows.push_back({of, pass.layer, routing.received(), routing.at_experts()});
        }
        return rows;
    }
    HostTime communicated() const override {
        return parts_.state.communicated + parts_.state.tools.parameters.communicated();
    }

private:
    static bool is_empty(const std::pair<const MicroBatch, LiveTensors>& tensors) {
        return std::ranges::none_of(
            tensors.second, [](const ArenaTensor& tensor) { return static_cast<bool>(tensor); });
    }

    double total(StepTotal which) const {
        const Tensor host({kStepTotals}, DataType::Fp64);
        parts_.state.tools.kernels.download(parts_.state.totals.view(), host.view());
        return host.as<double>()[static_cast<std::int64_t>(which)];
    }

    void allocate_constants() {
        Arena& arena = parts_.state.tools.arena;
        parts_.state.totals =
            arena.allocate({kStepTotals}, DataType::Fp64, MemoryClass::Buffers, "totals");
        parts_.state.tools.kernels.fill_zero(parts_.state.totals.view());
        const models::StageGraph& graph = parts_.slices.front().graph;
        const models::Architecture& network = graph.architecture;
        const int further = graph.content.prediction_layers(network.mtp_layers);
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
            parts_.state.balanced[*op.layer].counts = parts_.state.tools.arena.allocate(
                {of.count}, DataType::Fp32, MemoryClass::Buffers, "tokens of experts");
        }
    }

    /// Makes the tables of a kind of angles, once.
    void make_table(const RotaryAngles& angles, std::int64_t positions) {
        if (std::ranges::count(parts_.state.tables, angles, &RotaryTable::angles) > 0) return;
        Arena& arena = parts_.state.tools.arena;
        const Shape shape{positions, angles.columns / 2};
        const Tensor cosines(shape), sines(shape);
        rope_table(angles, cosines.as<float>(), sines.as<float>());
        parts_.state.tables.push_back(
            {angles, arena.allocate(shape, DataType::Fp32, MemoryClass::Buffers, "rope.cos"),
             arena.allocate(shape, DataType::Fp32, MemoryClass::Buffers, "rope.sin")});
        parts_.state.tools.kernels.upload(cosines.view(),
                                          parts_.state.tables.back().cosines.view());
        parts_.state.tools.kernels.upload(sines.view(), parts_.state.tables.back().sines.view());
    }

    LiveTensors& begin(const MicroBatch& micro_batch) {
        LiveTensors& live = parts_.state.live[micro_batch];
        live.resize(parts_.slice_of(micro_batch).graph.tensors.size());
        return live;
    }

    template <class Test>
    static void keep(LiveTensors& live, const Test& is_kept) {
        for (std::size_t i = 0; i < live.size(); ++i)
            if (!is_kept(static_cast<int>(i))) live[i] = {};
    }

    /// Drops all tensors of an evaluation except those that later slices of its microbatch read.
    void drop_evaluated(const MicroBatch& micro_batch) {
        const models::StageGraph& graph = parts_.slice_of(micro_batch).graph;
        const int slice = micro_batch.slice.value_or(0);
        const bool last = slice + 1 == graph.execution.slices || parts_.state.tools.keys != nullptr;
        keep(parts_.state.live.at(micro_batch),
             [&](int tensor) { return !last && seen_later(graph, tensor); });
        for (MicroBatch earlier = micro_batch; last && earlier.slice.value_or(0) > 0;) {
            --*earlier.slice;
            parts_.state.live.erase(earlier);
        }
    }

    ArenaTensor backward_pass(Pass meant, const MicroBatch& micro_batch,
                              const std::vector<OperatorRun>& runs, ArenaTensor output_gradient) {
        take_gradient(micro_batch, std::move(output_gradient));
        return run_pass(meant, micro_batch, runs, parts_.slice_of(micro_batch).graph.input_gradient,
                        false);
    }
    void take_gradient(const MicroBatch& micro_batch, ArenaTensor output_gradient) {
        const models::StageGraph& graph = parts_.slice_of(micro_batch).graph;
        if (graph.output_gradient)
            parts_.state.live.at(micro_batch)[*graph.output_gradient] = std::move(output_gradient);
    }
    void take_input(const MicroBatch& micro_batch, ArenaTensor input) {
        LiveTensors& live = begin(micro_batch);
        const models::StageGraph& graph = parts_.slice_of(micro_batch).graph;
        if (graph.input) live[*graph.input] = std::move(input);
    }
    void after_forward(const MicroBatch& micro_batch) {
        const models::StageGraph& graph = parts_.slice_of(micro_batch).graph;
        if (!parts_.state.step->training) return drop_evaluated(micro_batch);
        if (!parts_.state.tools.recomputed) return;
        keep(parts_.state.live.at(micro_batch),
             [&](int tensor) { return tensor == graph.input || seen_later(graph, tensor); });
    }

    /// Runs the operator calls; the tensor `kept` is returned where the plan would free it.
    ArenaTensor run_pass(Pass meant, const MicroBatch& micro_batch,
                         const std::vector<OperatorRun>& runs, std::optional<int> kept,
                         bool again) {
        PassRun run(parts_, {meant, micro_batch, runs, kept, again});
        while (!run.is_over()) run.next();
        return run.end();
    }

    StageParts parts_;
};

}  // namespace

std::unique_ptr<StageRunner> make_model_stage(std::vector<models::StageGraph> graphs,
                                              const StageTools& tools) {
    DEBUBBLE_CHECK(!graphs.empty(), "a stage has a graph");
    return std::make_unique<ModelStage>(std::move(graphs), tools);
}

}  // namespace debubble::exec

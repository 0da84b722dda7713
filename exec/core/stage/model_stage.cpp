#include "exec/core/stage/model_stage.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
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

    ArenaTensor edge(Message::Kind kind) override {
        const models::StageGraph& graph = slices_.front().graph;
        const models::Execution& how = graph.execution;
        const DataType type = executed_type(how.compute);
        const Bytes bytes =
            kind == Message::Kind::Activation ? graph.input_bytes() : graph.output_bytes();
        const std::int64_t elements = bytes.count / size_of(type);
        const std::int64_t hidden = graph.architecture.hidden;
        return state_.tools.arena.allocate({elements / hidden, hidden}, type,
                                           MemoryClass::Activations, "edge");
    }

    void begin_step(const StepInputs& inputs) override {
        state_.step = &inputs;
        state_.load = {};
        state_.routed.clear();
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
        state_.step = nullptr;
    }

    ArenaTensor forward(const MicroBatch& micro_batch, ArenaTensor input) override {
        const SlicePlan& slice = slice_of(micro_batch);
        take_input(micro_batch, std::move(input));
        ArenaTensor output =
            run_pass(Pass::Forward, micro_batch, slice.fused[0], slice.graph.output, false);
        after_forward(micro_batch);
        return output;
    }
    std::unique_ptr<PassInTurns> begin_forward(const MicroBatch& micro_batch,
                                               ArenaTensor input) override {
        const SlicePlan& slice = slice_of(micro_batch);
        take_input(micro_batch, std::move(input));
        return std::make_unique<Turns>(
            *this,
            PassAsked{Pass::Forward, micro_batch, slice.fused[0], slice.graph.output, false, false},
            [this, micro_batch] { after_forward(micro_batch); });
    }
    std::unique_ptr<PassInTurns> begin_backward(const MicroBatch& micro_batch,
                                                ArenaTensor output_gradient) override {
        const SlicePlan& slice = slice_of(micro_batch);
        take_gradient(micro_batch, std::move(output_gradient));
        return std::make_unique<Turns>(*this, PassAsked{Pass::Backward, micro_batch, slice.fused[1],
                                                        slice.graph.input_gradient});
    }
    bool takes_turns() const override {
        return !state_.tools.on_operator && !state_.tools.parameters.gathers_in_passes();
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
    std::vector<RowsOfPass> rows_that_came() const override {
        std::vector<RowsOfPass> rows;
        const bool sliced = slices_.front().graph.execution.slices > 1;
        for (const auto& [pass, routing] : state_.routed) {
            MicroBatch of{pass.micro_batch, {}};
            if (sliced) of.slice = static_cast<std::int16_t>(pass.slice);
            rows.push_back({of, pass.layer, routing.received(), routing.at_experts()});
        }
        return rows;
    }
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
        take_gradient(micro_batch, std::move(output_gradient));
        return run_pass(meant, micro_batch, runs, slice_of(micro_batch).graph.input_gradient,
                        false);
    }
    void take_gradient(const MicroBatch& micro_batch, ArenaTensor output_gradient) {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        if (graph.output_gradient)
            state_.live.at(micro_batch)[*graph.output_gradient] = std::move(output_gradient);
    }
    void take_input(const MicroBatch& micro_batch, ArenaTensor input) {
        LiveTensors& live = begin(micro_batch);
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        if (graph.input) live[*graph.input] = std::move(input);
    }
    void after_forward(const MicroBatch& micro_batch) {
        const models::StageGraph& graph = slice_of(micro_batch).graph;
        if (!state_.step->training) return drop_evaluated(micro_batch);
        if (!state_.tools.recomputed) return;
        keep(state_.live.at(micro_batch),
             [&](int tensor) { return tensor == graph.input || seen_later(graph, tensor); });
    }

    /// Runs the operator calls; the tensor `kept` is returned where the plan would free it.
    ArenaTensor run_pass(Pass meant, const MicroBatch& micro_batch,
                         const std::vector<OperatorRun>& runs, std::optional<int> kept,
                         bool again) {
        PassRun run(*this, {meant, micro_batch, runs, kept, again});
        while (!run.is_over()) run.next();
        return run.end();
    }

    /// A pass to be run.
    struct PassAsked {
        Pass meant{};
        MicroBatch micro_batch;
        const std::vector<OperatorRun>& runs;
        std::optional<int> kept;  ///< tensor that is returned where the plan would free it
        bool again = false;
        /// Whether the parameters are opened and closed layer by layer: not for a forward beside
        /// another pass, which finds all of them there.
        bool opens = true;
    };

    /// A pass, operator by operator.
    class PassRun {
    public:
        PassRun(ModelStage& stage, const PassAsked& asked)
            : stage_(stage),
              asked_(asked),
              graph_(stage.slice_of(asked.micro_batch).graph),
              live_(stage.state_.live.at(asked.micro_batch)),
              waited_(parameters().communicated()) {
            if (asked.opens) parameters().begin_pass(order_of(graph_, runs()), reads_of(runs()));
            stage.clock_.begin();
        }
        bool is_over() const { return at_ == runs().size(); }
        std::size_t position() const { return at_; }  ///< number of the next run
        /// Precondition: the pass is not over.
        const models::Operator& coming() const { return graph_.operators[runs()[at_].op]; }
        Part coming_part() const { return runs()[at_].part; }

        /// Runs the next operator, or two as one call.
        void next() {
            const OperatorRun& run = runs()[at_++];
            const OperatorCall call = call_of(run);
            const auto pair = stage_.state_.tools.kernels.makes_pairs()
                                  ? pair_at(graph_, runs(), at_ - 1, call.dropout() > 0)
                                  : std::nullopt;
            if (pair) return two(*pair, run, call);
            start(run, call);
            end(run, call);
        }
        /// Asks for the exchange of rows that the next operator is.
        void ask() {
            const OperatorRun& run = runs()[at_++];
            stage_.state_.asked = &exchange_;
            start(run, call_of(run));
            stage_.state_.asked = nullptr;
            exchanging_ = &run;
        }
        /// Waits for it.
        Interval await() {
            DEBUBBLE_CHECK(exchanging_ != nullptr, "an exchange is under way");
            const OperatorRun& run = *std::exchange(exchanging_, nullptr);
            const Clock::time_point begin = Clock::now();
            const Interval when = exchange_->wait(within(stage_.state_.tools.patience));
            stage_.state_.communicated += Clock::now() - begin;
            exchange_.reset();
            end(run, call_of(run));
            return when;
        }

        ArenaTensor end() {
            if (asked_.opens) {
                if (opened_ != nullptr) parameters().close(opened_->layer);
                parameters().end_pass();
            }
            end_sharding();
            const Stage stage = stage_.state_.tools.stage;
            if (asked_.again)
                stage_.did(Recompute{stage, asked_.micro_batch});
            else
                stage_.did(Compute{pass_of(called_, asked_.meant), stage, asked_.micro_batch});
            return std::move(result_);
        }

    private:
        const std::vector<OperatorRun>& runs() const { return asked_.runs; }
        StageParameters& parameters() const { return stage_.state_.tools.parameters; }

        OperatorCall call_of(const OperatorRun& run) const {
            const MicroBatch& of = asked_.micro_batch;
            const bool repeated = asked_.again || run.part == Part::Again;
            return {graph_,   graph_.operators[run.op], live_,   stage_.state_, of.index,
                    repeated, of.slice.value_or(0),     run.part};
        }
        static Part part_of(const OperatorCall& call) {
            return call.again ? Part::Again : call.part;
        }
        void start(const OperatorRun& run, const OperatorCall& call) {
            open_for(call.op);
            stage_.make_room(asked_.micro_batch, graph_, run, {});
            run_operator(call, run.part);
            called_.push_back(run.part);
        }
        void end(const OperatorRun& run, const OperatorCall& call) {
            free(run);
            stage_.clock_.end(graph_, call.op, part_of(call));
        }
        void two(const OperatorPair& pair, const OperatorRun& run, const OperatorCall& call) {
            const OperatorRun& next = runs()[at_++];
            DEBUBBLE_CHECK(!pair.reuse || !contains(run.leaves, pair.reuse->tensor),
                           "a tensor that goes to the host is not overwritten before");
            const OperatorCall second = call_of(next);
            open_for(call.op.parameters.empty() ? second.op : call.op);
            stage_.make_room(asked_.micro_batch, graph_, run, {});
            std::optional<int> but;
            if (pair.reuse) but = pair.reuse->becomes;
            stage_.make_room(asked_.micro_batch, graph_, next, but);
            if (pair.reuse) live_[pair.reuse->becomes] = std::move(live_[pair.reuse->tensor]);
            run_pair(pair.kind, call, second, run.part);
            called_.insert(called_.end(), {run.part, next.part});
            free(run);
            free(next);
            stage_.clock_.end(graph_, call.op, part_of(call));
            // The second takes next to nothing: the first has all of it.
            stage_.clock_.end(graph_, second.op, part_of(call));
        }
        void open_for(const models::Operator& op) {
            if (!asked_.opens || (opened_ != nullptr && opened_->layer == op.layer)) return;
            if (opened_ != nullptr) parameters().close(opened_->layer);
            parameters().open(op.layer);
            opened_ = &op;
            end_sharding();
        }
        void end_sharding() {
            const std::chrono::nanoseconds before =
                std::exchange(waited_, parameters().communicated());
            stage_.clock_.end_sharding(waited_ - before);
        }
        void free(const OperatorRun& run) {
            if (asked_.meant == Pass::Forward && stage_.state_.step->training)
                stage_.away_.leave(asked_.micro_batch, graph_, run, live_);
            for (const int tensor : run.frees) {
                if (tensor == asked_.kept) result_ = std::move(live_[tensor]);
                live_[tensor] = {};
            }
        }

        ModelStage& stage_;
        const PassAsked asked_;
        const models::StageGraph& graph_;
        LiveTensors& live_;
        std::chrono::nanoseconds waited_;
        std::size_t at_ = 0;
        ArenaTensor result_;
        std::vector<Part> called_;
        /// An operator of the layer whose parameters are open.
        const models::Operator* opened_ = nullptr;
        Pending exchange_;
        const OperatorRun* exchanging_ = nullptr;  ///< the run whose exchange was asked for
    };

    /// A pass that stops at the ends of layers and at their exchanges.
    class Turns final : public PassInTurns {
    public:
        Turns(ModelStage& stage, const PassAsked& asked, std::function<void()> at_end = {})
            : run_(stage, asked), at_end_(std::move(at_end)) {
            const models::StageGraph& graph = stage.slice_of(asked.micro_batch).graph;
            for (std::size_t i = 0; i < asked.runs.size(); ++i)
                if (const auto layer = graph.operators[asked.runs[i].op].layer) {
                    if (layers_.empty() || layers_.back().number != *layer)
                        layers_.push_back({*layer, i, i});
                    layers_.back().end = i + 1;
                }
        }
        void run_outside() override {
            const bool first = next_layer_ == 0 && !layers_.empty();
            while (!run_.is_over() && (!first || done_ < layers_.front().begin)) step();
        }
        std::optional<int> begin_layer() override {
            if (next_layer_ == layers_.size()) return std::nullopt;
            return layers_[next_layer_++].number;
        }
        void compute() override {
            while (!layer_is_done() && !exchanges() && !weights_come()) step();
        }
        bool weights() override {
            const std::size_t before = done_;
            while (!layer_is_done() && weights_come()) step();
            return done_ > before;
        }
        bool exchange() override {
            if (layer_is_done() || !exchanges()) return false;
            run_.ask();
            done_ = run_.position();
            return true;
        }
        Interval await() override { return run_.await(); }
        bool layer_is_done() const override { return done_ >= layers_[next_layer_ - 1].end; }
        bool exchanges_next() const override { return !layer_is_done() && exchanges(); }
        ArenaTensor finish() override {
            ArenaTensor result = run_.end();
            if (at_end_) at_end_();
            return result;
        }

    private:
        struct Layer {
            int number = 0;
            std::size_t begin = 0;  ///< of its runs
            std::size_t end = 0;
        };
        void step() {
            run_.next();
            done_ = run_.position();
        }
        bool weights_come() const { return run_.coming_part() == Part::Weight; }
        bool exchanges() const {
            const auto* moved = run_.coming().as<op::Dispatch>();
            return moved != nullptr && moved->kind == op::Dispatch::Kind::Exchange;
        }

        PassRun run_;
        std::function<void()> at_end_;
        std::vector<Layer> layers_;
        std::size_t next_layer_ = 0;
        std::size_t done_ = 0;  ///< runs
    };

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
};

}  // namespace

std::unique_ptr<StageRunner> make_model_stage(std::vector<models::StageGraph> graphs,
                                              const StageTools& tools) {
    DEBUBBLE_CHECK(!graphs.empty(), "a stage has a graph");
    return std::make_unique<ModelStage>(std::move(graphs), tools);
}

}  // namespace debubble::exec

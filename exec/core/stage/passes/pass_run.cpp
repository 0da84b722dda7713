#include "exec/core/stage/passes/pass_run.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "exec/core/stage/operators/run_operator.h"

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

bool leaves(const OperatorRun& run, int tensor) {
    return std::ranges::find(run.leaves, tensor) != run.leaves.end();
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

Part part_of(const OperatorCall& call) {
    return call.again ? Part::Again : call.part;
}

}  // namespace

PassRun::PassRun(StageParts& parts, const PassAsked& asked)
    : parts_(parts),
      asked_(asked),
      graph_(parts.slice_of(asked.micro_batch).graph),
      live_(parts.state.live.at(asked.micro_batch)),
      waited_(parameters().communicated().clock) {
    if (asked.opens) parameters().begin_pass(order_of(graph_, runs()), reads_of(runs()));
    parts.clock.begin();
}

void PassRun::next() {
    const OperatorRun& run = runs()[at_++];
    const OperatorCall call = call_of(run);
    const auto pair = parts_.state.tools.kernels.makes_pairs()
                          ? pair_at(graph_, runs(), at_ - 1, call.dropout() > 0)
                          : std::nullopt;
    if (pair) return two(*pair, run, call);
    start(run, call);
    end(run, call);
}

void PassRun::ask() {
    const OperatorRun& run = runs()[at_++];
    parts_.state.asked = &all_to_all_;
    start(run, call_of(run));
    parts_.state.asked = nullptr;
    all_to_all_run_ = &run;
}

Interval PassRun::await() {
    DEBUBBLE_CHECK(all_to_all_run_ != nullptr, "an all-to-all is in flight");
    const OperatorRun& run = *std::exchange(all_to_all_run_, nullptr);
    const HostTime begin = HostTime::now();
    const Interval when = all_to_all_->wait(within(parts_.state.tools.patience));
    parts_.state.communicated += HostTime::now() - begin;
    all_to_all_.reset();
    end(run, call_of(run));
    return when;
}

ArenaTensor PassRun::end() {
    if (asked_.opens) {
        if (opened_ != nullptr) parameters().close(opened_->layer);
        parameters().end_pass();
    }
    end_sharding();
    const Stage stage = parts_.state.tools.stage;
    if (asked_.again)
        parts_.did(Recompute{stage, asked_.micro_batch});
    else
        parts_.did(Compute{pass_of(called_, asked_.meant), stage, asked_.micro_batch});
    return std::move(result_);
}

OperatorCall PassRun::call_of(const OperatorRun& run) const {
    const MicroBatch& of = asked_.micro_batch;
    const bool repeated = asked_.again || run.part == Part::Again;
    return {graph_,   graph_.operators[run.op], live_,   parts_.state, of.index,
            repeated, of.slice.value_or(0),     run.part};
}

void PassRun::start(const OperatorRun& run, const OperatorCall& call) {
    open_for(call.op);
    parts_.make_room(asked_.micro_batch, graph_, run, {});
    run_operator(call, run.part);
    called_.push_back(run.part);
}

void PassRun::end(const OperatorRun& run, const OperatorCall& call) {
    free(run);
    parts_.clock.end(graph_, call.op, part_of(call));
}

void PassRun::two(const OperatorPair& pair, const OperatorRun& run, const OperatorCall& call) {
    const OperatorRun& next = runs()[at_++];
    DEBUBBLE_CHECK(!pair.reuse || !leaves(run, pair.reuse->tensor),
                   "a tensor that goes to the host is not overwritten before");
    const OperatorCall second = call_of(next);
    open_for(call.op.parameters.empty() ? second.op : call.op);
    parts_.make_room(asked_.micro_batch, graph_, run, {});
    std::optional<int> but;
    if (pair.reuse) but = pair.reuse->becomes;
    parts_.make_room(asked_.micro_batch, graph_, next, but);
    if (pair.reuse) live_[pair.reuse->becomes] = std::move(live_[pair.reuse->tensor]);
    run_pair(pair.kind, call, second, run.part);
    called_.insert(called_.end(), {run.part, next.part});
    free(run);
    free(next);
    parts_.clock.end(graph_, call.op, part_of(call));
    // The second takes next to no time of its own: all of it counts for the first.
    parts_.clock.end(graph_, second.op, part_of(call));
}

void PassRun::open_for(const models::Operator& op) {
    if (!asked_.opens || (opened_ != nullptr && opened_->layer == op.layer)) return;
    if (opened_ != nullptr) parameters().close(opened_->layer);
    parameters().open(op.layer);
    opened_ = &op;
    end_sharding();
}

void PassRun::end_sharding() {
    const std::chrono::nanoseconds before =
        std::exchange(waited_, parameters().communicated().clock);
    parts_.clock.end_sharding(waited_ - before);
}

void PassRun::free(const OperatorRun& run) {
    if (asked_.meant == Pass::Forward && parts_.state.step->training)
        parts_.module_offloads.leave(asked_.micro_batch, graph_, run, live_);
    for (const int tensor : run.frees) {
        if (tensor == asked_.kept) result_ = std::move(live_[tensor]);
        live_[tensor] = {};
    }
}

}  // namespace debubble::exec

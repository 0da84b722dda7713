#include "exec/core/interpreter/run_step.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "exec/core/interpreter/communications.h"
#include "schedule/dependencies.h"

namespace debubble::exec {
namespace {

class StepRun {
public:
    StepRun(const RankSide& side, const StepInputs& inputs, const StepOptions& options)
        : side_(side),
          inputs_(inputs),
          options_(options),
          list_(side.program.ranks[side.rank.index]),
          recorder_(side.rank, side.replica, side.lanes),
          messages_(side.pipeline, recorder_, options.patience,
                    side.device_moves ? &side.arena : nullptr, side.log),
          collectives_(side.actions, recorder_, options.patience) {}

    StepRecord run() {
        begin();
        post_receives(0);
        for (position_ = 0; position_ < list_.size(); ++position_) {
            messages_.free_sent();
            if (side_.lanes != nullptr) side_.lanes->open_range(to_text(list_[position_]));
            std::visit([&](const auto& action) { carry_out(action); }, list_[position_]);
            if (side_.lanes != nullptr) side_.lanes->close_range();
        }
        messages_.finish();
        collectives_.finish();
        return end();
    }

    /// Asks the device for its progress, which may fail as well.
    std::string stalled(const DeviceStalled& how) {
        try {
            return fmt::format("rank {} waited for its device: {}; {}", side_.rank.index,
                               how.what(), recorder_.progress());
        } catch (const std::exception&) {
            return how.what();
        }
    }

private:
    void begin() {
        if (side_.log != nullptr) side_.log->clear();
        if (side_.lanes != nullptr) side_.lanes->begin_step();
        side_.arena.note("before the first action");
        side_.arena.forget_peak();
        level_before_ = side_.arena.held();
        recorder_.level(recorder_.now(), level_before_);
        side_.actions.begin_step(inputs_.step);
        for (StageRunner* stage : side_.stages) stage->begin_step(inputs_);
    }

    StepRecord end() {
        for (StageRunner* stage : side_.stages) stage->end_step();
        const MemoryByClass& held = side_.arena.held();
        recorder_.level(recorder_.now(), held);
        if (side_.lanes != nullptr) side_.lanes->finish();
        side_.arena.take_back();
        for (const MemoryClass of_step : {MemoryClass::Activations, MemoryClass::Workspace}) {
            DEBUBBLE_CHECK(
                held[of_step] == level_before_[of_step],
                fmt::format(
                    "rank {} holds as much of {} after the step ({} bytes) as before it ({})",
                    side_.rank.index, name_of(of_step), held[of_step].count,
                    level_before_[of_step].count));
        }
        const ArenaPeak& peak = side_.arena.peak();
        return std::move(recorder_).finish({instant_of(peak.at), peak.held, peak.during, peak.op});
    }

    StageRunner& stage(Stage stage) const {
        const auto held = side_.program.placement.stages_of(side_.rank);
        const auto at = std::ranges::find(held, stage);
        DEBUBBLE_CHECK(at != held.end(),
                       fmt::format("rank {} holds stage {}, of which it has an action",
                                   side_.rank.index, stage.index));
        return *side_.stages[at - held.begin()];
    }

    static bool is_on_compute_lane(const Action& action) {
        return lane_of(action) == Lane::Compute;
    }
    /// Asks for the receives from `position` to the next compute.
    void post_receives(std::size_t position) {
        if (options_.posting == ReceivePosting::InListOrder) return;
        for (; position < list_.size() && !is_on_compute_lane(list_[position]); ++position)
            if (const auto* recv = std::get_if<Recv>(&list_[position])) post(*recv);
    }
    void post(const Recv& recv) {
        messages_.receive(recv, stage(consumer_of(recv.message)).edge(recv.message.kind));
    }

    /// Runs `work` as the current action. The receives after a compute go on meanwhile; a copy has
    /// moved as many bytes as the arena holds less, or more, after it.
    template <class Work>
    void timed(const Work& work) {
        const Action& action = list_[position_];
        side_.arena.note(to_text(action));
        const bool is_copy = !is_on_compute_lane(action);
        if (!is_copy) post_receives(position_ + 1);
        const std::int64_t before = total(side_.arena.held()).count;
        const HostTime waited = communicated();
        const Duration on_core = HostTime::on_core_so_far();
        const DeviceLane lane = is_copy ? kCopyLane : kComputeLane;
        const Moment begin = recorder_.now(lane);
        work();
        const Moment end = recorder_.now(lane);
        const Duration had_core = HostTime::on_core_so_far() - on_core;
        const HostTime in_waits = communicated() - waited;
        const std::int64_t after = total(side_.arena.held()).count;
        recorder_.span(action, begin, end, is_copy ? Bytes{std::abs(after - before)} : Bytes{},
                       {in_waits.clock, had_core - in_waits.on_core});
        recorder_.level(begin, side_.arena.highest());
        recorder_.level(end, side_.arena.held());
    }

    /// The time of communication inside passes up to this moment, on the host. If a device moves
    /// tensors by itself, the host waits only for the other hosts.
    HostTime communicated() const {
        HostTime sum;
        if (side_.device_moves) return sum;
        for (const StageRunner* stage : side_.stages) sum += stage->communicated();
        return sum;
    }

    int stage_count() const { return side_.program.stage_count(); }
    bool has_consumer(const Message& result) const {
        const Stage consumer = consumer_of(result);
        return consumer.index >= 0 && consumer.index < stage_count();
    }

    void await_inputs(const Compute& c) {
        collectives_.before_pass(c);
        await_reload(c.stage, c.micro_batch);
        if (const auto input = neighbour_input_of(c, stage_count())) messages_.await(*input);
    }
    ArenaTensor input_of(const Compute& c) {
        if (reduction_follows(list_, position_, c)) side_.actions.reduction_follows(c.stage);
        const auto from = neighbour_input_of(c, stage_count());
        return from ? messages_.take(*from) : ArenaTensor{};
    }
    void give(const Compute& c, ArenaTensor output) {
        const auto result = result_of(c);
        if (has_consumer(*result)) messages_.put(*result, std::move(output));
    }
    void compute(const Compute& c) {
        StageRunner& runner = stage(c.stage);
        ArenaTensor input = input_of(c);
        ArenaTensor output;
        switch (c.pass) {
            case Pass::Forward: output = runner.forward(c.micro_batch, std::move(input)); break;
            case Pass::Backward: output = runner.backward(c.micro_batch, std::move(input)); break;
            case Pass::BackwardInput:
                output = runner.backward_input(c.micro_batch, std::move(input));
                break;
            case Pass::BackwardWeight: return runner.backward_weight(c.micro_batch);
        }
        give(c, std::move(output));
    }

    bool take_turns(const Overlap& o) const {
        return side_.pairs_layers && o.first.pass == Pass::Forward &&
               o.second.pass != Pass::Forward && stage(o.first.stage).can_overlap() &&
               stage(o.second.stage).can_overlap();
    }
    void in_turns(const Overlap& o) {
        const auto forward =
            stage(o.first.stage).begin_forward(o.first.micro_batch, input_of(o.first));
        const auto backward =
            stage(o.second.stage)
                .begin_backward(o.second.pass, o.second.micro_batch, input_of(o.second));
        run_overlap({o.first, *forward}, {o.second, *backward}, recorder_);
        give(o.first, forward->finish());
        give(o.second, backward->finish());
    }

    void carry_out(const Compute& c) {
        await_inputs(c);
        timed([&] { compute(c); });
    }
    void carry_out(const Overlap& o) {
        await_inputs(o.first);
        await_inputs(o.second);
        timed([&] {
            if (take_turns(o)) return in_turns(o);
            compute(o.first);
            compute(o.second);
        });
    }
    void carry_out(const Recompute& r) {
        collectives_.before_pass({Pass::Forward, r.stage, r.micro_batch});
        await_reload(r.stage, r.micro_batch);
        timed([&] { stage(r.stage).recompute(r.micro_batch); });
    }
    void carry_out(const Send& s) { messages_.send(s); }
    void carry_out(const Recv& r) {
        if (options_.posting == ReceivePosting::InListOrder) post(r);
    }
    void carry_out(const Unshard& u) { collectives_.unshard(u.stage); }
    void carry_out(const Reshard& r) { collectives_.reshard(r.stage); }
    void carry_out(const ReduceGrad& r) { collectives_.reduce_grad(r.stage); }
    void carry_out(const TiedGradReduce& t) { collectives_.tied_grad_reduce(t.stage); }
    void carry_out(const GradNorm&) { collectives_.grad_norm(); }
    void carry_out(const OptimizerStep&) {
        collectives_.finish();
        timed([&] { side_.actions.optimizer_step(); });
    }
    void carry_out(const Offload& o) {
        copy_after_kernels();
        timed([&] { stage(o.stage).offload(o.micro_batch); });
    }
    void carry_out(const Reload& r) {
        copy_after_kernels();
        timed([&] { stage(r.stage).reload(r.micro_batch); });
        if (side_.lanes != nullptr)
            reloaded_.insert_or_assign({r.stage, r.micro_batch}, side_.lanes->mark(kCopyLane));
    }

    /// A copy lane reads the results of kernels, and writes memory that they have used.
    void copy_after_kernels() const {
        if (side_.lanes != nullptr) side_.lanes->wait(kCopyLane, side_.lanes->mark(kComputeLane));
    }
    void await_reload(Stage of, const MicroBatch& micro_batch) {
        const auto reload = reloaded_.find({of, micro_batch});
        if (reload == reloaded_.end()) return;
        side_.lanes->hold_compute(reload->second);
        reloaded_.erase(reload);
    }

    const RankSide& side_;
    const StepInputs& inputs_;
    const StepOptions& options_;
    const ActionList& list_;
    Recorder recorder_;
    Messages messages_;
    Collectives collectives_;
    /// Reloads on a device whose tensors are not used yet.
    std::map<std::pair<Stage, MicroBatch>, Mark> reloaded_;
    MemoryByClass level_before_{};
    std::size_t position_ = 0;
};

}  // namespace

StepRecord run_step(const RankSide& side, const StepInputs& inputs, const StepOptions& options) {
    StepRun step(side, inputs, options);  // no request of it ends before the others are aborted
    return abort_on_failure(side.pipeline, [&] {
        try {
            return step.run();
        } catch (const DeviceStalled& how) {
            throw DeadlinePassed(step.stalled(how));
        }
    });
}

}  // namespace debubble::exec

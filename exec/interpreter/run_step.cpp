#include "exec/interpreter/run_step.h"

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "exec/interpreter/collectives.h"
#include "exec/interpreter/messages.h"
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
          recorder_(side.rank, side.replica),
          messages_(side.pipeline, recorder_, options.patience),
          collectives_(side.actions, recorder_, options.patience) {}

    StepRecord run() {
        begin();
        post_receives(0);
        for (position_ = 0; position_ < list_.size(); ++position_) {
            messages_.free_sent();
            std::visit([&](const auto& action) { carry_out(action); }, list_[position_]);
        }
        messages_.finish();
        collectives_.finish();
        return end();
    }

private:
    void begin() {
        side_.arena.note("before the first action");
        side_.arena.forget_peak();
        level_before_ = side_.arena.held();
        recorder_.level(Clock::now(), level_before_);
        side_.actions.begin_step(inputs_.step);
        for (StageRunner* stage : side_.stages) stage->begin_step(inputs_);
    }

    StepRecord end() {
        for (StageRunner* stage : side_.stages) stage->end_step();
        const MemoryByClass& held = side_.arena.held();
        recorder_.level(Clock::now(), held);
        for (const MemoryClass of_step : {MemoryClass::Activations, MemoryClass::Workspace}) {
            const auto c = static_cast<std::size_t>(of_step);
            if (held[c] == level_before_[c]) continue;
            throw std::logic_error(fmt::format(
                "rank {} holds {} bytes of {} after the step, {} before it", side_.rank.index,
                held[c].count, name_of(of_step), level_before_[c].count));
        }
        const ArenaPeak& peak = side_.arena.peak();
        return std::move(recorder_).finish({instant_of(peak.at), peak.held, peak.during, peak.op});
    }

    StageRunner& stage(Stage stage) const {
        const auto held = side_.program.placement.stages_of(side_.rank);
        for (std::size_t i = 0; i < held.size(); ++i)
            if (held[i] == stage) return *side_.stages[i];
        throw std::logic_error(
            fmt::format("rank {} does not hold stage {}", side_.rank.index, stage.index));
    }

    static bool is_on_compute_lane(const Action& action) {
        return lane_of(action) == Lane::Compute;
    }
    /// Those from `position` to the next compute.
    void post_receives(std::size_t position) {
        if (options_.posting == ReceivePosting::InListOrder) return;
        for (; position < list_.size() && !is_on_compute_lane(list_[position]); ++position)
            if (const auto* recv = std::get_if<Recv>(&list_[position])) post(*recv);
    }
    void post(const Recv& recv) {
        messages_.receive(recv, stage(consumer_of(recv.message)).edge(recv.message.kind));
    }

    /// Runs `work` as the current action. The receives behind a compute go on meanwhile; what
    /// a copy moves is what the arena holds less, or more, behind it.
    template <class Work>
    void timed(const Work& work) {
        const Action& action = list_[position_];
        side_.arena.note(to_text(action));
        const bool is_copy = !is_on_compute_lane(action);
        if (!is_copy) post_receives(position_ + 1);
        const std::int64_t before = total(side_.arena.held()).count;
        const Duration waited = communicated();
        Interval when{Clock::now(), {}};
        work();
        when.end = Clock::now();
        const std::int64_t after = total(side_.arena.held()).count;
        recorder_.span(action, when, is_copy ? Bytes{std::abs(after - before)} : Bytes{},
                       communicated() - waited);
        recorder_.level(when.begin, side_.arena.highest());
        recorder_.level(when.end, side_.arena.held());
    }

    /// Inside passes, so far.
    Duration communicated() const {
        Duration sum{};
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
        if (const auto input = neighbour_input_of(c, stage_count())) messages_.await(*input);
    }
    void compute(const Compute& c) {
        StageRunner& runner = stage(c.stage);
        const auto from = neighbour_input_of(c, stage_count());
        ArenaTensor input = from ? messages_.take(*from) : ArenaTensor{};
        ArenaTensor output;
        switch (c.pass) {
            case Pass::Forward: output = runner.forward(c.micro_batch, std::move(input)); break;
            case Pass::Backward: output = runner.backward(c.micro_batch, std::move(input)); break;
            case Pass::BackwardInput:
                output = runner.backward_input(c.micro_batch, std::move(input));
                break;
            case Pass::BackwardWeight: return runner.backward_weight(c.micro_batch);
        }
        const auto result = result_of(c);
        if (has_consumer(*result)) messages_.put(*result, std::move(output));
    }

    void carry_out(const Compute& c) {
        await_inputs(c);
        timed([&] { compute(c); });
    }
    void carry_out(const Overlap& o) {
        await_inputs(o.first);
        await_inputs(o.second);
        timed([&] {
            compute(o.first);
            compute(o.second);
        });
    }
    void carry_out(const Recompute& r) {
        collectives_.before_pass({Pass::Forward, r.stage, r.micro_batch});
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
        timed([&] { stage(o.stage).offload(o.micro_batch); });
    }
    void carry_out(const Reload& r) {
        timed([&] { stage(r.stage).reload(r.micro_batch); });
    }

    const RankSide& side_;
    const StepInputs& inputs_;
    const StepOptions& options_;
    const ActionList& list_;
    Recorder recorder_;
    Messages messages_;
    Collectives collectives_;
    MemoryByClass level_before_{};
    std::size_t position_ = 0;
};

}  // namespace

StepRecord run_step(const RankSide& side, const StepInputs& inputs, const StepOptions& options) {
    StepRun step(side, inputs, options);  // outlives the catch: no request ends before abort()
    try {
        return step.run();
    } catch (const Aborted&) {
        throw;
    } catch (const std::exception& error) {
        side.pipeline.abort(error.what());
        throw;
    }
}

}  // namespace debubble::exec

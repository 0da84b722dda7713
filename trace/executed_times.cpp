#include <fmt/format.h>

#include "schedule/dependencies.h"
#include "trace/executed_order.h"

namespace debubble {
namespace {

/// One step of one replica, to check the preconditions of each of its spans.
class StepTimes {
public:
    StepTimes(const Program& program, const Trace& trace, Sentences& sentences)
        : program_(program),
          stage_count_(program.stage_count()),
          trace_(trace),
          sentences_(sentences) {}

    void add_rank(const Executor& executor, const std::size_t* spans) {
        ranks_.push_back({executor, spans});
        for_each_span(ranks_.back(), [&](std::size_t span) {
            const Action& action = trace_.spans[span].action;
            for_each_compute(action, [&](const Compute& c) {
                if (const auto result = result_of(c)) makers_[*result] = span;
            });
            if (const auto* send = std::get_if<Send>(&action)) sends_[send->message] = span;
            if (const auto* recv = std::get_if<Recv>(&action)) recvs_[recv->message] = span;
        });
    }

    void check() {
        for (const OfRank& rank : ranks_) {
            mine_ = {};
            who_ = words(rank.executor, trace_.header);
            for_each_span(rank, [&](std::size_t span) {
                std::visit([&](const auto& action) { check(action, span); },
                           trace_.spans[span].action);
            });
        }
    }

private:
    using Span = std::optional<std::size_t>;
    struct OfRank {
        Executor executor;
        const std::size_t* spans = nullptr;  ///< by position in the rank's list
    };
    /// The latest spans of the rank so far, in the order of its list.
    struct Newest {
        Span compute;
        Span reduction;
        std::map<Stage, std::size_t> computes;
        std::map<Stage, std::size_t> gathers;
        std::map<std::pair<Stage, MicroBatch>, std::size_t> forwards;
        std::map<std::pair<Stage, MicroBatch>, std::size_t> reloads;
    };

    template <class Visitor>
    void for_each_span(const OfRank& rank, Visitor&& visit) {
        const std::size_t count = program_.ranks[rank.executor.rank.index].size();
        for (std::size_t i = 0; i < count; ++i) visit(rank.spans[i]);
    }

    template <class Key>
    static Span find(const std::map<Key, std::size_t>& map, const Key& key) {
        const auto found = map.find(key);
        return found == map.end() ? std::nullopt : Span(found->second);
    }

    /// The tolerated error: the clocks of two ranks may differ, and a rank's computes are timed by
    /// its device.
    Duration slack(std::size_t a, std::size_t b) const {
        const debubble::Span &one = trace_.spans[a], &other = trace_.spans[b];
        const ClockError& error = trace_.header.clock_error;
        if (one.rank != other.rank) return error.ranks;
        return one.lane == other.lane ? Duration{} : error.lanes;
    }

    void begins_after(std::size_t span, Span first) {
        if (!first) return;
        const Duration early = trace_.spans[*first].end - trace_.spans[span].begin;
        if (early > slack(span, *first))
            sentences_.add(fmt::format("{}: {} began {} ns before {} had ended", who_, name(span),
                                       early.count(), name_seen_from(*first, span)));
    }
    std::string name(std::size_t span) const { return words(trace_.spans[span].action); }
    std::string name_seen_from(std::size_t span, std::size_t other) const {
        if (trace_.spans[span].rank == trace_.spans[other].rank) return name(span);
        return fmt::format("{} on rank {}", name(span), trace_.spans[span].rank.index);
    }

    void next_compute(std::size_t span) {
        begins_after(span, mine_.compute);
        mine_.compute = span;
    }
    void check_inputs(const Compute& c, std::size_t span) {
        begins_after(span, find(mine_.gathers, c.stage));
        if (c.pass != Pass::Forward)
            begins_after(span, find(mine_.reloads, {c.stage, c.micro_batch}));
        if (c.pass == Pass::Forward) mine_.forwards[{c.stage, c.micro_batch}] = span;
        mine_.computes[c.stage] = span;
        const auto input = neighbour_input_of(c, stage_count_);
        if (!input) return;
        const Span maker = find(makers_, *input);
        const bool local = maker && trace_.spans[*maker].rank == trace_.spans[span].rank;
        if (local) return;  // the order of the computes is enough
        const Span recv = find(recvs_, *input);
        begins_after(span, recv ? recv : maker);
    }

    void check(const Compute& c, std::size_t span) {
        next_compute(span);
        check_inputs(c, span);
    }
    void check(const Overlap& o, std::size_t span) {
        next_compute(span);
        check_inputs(o.first, span);
        check_inputs(o.second, span);
    }
    void check(const Recompute& r, std::size_t span) {
        next_compute(span);
        begins_after(span, find(mine_.gathers, r.stage));
        mine_.computes[r.stage] = span;
    }
    void check(const OptimizerStep&, std::size_t span) {
        next_compute(span);
        begins_after(span, mine_.reduction);
    }
    void check(const Send& s, std::size_t span) { begins_after(span, find(makers_, s.message)); }
    void check(const Recv& r, std::size_t span) {
        const Span send = find(sends_, r.message);
        if (!send) return;
        const debubble::Span& sent = trace_.spans[*send];
        const debubble::Span& received = trace_.spans[span];
        const Duration early = sent.begin - received.end;
        if (early > slack(span, *send))
            sentences_.add(fmt::format("{}: {} had ended {} ns before {} began", who_, name(span),
                                       early.count(), name_seen_from(*send, span)));
        if (sent.bytes != received.bytes)
            sentences_.add(fmt::format("{}: {} brought {} bytes, {} sent {}", who_, name(span),
                                       received.bytes.count, name_seen_from(*send, span),
                                       sent.bytes.count));
    }
    void check(const Unshard& u, std::size_t span) { mine_.gathers[u.stage] = span; }
    void check(const Reshard& r, std::size_t span) {
        begins_after(span, find(mine_.computes, r.stage));
    }
    void check(const ReduceGrad& r, std::size_t span) {
        reduce(find(mine_.computes, r.stage), span);
    }
    void check(const TiedGradReduce& t, std::size_t span) {
        reduce(find(mine_.computes, t.stage), span);
    }
    void check(const GradNorm&, std::size_t span) { reduce(mine_.compute, span); }
    void reduce(Span operand, std::size_t span) {
        begins_after(span, operand);
        mine_.reduction = span;
    }
    void check(const Offload& o, std::size_t span) {
        begins_after(span, find(mine_.forwards, {o.stage, o.micro_batch}));
    }
    void check(const Reload& r, std::size_t span) {
        mine_.reloads[{r.stage, r.micro_batch}] = span;
    }

    const Program& program_;
    int stage_count_;
    const Trace& trace_;
    Sentences& sentences_;
    std::vector<OfRank> ranks_;
    std::map<Message, std::size_t> makers_;
    std::map<Message, std::size_t> sends_;
    std::map<Message, std::size_t> recvs_;
    Newest mine_;
    std::string who_;
};

}  // namespace

void check_times(const Program& program, const Trace& trace, const Execution& execution,
                 Sentences& sentences) {
    for (auto at = execution.spans.begin(); at != execution.spans.end();) {
        const std::int32_t replica = at->first.replica;
        std::vector<StepTimes> steps(execution.steps, StepTimes(program, trace, sentences));
        for (; at != execution.spans.end() && at->first.replica == replica; ++at) {
            const std::size_t length = program.ranks[at->first.rank.index].size();
            for (std::size_t k = 0; k < steps.size(); ++k)
                steps[k].add_rank(at->first, at->second.data() + k * length);
        }
        for (StepTimes& step : steps) step.check();
    }
}

}  // namespace debubble

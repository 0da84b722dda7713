#include <algorithm>

#include <fmt/format.h>

#include "schedule/checks/checks.h"
#include "schedule/dependencies.h"
#include "schedule/passes/edit.h"

namespace debubble {
namespace {

using Kind = Violation::Kind;

/// Facts about one stage, as one rank's list shows them.
struct StageFacts {
    bool named = false;
    bool held = false;
    bool sharded = false;  ///< the stage has an Unshard or a Reshard
    bool gathered = true;  ///< state at the current action
    bool at_first = true;  ///< state before the first action
    int reductions = 0;
    bool tied = false;
    bool unreduced = false;  ///< a W or B comes after the last reduction
};

class CollectiveChecker {
public:
    CollectiveChecker(const Schedule& schedule, Findings& findings)
        : schedule_(schedule),
          findings_(findings),
          index_(schedule.placement),
          stages_(index_.stage_count()),
          reductions_(stages_.size(), -1),
          norms_(schedule.ranks.size(), 0),
          steps_(schedule.ranks.size(), 0) {}

    void check() {
        for (int r = 0; r < static_cast<int>(schedule_.ranks.size()); ++r) check_rank(r);
        check_all_or_none(norms_, "GRAD_NORM");
        check_all_or_none(steps_, "OPTIMIZER_STEP");
    }

private:
    void add(Kind kind, std::size_t position, std::string message) {
        findings_.add(kind, Rank{rank_}, position, std::move(message));
    }

    void check_rank(int rank) {
        rank_ = rank;
        forget_last_rank();
        const ActionList& list = schedule_.ranks[rank];
        for (const Stage stage : schedule_.placement.stages[rank]) facts(stage).held = true;
        for (std::size_t i = list.size(); i-- > 0;) find_initial_state(list[i]);
        for_each_named([](Stage, StageFacts& stage) { stage.gathered = stage.at_first; });
        for (std::size_t i = 0; i < list.size(); ++i) visit(i, list[i]);
        finish(list.size());
    }

    void forget_last_rank() {
        for_each_named([](Stage, StageFacts& stage) { stage = {}; });
        named_.clear();
    }
    /// Calls `visit` for each stage that the rank's list or its row of the placement names, in
    /// order.
    template <class Visitor>
    void for_each_named(Visitor&& visit) {
        std::ranges::sort(named_);
        for (const Stage stage : named_) visit(stage, stages_[stage.index]);
    }

    /// Searches from the end: parameters are gathered at first unless the first action that
    /// concerns them is an Unshard.
    void find_initial_state(const Action& action) {
        for_each_compute(action, [&](const Compute& c) { facts(c.stage).at_first = true; });
        if (const auto* u = std::get_if<Unshard>(&action)) {
            facts(u->stage).at_first = false;
            facts(u->stage).sharded = true;
        }
        if (const auto* r = std::get_if<Reshard>(&action)) {
            facts(r->stage).at_first = true;
            facts(r->stage).sharded = true;
        }
    }

    /// The facts of a stage. A stage outside the shape gets facts of its own, which nothing reads.
    StageFacts& facts(Stage stage) {
        if (stage.index < 0 || stage.index >= index_.stage_count()) return nowhere_;
        StageFacts& facts = stages_[stage.index];
        if (!facts.named) named_.push_back(stage);
        facts.named = true;
        return facts;
    }

    void visit(std::size_t i, const Action& action) {
        for_each_compute(action, [&](const Compute& c) { visit_compute(i, c, action); });
        std::visit(Overloaded{
                       [&](const Unshard& u) { set_gathered(i, u.stage, true, action); },
                       [&](const Reshard& r) { set_gathered(i, r.stage, false, action); },
                       [&](const ReduceGrad& r) {
                           check_held(i, r.stage, action);
                           check_unused(i, action);
                           ++facts(r.stage).reductions;
                           facts(r.stage).unreduced = false;
                       },
                       [&](const TiedGradReduce& t) {
                           check_held(i, t.stage, action);
                           check_unused(i, action);
                           if (facts(t.stage).tied)
                               add(Kind::Duplicate, i, to_text(action) + " is listed twice");
                           facts(t.stage).tied = true;
                       },
                       [&](const GradNorm&) {
                           if (norms_[rank_]++ > 0)
                               add(Kind::Duplicate, i, "GRAD_NORM is listed twice");
                       },
                       [&](const OptimizerStep&) { visit_step(i); },
                       [](const auto&) {},
                   },
                   action);
    }

    void visit_compute(std::size_t i, const Compute& c, const Action& action) {
        StageFacts& stage = facts(c.stage);
        const std::string text = to_text(Action{c});
        if (stage.sharded && !stage.gathered)
            add(Kind::Sharding, i,
                fmt::format("{} comes where the parameters of stage {} are not gathered", text,
                            c.stage.index));
        if (steps_[rank_] > 0)
            add(Kind::Order, i, fmt::format("{} comes after OPTIMIZER_STEP", text));
        if (c.pass == Pass::Forward || c.pass == Pass::BackwardInput) return;
        stage.unreduced = true;
        check_unused(i, action);
        if (stage.tied)
            add(Kind::Order, i, fmt::format("{} comes after {}TIED_GRAD", text, c.stage.index));
    }

    /// Every action that changes gradients comes before the actions that use all gradients.
    void check_unused(std::size_t i, const Action& action) {
        if (norms_[rank_] > 0)
            add(Kind::Order, i, fmt::format("{} comes after GRAD_NORM", to_text(action)));
        else if (steps_[rank_] > 0 && !is_compute(action))
            add(Kind::Order, i, fmt::format("{} comes after OPTIMIZER_STEP", to_text(action)));
    }

    void set_gathered(std::size_t i, Stage stage, bool gathered, const Action& action) {
        check_held(i, stage, action);
        if (facts(stage).gathered == gathered)
            add(Kind::Sharding, i,
                fmt::format("{}, but the parameters are {}", to_text(action),
                            gathered ? "gathered already" : "not gathered"));
        facts(stage).gathered = gathered;
    }

    void check_held(std::size_t i, Stage stage, const Action& action) {
        if (facts(stage).held) return;
        add(Kind::Misplaced, i,
            fmt::format("{} is on rank {}, which does not hold stage {}", to_text(action), rank_,
                        stage.index));
    }

    /// The step leaves sharded parameters gathered as they were at its start.
    void visit_step(std::size_t i) {
        if (steps_[rank_]++ > 0) add(Kind::Duplicate, i, "OPTIMIZER_STEP is listed twice");
        for_each_named([&](Stage s, StageFacts& stage) {
            if (stage.sharded) stage.gathered = false;
            const std::size_t holders = index_.ranks_of(s).size();
            if (stage.held && stage.reductions == 0 && holders > 1)
                add(Kind::Missing, i,
                    fmt::format("OPTIMIZER_STEP without {}REDUCE_GRAD: the {} holders of stage {} "
                                "would drift apart",
                                s.index, holders, s.index));
        });
    }

    void finish(std::size_t end) {
        for_each_named([&](Stage of, const StageFacts& stage) {
            const int s = of.index;
            if (stage.sharded && stage.gathered != stage.at_first)
                add(Kind::Leftover, end,
                    fmt::format("the parameters of stage {} are {} at the end of the step, but {} "
                                "at its start",
                                s, stage.gathered ? "gathered" : "sharded",
                                stage.at_first ? "gathered" : "sharded"));
            if (stage.reductions > 0 && stage.unreduced)
                add(Kind::Order, end,
                    fmt::format("a weight gradient of stage {} comes after its last REDUCE_GRAD",
                                s));
            if (!stage.held) return;
            if (reductions_[s] >= 0 && reductions_[s] != stage.reductions)
                add(Kind::Unmatched, end,
                    fmt::format("rank {} lists {}REDUCE_GRAD {} times, another holder {} times",
                                rank_, s, stage.reductions, reductions_[s]));
            reductions_[s] = stage.reductions;
        });
    }

    void check_all_or_none(const std::vector<int>& counts, std::string_view text) {
        if (std::ranges::all_of(counts, [](int n) { return n == 0; })) return;
        for (std::size_t r = 0; r < counts.size(); ++r)
            if (counts[r] == 0)
                findings_.add(Kind::Missing, Rank{static_cast<int>(r)}, schedule_.ranks[r].size(),
                              fmt::format("rank {} has no {}, but others do", r, text));
    }

    const Schedule& schedule_;
    Findings& findings_;
    PlacementIndex index_;
    int rank_ = 0;
    std::vector<StageFacts> stages_;  ///< facts about the current rank
    std::vector<Stage> named_;        ///< stages that the rank names
    StageFacts nowhere_;
    std::vector<int> reductions_;  ///< reductions by stage of the holder seen last; -1 for none
    std::vector<int> norms_;       ///< GRAD_NORMs by rank
    std::vector<int> steps_;
};

}  // namespace

void check_collectives(const Schedule& schedule, Findings& findings) {
    CollectiveChecker(schedule, findings).check();
}

}  // namespace debubble

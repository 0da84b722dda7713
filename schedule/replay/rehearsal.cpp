#include "schedule/derived_programs.h"

#include <map>
#include <set>
#include <utility>

#include "base/overloaded.h"
#include "schedule/dependencies.h"

namespace debubble {

namespace {

/// The microbatch that a rank uses for each of its stages: the first, or the first that is
/// offloaded. Where a stage passes its result to the next one on the same rank, both use the same.
class Chosen {
public:
    explicit Chosen(const ActionList& list) {
        std::map<Stage, int> first, offloaded;
        for (const Action& action : list) {
            for_each_compute(action, [&](const Compute& c) {
                first.try_emplace(c.stage, c.micro_batch.index);
                computed_.insert({c.stage, c.micro_batch.index});
            });
            if (const auto* offload = std::get_if<Offload>(&action))
                offloaded.try_emplace(offload->stage, offload->micro_batch.index);
        }
        for (const auto& [stage, index] : first) {
            const auto before = chosen_.find(Stage{stage.index - 1});
            if (before != chosen_.end() && computed_.contains({stage, before->second}))
                chosen_[stage] = before->second;
            else
                chosen_[stage] = offloaded.contains(stage) ? offloaded[stage] : index;
        }
        while (std::erase_if(chosen_, [&](const auto& one) { return waits_in_vain(one); }) > 0) {
        }
    }
    bool have(Stage stage, const MicroBatch& micro_batch) const {
        return is(stage, micro_batch.index);
    }

private:
    bool is(Stage stage, int index) const {
        const auto chosen = chosen_.find(stage);
        return chosen != chosen_.end() && chosen->second == index;
    }
    /// True if the rank waits for a result that it computes itself, but not in the rehearsal.
    bool waits_in_vain(const std::pair<const Stage, int>& one) const {
        const auto& [stage, index] = one;
        for (const Stage neighbour : {Stage{stage.index - 1}, Stage{stage.index + 1}})
            if (computed_.contains({neighbour, index}) && !is(neighbour, index)) return true;
        return false;
    }

    std::set<std::pair<Stage, int>> computed_;
    std::map<Stage, int> chosen_;
};

ActionList rehearsal_of(const ActionList& list) {
    const Chosen chosen(list);
    ActionList kept;
    const auto keep_if = [&](bool is_kept, const Action& action) {
        if (is_kept) kept.push_back(action);
    };
    const auto of_pass = [&](const auto& a) { keep_if(chosen.have(a.stage, a.micro_batch), a); };
    const Overloaded pick{
        [&](const Compute& c) { of_pass(c); },
        [&](const Recompute& r) { of_pass(r); },
        [&](const Offload& o) { of_pass(o); },
        [&](const Reload& r) { of_pass(r); },
        [&](const Overlap& o) {
            const bool one = chosen.have(o.first.stage, o.first.micro_batch);
            const bool other = chosen.have(o.second.stage, o.second.micro_batch);
            if (one && other) return kept.push_back(o);
            keep_if(one, o.first);
            keep_if(other, o.second);
        },
        [&](const Send& s) { keep_if(chosen.have(s.message.producer, s.message.micro_batch), s); },
        [&](const Recv& r) {
            keep_if(chosen.have(consumer_of(r.message), r.message.micro_batch), r);
        },
        [&](const Unshard& u) { kept.push_back(u); },
        [&](const Reshard& r) { kept.push_back(r); },
        [&](const ReduceGrad& r) { kept.push_back(r); },
        [](const TiedGradReduce&) {},
        [](const GradNorm&) {},
        [](const OptimizerStep&) {},
    };
    for (const Action& action : list) {
        if (std::holds_alternative<OptimizerStep>(action))
            break;  // what follows uses the step's
                    // results
        std::visit(pick, action);
    }
    return kept;
}

}  // namespace

Program rehearsal_of(const Program& program) {
    Program rehearsal = program;
    rehearsal.name += " rehearsal";
    for (ActionList& list : rehearsal.ranks) list = rehearsal_of(list);
    return rehearsal;
}

}  // namespace debubble

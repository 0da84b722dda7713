#include "schedule/rehearsal.h"

#include <map>

#include "base/overloaded.h"
#include "schedule/dependencies.h"

namespace debubble {

namespace {

/// Of one rank: the microbatch that each of its stages computes first.
class FirstMicroBatches {
public:
    explicit FirstMicroBatches(const ActionList& list) {
        for (const Action& action : list)
            for_each_compute(action, [&](const Compute& compute) {
                index_.try_emplace(compute.stage, compute.micro_batch.index);
            });
    }
    bool have(Stage stage, const MicroBatch& micro_batch) const {
        const auto first = index_.find(stage);
        return first != index_.end() && first->second == micro_batch.index;
    }

private:
    std::map<Stage, int> index_;
};

ActionList rehearsal_of(const ActionList& list) {
    const FirstMicroBatches first(list);
    ActionList kept;
    const auto keep_if = [&](bool is_kept, const Action& action) {
        if (is_kept) kept.push_back(action);
    };
    const auto of_pass = [&](const auto& a) { keep_if(first.have(a.stage, a.micro_batch), a); };
    const Overloaded pick{
        [&](const Compute& c) { of_pass(c); },
        [&](const Recompute& r) { of_pass(r); },
        [&](const Offload& o) { of_pass(o); },
        [&](const Reload& r) { of_pass(r); },
        [&](const Overlap& o) {
            const bool one = first.have(o.first.stage, o.first.micro_batch);
            const bool other = first.have(o.second.stage, o.second.micro_batch);
            if (one && other) return kept.push_back(o);
            keep_if(one, o.first);
            keep_if(other, o.second);
        },
        [&](const Send& s) { keep_if(first.have(s.message.producer, s.message.micro_batch), s); },
        [&](const Recv& r) {
            keep_if(first.have(consumer_of(r.message), r.message.micro_batch), r);
        },
        [&](const Unshard& u) { kept.push_back(u); },
        [&](const Reshard& r) { kept.push_back(r); },
        [&](const ReduceGrad& r) { kept.push_back(r); },
        [](const TiedGradReduce&) {},
        [](const GradNorm&) {},
        [](const OptimizerStep&) {},
    };
    for (const Action& action : list) {
        if (std::holds_alternative<OptimizerStep>(action)) break;  // what follows is of its results
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

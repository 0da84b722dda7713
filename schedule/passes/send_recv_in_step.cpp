#include <algorithm>

#include "schedule/dependencies.h"
#include "schedule/passes/passes.h"

namespace debubble {
namespace {

class InStep {
public:
    explicit InStep(const Schedule& schedule)
        : schedule_(schedule),
          index_(schedule),
          owners_(schedule),
          made_(index_.size(), false),
          played_(schedule.ranks.size(), 0),
          lowered_(schedule.ranks.size()) {}

    std::vector<ActionList> lower() && {
        while (play_turn([&](const Action& action) { return has_inputs(action); })) continue;
        while (play_turn([](const Action&) { return true; }))
            continue;  // computes that wait in a
                       // cycle
        return std::move(lowered_);
    }

private:
    /// Executes the next action of each rank that can run; false if there was none.
    template <class May>
    bool play_turn(const May& may) {
        bool any = false;
        for (std::size_t rank = 0; rank < lowered_.size(); ++rank) {
            const ActionList& list = schedule_.ranks[rank];
            if (played_[rank] == list.size() || !may(list[played_[rank]])) continue;
            play(rank, list[played_[rank]++]);
            any = true;
        }
        return any;
    }

    void play(std::size_t rank, const Action& action) {
        lowered_[rank].push_back(action);
        for_each_compute(action, [&](const Compute& c) {
            const auto result = result_of(c);
            if (!result) return;
            made_[index_.of(*result)] = true;
            const auto to = owners_.consumer_of(*result);
            const Rank from{static_cast<int>(rank)};
            if (!to || *to == from) return;
            lowered_[rank].push_back(Send{*result, *to});
            lowered_[to->index].push_back(Recv{*result, from});
        });
    }

    bool has_inputs(const Action& action) const {
        bool all = true;
        for_each_compute(action, [&](const Compute& c) {
            const Inputs inputs = inputs_of(c, index_.stage_count(), index_.slices());
            all = all && std::all_of(inputs.begin(), inputs.end(),
                                     [&](const Message& input) { return made_[index_.of(input)]; });
        });
        return all;
    }

    const Schedule& schedule_;
    ResultIndex index_;
    Owners owners_;
    std::vector<bool> made_;
    std::vector<std::size_t> played_;  ///< number of executed actions, by rank
    std::vector<ActionList> lowered_;
};

}  // namespace

Schedule add_send_recv_in_step(Schedule schedule) {
    schedule.ranks = InStep(schedule).lower();
    return schedule;
}

}  // namespace debubble

#include "schedule/dependencies.h"
#include "schedule/passes/passes.h"

namespace debubble {
namespace {

bool is_pass(const Action& action, Pass pass) {
    const auto* compute = std::get_if<Compute>(&action);
    return compute != nullptr && compute->pass == pass;
}

/// Writes each rank's list as receives, computes, sends, receives, ...
class Batches {
public:
    explicit Batches(const Schedule& schedule)
        : schedule_(schedule), index_(schedule), owners_(schedule) {}

    ActionList lower(Rank rank) const {
        const ActionList& list = schedule_.ranks[rank];
        ActionList lowered;
        for (std::size_t begin = 0; begin < list.size();) {
            const std::size_t end = begin + (is_one_step(list, begin) ? 2 : 1);
            for (std::size_t i = begin; i < end; ++i) receive(list[i], rank, lowered);
            for (std::size_t i = begin; i < end; ++i) lowered.push_back(list[i]);
            for (std::size_t i = begin; i < end; ++i) send(list[i], rank, lowered);
            begin = end;
        }
        return lowered;
    }

private:
    /// A forward and the backward after it, where ranks have several chunks.
    bool is_one_step(const ActionList& list, std::size_t at) const {
        return schedule_.shape.stages_per_rank > 1 && at + 1 < list.size() &&
               is_pass(list[at], Pass::Forward) && is_pass(list[at + 1], Pass::Backward);
    }
    void receive(const Action& action, Rank rank, ActionList& lowered) const {
        for_each_compute(action, [&](const Compute& c) {
            const auto input = neighbour_input_of(c, index_.stage_count());
            const auto from = input ? owners_.producer_of(*input) : std::nullopt;
            if (from && *from != rank) lowered.push_back(Recv{*input, *from});
        });
    }
    void send(const Action& action, Rank rank, ActionList& lowered) const {
        for_each_compute(action, [&](const Compute& c) {
            const auto result = result_of(c);
            const auto to = result ? owners_.consumer_of(*result) : std::nullopt;
            if (to && *to != rank) lowered.push_back(Send{*result, *to});
        });
    }

    const Schedule& schedule_;
    ResultIndex index_;
    Owners owners_;
};

}  // namespace

Schedule add_send_recv_in_batches(Schedule schedule) {
    const Batches batches(schedule);
    std::vector<ActionList> lowered;
    for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank)
        lowered.push_back(batches.lower(Rank{rank}));
    schedule.ranks = std::move(lowered);
    return schedule;
}

}  // namespace debubble

#include "sim/memory/alike_ranks.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/overloaded.h"
#include "schedule/dependencies.h"
#include "sim/memory/local_stages.h"

namespace debubble::sim {
namespace {

/// Compares two ranks' lists, action by action, and what the model says of them. As microbatches
/// do not differ, it is asked once about all of a stage.
class ListPair {
public:
    ListPair(const Program& program, const PlacementIndex& index, const MemoryModel& memory, Rank a,
             Rank b)
        : memory_(memory),
          stage_count_(index.stage_count()),
          slices_(program.shape.slices),
          a_{program.ranks[a.index], program.placement.stages_of(a), LocalStages(index, a),
             memory.gradients_in_backward(a)},
          b_{program.ranks[b.index], program.placement.stages_of(b), LocalStages(index, b),
             memory.gradients_in_backward(b)},
          asked_(kQuestions * a_.stages.size() * slices_, 0) {}

    bool alike() {
        return a_.list.size() == b_.list.size() && a_.stages.size() == b_.stages.size() &&
               a_.gradients == b_.gradients && have_alike_neighbours() &&
               std::ranges::equal(a_.list, b_.list,
                                  [&](const Action& x, const Action& y) { return alike(x, y); });
    }

private:
    struct Side {
        const ActionList& list;
        std::span<const Stage> stages;
        LocalStages local;
        Bytes gradients;
    };

    /// What a model is asked about a stage, in addition to its four passes.
    static constexpr std::size_t kOfSends = 4;  ///< and, one further, of those of gradients
    static constexpr std::size_t kOfReceives = 6;
    static constexpr std::size_t kGathered = 8;
    static constexpr std::size_t kQuestions = 9;

    /// The ends of the pipeline receive less.
    bool have_alike_neighbours() {
        const MicroBatch mb{0, {}};
        const auto receives = [&](Message::Kind kind, Stage x, Stage y) {
            const bool of_x = x.index >= 0 && x.index < stage_count_;
            const bool of_y = y.index >= 0 && y.index < stage_count_;
            if (of_x != of_y) return false;
            return !of_x || !memory_.keeps_messages() || slices_ > 1 ||
                   memory_.message({kind, x, mb}) == memory_.message({kind, y, mb});
        };
        return std::ranges::equal(a_.stages, b_.stages, [&](Stage x, Stage y) {
            return receives(Message::Kind::Activation, Stage{x.index - 1}, Stage{y.index - 1}) &&
                   receives(Message::Kind::Gradient, Stage{x.index + 1}, Stage{y.index + 1});
        });
    }

    bool alike(const Action& x, const Action& y) {
        if (x.index() != y.index()) return false;
        return std::visit([&]<class A>(const A& of_x) { return alike(of_x, *std::get_if<A>(&y)); },
                          x);
    }

    bool alike(const Compute& x, const Compute& y) {
        return x.pass == y.pass && same(x.stage, x.micro_batch, y.stage, y.micro_batch) &&
               (x.pass == Pass::Forward || !is_new(position_of(x.pass), x.stage, x.micro_batch) ||
                memory_.left_unreduced(x) == memory_.left_unreduced(y));
    }
    bool alike(const Overlap& x, const Overlap& y) {
        return alike(x.first, y.first) && alike(x.second, y.second);
    }
    bool alike(const Send& x, const Send& y) {
        return alike(x.message, x.message.producer, y.message, y.message.producer, kOfSends);
    }
    bool alike(const Recv& x, const Recv& y) {
        return alike(x.message, consumer_of(x.message), y.message, consumer_of(y.message),
                     kOfReceives);
    }
    /// Messages of two stages, which send or receive them.
    bool alike(const Message& x, Stage of_x, const Message& y, Stage of_y, std::size_t question) {
        const std::size_t of_kind = question + (x.kind == Message::Kind::Gradient ? 1 : 0);
        return x.kind == y.kind && same(of_x, x.micro_batch, of_y, y.micro_batch) &&
               (!is_new(of_kind, of_x, x.micro_batch) || memory_.message(x) == memory_.message(y));
    }
    bool alike(const Unshard& x, const Unshard& y) {
        return same(x.stage, y.stage) &&
               (!is_new(kGathered, x.stage, {}) ||
                memory_.unsharded_bytes(x.stage) == memory_.unsharded_bytes(y.stage));
    }
    bool alike(const Reshard& x, const Reshard& y) { return same(x.stage, y.stage); }
    bool alike(const ReduceGrad& x, const ReduceGrad& y) { return same(x.stage, y.stage); }
    /// Recompute, Offload and Reload.
    template <class OfMicroBatch>
    bool alike(const OfMicroBatch& x, const OfMicroBatch& y) requires requires {
        x.micro_batch;
    }
    { return same(x.stage, x.micro_batch, y.stage, y.micro_batch); }
    static bool alike(const TiedGradReduce&, const TiedGradReduce&) { return true; }
    static bool alike(const GradNorm&, const GradNorm&) { return true; }
    static bool alike(const OptimizerStep&, const OptimizerStep&) { return true; }

    bool same(Stage x, Stage y) { return a_.local.index_of(x) == b_.local.index_of(y); }
    bool same(Stage x, MicroBatch mb_x, Stage y, MicroBatch mb_y) {
        return mb_x == mb_y && same(x, y);
    }
    /// True when a question about the first rank's stage has not been asked before.
    bool is_new(std::size_t question, Stage x, MicroBatch mb) {
        const std::size_t row = a_.local.index_of(x) * kQuestions + question;
        return std::exchange(asked_[row * slices_ + mb.slice.value_or(0)], 1) == 0;
    }

    const MemoryModel& memory_;
    int stage_count_;
    std::size_t slices_;
    Side a_;
    Side b_;
    std::vector<std::uint8_t> asked_;  ///< by stage of the rank, question and slice
};

/// True if the ranks' stages have one graph in turn, and what a player keeps by stage comes in one
/// order.
bool share_graphs(const RankStages& stages, std::span<const Stage> of_a,
                  std::span<const Stage> of_b) {
    if (of_a.size() != of_b.size()) return false;
    for (std::size_t i = 0; i < of_a.size(); ++i) {
        if (!stages.share_graph(of_a[i], of_b[i])) return false;
        for (std::size_t k = 0; k < i; ++k)
            if ((of_a[k] < of_a[i]) != (of_b[k] < of_b[i])) return false;
    }
    return true;
}

}  // namespace

bool have_alike_events(const Program& program, const PlacementIndex& index,
                       const MemoryModel& memory, Rank a, Rank b) {
    return ListPair(program, index, memory, a, b).alike();
}

bool asks_alike(const RankStages& stages, const Program& program, Rank a, Rank b) {
    return share_graphs(stages, program.placement.stages_of(a), program.placement.stages_of(b)) &&
           have_alike_events(program, stages.index(), stages, a, b);
}

}  // namespace debubble::sim

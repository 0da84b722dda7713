#include "sim/memory/alike_ranks.h"

#include <algorithm>
#include <variant>

#include "base/overloaded.h"

namespace debubble::sim {
namespace {

/// Compares the events of two ranks whose stages have one graph in turn.
class EventPair {
public:
    EventPair(const Program& program, const OrderedEvents& a, const OrderedEvents& b)
        : placement_(program.placement),
          a_(a),
          b_(b),
          list_a_(program.ranks[a.rank.index]),
          list_b_(program.ranks[b.rank.index]) {}

    bool same(std::uint32_t index) const {
        const MemoryEvent& x = a_.events[index];
        const MemoryEvent& y = b_.events[index];
        return x.action == y.action && list_a_[x.action].index() == list_b_[y.action].index() &&
               x.what.index() == y.what.index() &&
               std::visit([&]<class E>(const E& of_x) { return same(of_x, std::get<E>(y.what)); },
                          x.what);
    }

private:
    static bool same(const Allocation& x, const Allocation& y) {
        return x.held == y.held && x.held_as == y.held_as && x.bytes == y.bytes;
    }
    static bool same(const Release& x, const Release& y) { return x.allocation == y.allocation; }
    bool same(const PassRuns& x, const PassRuns& y) const {
        return x.again == y.again && same(x.pass, y.pass);
    }
    /// The step asks for what its rank needs.
    static bool same(const OptimizerRuns&, const OptimizerRuns&) { return false; }
    bool same(const SavedLeaves& x, const SavedLeaves& y) const {
        return same(x.forward, y.forward);
    }
    bool same(const SavedReturns& x, const SavedReturns& y) const {
        return same(x.forward, y.forward);
    }
    bool same(const Compute& x, const Compute& y) const {
        return x.pass == y.pass && x.micro_batch == y.micro_batch &&
               counterpart(placement_, x.stage, a_.rank, b_.rank) == y.stage;
    }

    const Placement& placement_;
    const OrderedEvents& a_;
    const OrderedEvents& b_;
    const ActionList& list_a_;
    const ActionList& list_b_;
};

/// Whether both begin with the same, and their passes do the same.
bool begin_alike(const RankStages& stages, const Placement& placement, Rank a, Rank b) {
    const std::span<const Stage> of_a = placement.stages_of(a);
    const std::span<const Stage> of_b = placement.stages_of(b);
    return std::ranges::equal(of_a, of_b,
                              [&](Stage x, Stage y) { return stages.share_graph(x, y); }) &&
           stages.static_memory(a) == stages.static_memory(b);
}

bool runs_again(const Program& program, Rank rank) {
    return std::ranges::any_of(program.ranks[rank.index], [](const Action& action) {
        return std::holds_alternative<Recompute>(action);
    });
}

}  // namespace

Stage counterpart(const Placement& placement, Stage stage, Rank from, Rank to) {
    const std::span<const Stage> of = placement.stages_of(from);
    const auto at = std::ranges::find(of, stage) - of.begin();
    return placement.stages_of(to)[at];
}

std::size_t shared_requests(const RankStages& stages, const Program& program,
                            const OrderedEvents& a, const OrderedEvents& b) {
    // What a forward keeps depends on what its list computes again later.
    if (!begin_alike(stages, program.placement, a.rank, b.rank) || runs_again(program, a.rank) ||
        runs_again(program, b.rank))
        return 0;
    const EventPair pair(program, a, b);
    const std::size_t most = std::min(a.order.size(), b.order.size());
    std::size_t shared = 0;
    while (shared < most && a.order[shared] == b.order[shared] && pair.same(a.order[shared]))
        ++shared;
    return shared;
}

}  // namespace debubble::sim

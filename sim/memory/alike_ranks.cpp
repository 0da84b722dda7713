#include "sim/memory/alike_ranks.h"

#include <algorithm>
#include <span>
#include <variant>

#include "base/overloaded.h"
#include "sim/memory/local_stages.h"

namespace debubble::sim {
namespace {

/// Two ranks' stages, pair by pair.
class StagePairs {
public:
    StagePairs(const RankStages& stages, const Program& program, Rank a, Rank b)
        : stages_(stages),
          of_a_(program.placement.stages_of(a)),
          of_b_(program.placement.stages_of(b)),
          a_(stages.index(), a),
          b_(stages.index(), b) {}

    /// True if they have one graph, and what a player keeps by stage comes in one order.
    bool alike() const {
        if (of_a_.size() != of_b_.size()) return false;
        for (std::size_t i = 0; i < of_a_.size(); ++i) {
            if (!stages_.share_graph(of_a_[i], of_b_[i])) return false;
            for (std::size_t k = 0; k < i; ++k)
                if ((of_a_[k] < of_a_[i]) != (of_b_[k] < of_b_[i])) return false;
        }
        return true;
    }
    bool alike(const Compute& a, const Compute& b) {
        return a.pass == b.pass && a.micro_batch == b.micro_batch &&
               a_.index_of(a.stage) == b_.index_of(b.stage);
    }

private:
    const RankStages& stages_;
    std::span<const Stage> of_a_;
    std::span<const Stage> of_b_;
    LocalStages a_;
    LocalStages b_;
};

bool alike(StagePairs& stages, const MemoryEvent& a, const MemoryEvent& b) {
    if (a.action != b.action || a.what.index() != b.what.index()) return false;
    return std::visit(Overloaded{
                          [&](const Allocation& x) { return x == std::get<Allocation>(b.what); },
                          [&](const Release& x) { return x == std::get<Release>(b.what); },
                          [&](const PassRuns& x) {
                              const auto& y = std::get<PassRuns>(b.what);
                              return x.again == y.again && stages.alike(x.pass, y.pass);
                          },
                          [](const OptimizerRuns&) { return true; },
                          [&](const SavedLeaves& x) {
                              return stages.alike(x.forward, std::get<SavedLeaves>(b.what).forward);
                          },
                          [&](const SavedReturns& x) {
                              return stages.alike(x.forward,
                                                  std::get<SavedReturns>(b.what).forward);
                          },
                      },
                      a.what);
}

}  // namespace

bool asks_alike(const RankStages& stages, const Program& program, const RankEvents& a,
                const RankEvents& b) {
    if (a.events.size() != b.events.size()) return false;
    StagePairs pairs(stages, program, a.rank, b.rank);
    if (!pairs.alike()) return false;
    // A pair of passes takes turns, and what moves tensors decides how much of the list is played.
    const auto same_kind = [](const Action& x, const Action& y) { return x.index() == y.index(); };
    return std::ranges::equal(program.ranks[a.rank.index], program.ranks[b.rank.index],
                              same_kind) &&
           std::ranges::equal(a.events, b.events, [&](const MemoryEvent& x, const MemoryEvent& y) {
               return alike(pairs, x, y);
           });
}

}  // namespace debubble::sim

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "schedule/action.h"
#include "schedule/schedule.h"
#include "sim/uneven/uneven_figures.h"

/// The loads of one drawn step. Every number is a function of the seed, the draw and its place
/// (layer, microbatch, replica, rank), so that results depend neither on order nor on the number of
/// threads.
namespace debubble::sim {

/// The number of different groups of ranks that share the experts of a layer, among the replicas of
/// the data: 1 if all of them share.
int expert_groups(const scenarios::Parallel& parallel);

class Draw {
public:
    Draw(const scenarios::Scenario& scenario, DrawnPipeline pipeline);

    /// Load of the fullest rank's experts, at least 1, the same in all passes of the microbatch and
    /// in all replicas whose ranks share experts.
    double load(int layer, int micro_batch) const;
    /// Pairs of tokens in the causal mask, relative to sequences that are one document each: (sum
    /// of squared lengths) / (length of the sequence)^2, the mean over the samples.
    double attended(int micro_batch) const { return attended_[micro_batch]; }
    /// Lengths of the documents that a sequence is packed from, in tokens, padded to multiples of
    /// `multiple`, which divides the sequence. Precondition: documents are drawn.
    std::vector<std::int64_t> documents(int micro_batch, int sample, std::int64_t multiple) const;
    /// Length of a document that is a sample by itself.
    std::int64_t document(int sample, std::int64_t multiple) const;
    /// Factor of the time of one compute, with the mean 1.
    double jitter(Rank rank, const Compute& first, std::uint64_t kind) const;

private:
    double attended_of_sequence(int micro_batch, int sample) const;

    const scenarios::Imbalance& imbalance_;
    double mean_load_;
    std::int64_t seq_length_;
    std::uint64_t draw_;            ///< and the replica
    std::uint64_t experts_;         ///< the draw, and the group that shares experts
    std::vector<double> attended_;  ///< by microbatch; empty without sequences of documents
};

/// The mean of Draw::attended over all microbatches of all draws; 1 unless sequences hold documents
/// that their step does not pack.
double mean_attended(const scenarios::Scenario& scenario);

// The pipelines of a drawn step, one for each replica of the data, of which the slowest ends it,
// since gradients are reduced over all.

/// The number of a step's pipelines with loads of their own: those of all replicas where documents
/// or jitter are drawn, else of the groups of ranks that share experts, each of which has one load.
int pipelines_of_step(const scenarios::Scenario& scenario);

/// The simulated pipelines, and for each step those of which it is the slowest. All are simulated
/// where that is at most kMostPlayedActions; else kMostPlayedActions' worth for each draw,
/// different ones in each step, chosen at random by the seed.
class DrawnPipelines {
public:
    DrawnPipelines(const scenarios::Scenario& scenario, const Program& program);

    int draws() const { return draws_; }
    int of_step() const { return of_step_; }
    const std::vector<DrawnPipeline>& played() const { return played_; }
    /// Indices in played(), without repetition, in ascending order.
    std::vector<std::size_t> of_draw(int draw) const;

private:
    int draws_;
    int of_step_;
    int played_of_draw_;
    std::int64_t seed_;
    std::vector<DrawnPipeline> played_;
};
inline constexpr double kMostPlayedActions = 1e7;

}  // namespace debubble::sim

#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "schedule/action.h"
#include "sim/uneven/drawn_pipeline.h"

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
    double attended(int micro_batch) const {
        return attended_[static_cast<std::size_t>(micro_batch)];
    }
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

}  // namespace debubble::sim

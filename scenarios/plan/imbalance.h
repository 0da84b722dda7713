#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

/// Loads that are not even: the time of a step when microbatches, experts and ranks differ. All of
/// it is off unless a scenario asks for it.
namespace debubble::scenarios {

/// Sequences that are packed from documents: lengths are lognormal, in tokens, and a sequence is
/// filled up with them, its last one cut. A token attends to its own document alone.
struct Documents {
    double mean = 1;
    double spread = 1;                    ///< standard deviation over the mean
    std::int64_t shortest = 1;            ///< shorter ones are filled up
    std::optional<std::int64_t> longest;  ///< longer ones are cut; unset: training.seq_length
    /// A sample of the global batch is one document, and they are packed once a step, instead of
    /// sequences that were packed before (Megatron-Core's sequence_packing_scheduler on documents).
    bool global_batch_packing = false;
    friend bool operator==(const Documents&, const Documents&) = default;
};

struct Imbalance {
    /// Standard deviation, over its mean, of the load of the fullest rank's experts, drawn for each
    /// layer and microbatch. The mean is training.expert_load.
    double router_spread = 0;
    /// Loads that were measured, of which each layer and microbatch draws one, where there are any,
    /// instead of the spread. Their mean is training.expert_load.
    std::vector<double> router_loads;
    /// The load of a step that is called even: training.expert_load as it was given, of which the
    /// mean of router_loads has taken the place; unset: that of the training.
    std::optional<double> even_load;
    std::optional<Documents> documents;
    /// Factors of all computes of a pipeline rank and of its optimizer, by rank.
    std::map<int, double> ranks;
    double jitter = 0;  ///< standard deviation of each compute's time, over its mean
    int draws = 100;
    /// The share of drawn steps whose memory must fit.
    double fits_quantile = 0.99;
    std::int64_t seed = 1;
    friend bool operator==(const Imbalance&, const Imbalance&) = default;

    bool draws_routers() const { return router_spread > 0 || !router_loads.empty(); }
    /// True if layers and microbatches differ in their loads of experts.
    bool routers_differ() const {
        for (const double load : router_loads)
            if (load != router_loads.front()) return true;
        return router_spread > 0;
    }
    /// True if two draws differ.
    bool is_random() const { return draws_routers() || documents || jitter > 0; }
    bool any() const {
        for (const auto& [rank, factor] : ranks)
            if (factor != 1) return true;
        return is_random();
    }
};

}  // namespace debubble::scenarios

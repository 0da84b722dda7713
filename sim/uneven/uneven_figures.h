#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

/// The figures of steps with drawn loads.
namespace debubble::sim {

/// A pipeline of a drawn step: that of a replica of the data (parallel.data), from 0 on.
struct DrawnPipeline {
    int draw = 0;
    int replica = 0;
    friend bool operator==(const DrawnPipeline&, const DrawnPipeline&) = default;
};

/// A rank whose slowdown was given, and the step of the same draw without it.
struct SlowRank {
    Rank rank;
    double factor = 1;
    double without_s = 0;
    double cost = 0;  ///< share by which the slowdown lengthens the step
};

/// The packing of documents that every step packs anew: means over the drawn steps.
struct PackedFigures {
    double micro_batches = 0;      ///< of a rank in a step
    std::map<int, double> groups;  ///< of a step, by the number of their ranks
    double filled = 0;             ///< share of the ranks' capacity that is filled with tokens
    double waiting = 0;  ///< share of the step's work in which ranks of data x context wait for the
                         ///< last of them
    double tokens = 0;   ///< of a step
    double document = 0;  ///< mean length of the document of a token
    int position = 0;     ///< the rank of data x context that ends the median step
    /// The same documents in groups of `context` ranks, if the groups above are of several sizes.
    std::optional<double> static_p50_s;
    std::optional<double> static_p95_s;
    double static_micro_batches = 0;
    double static_times_as_long = 1;  ///< the mean step over the mean step of groups as above
};

struct UnevenSteps {
    double even_s = 0;            ///< the step if all loads were even and no rank slow
    double p50_s = 0;             ///< nearest rank: of 100 steps the 50th in length
    double p95_s = 0;             ///< and the 95th
    std::vector<Duration> drawn;  ///< the steps by draw; one where nothing is random
    int median = 0;               ///< the draw whose step is p50_s
    int pipelines = 1;            ///< with loads of their own, of which the slowest ends a step
    DrawnPipeline ends;           ///< the one that ends the step of p50_s
    std::vector<SlowRank> slow;   ///< the slowest kMostSlowRanks, by their cost
    std::size_t slow_ranks = 0;   ///< all with a slowdown above 1
    std::optional<PackedFigures> packed;

    /// The mean of the drawn steps, from which rates are computed. Precondition: there are some.
    double mean_s() const {
        double sum = 0;
        for (const Duration step : drawn) sum += seconds(step);
        return sum / static_cast<double>(drawn.size());
    }
};
inline constexpr std::size_t kMostSlowRanks = 8;

/// The requested memory of the fullest rank of drawn steps, in each step that of its fullest
/// pipeline: quantiles by the nearest rank.
struct DrawnMemoryFigures {
    int draws = 1;
    double quantile = 1;  ///< the share of the steps that must fit
    Bytes p50;
    Bytes at_quantile;
    Bytes most;
    DrawnPipeline decides;  ///< the pipeline with `at_quantile`, which the ranks' rows describe
};

}  // namespace debubble::sim

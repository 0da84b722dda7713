#include "models/partition/partition.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/diagnostic.h"
#include "models/network/layers.h"

namespace debubble::models {
namespace {

void check_enough(int layers, int stages) {
    if (layers < stages)
        throw InputError(fmt::format("{} layers cannot fill {} stages", layers, stages));
}

std::vector<StageContent> from_sizes(const std::vector<int>& sizes) {
    std::vector<StageContent> stages;
    int first = 0;
    for (const int size : sizes) {
        stages.push_back({first, size, stages.empty(), stages.size() + 1 == sizes.size()});
        first += size;
    }
    return stages;
}

/// Part `index` of `parts` of `items`: the later parts take one more where it does not divide.
int share(int items, int parts, int index) {
    return items / parts + (index >= parts - items % parts ? 1 : 0);
}

/// least[s][n]: the least possible greatest cost of the first n layers on s + 1 stages;
/// cut[s][n]: the layers that the stages before the last of them take.
struct Table {
    std::vector<std::vector<double>> least;
    std::vector<std::vector<int>> cut;
};

/// The cost of the earlier stages grows with the layers they take, and that of the last stage
/// falls: the best cut is where the two cross, found by bisection.
Table fill(const std::vector<double>& sum, double head, int stages) {
    const int layers = static_cast<int>(sum.size()) - 1;
    const double infinity = std::numeric_limits<double>::infinity();
    Table table;
    table.least.assign(stages, std::vector<double>(layers + 1, infinity));
    table.cut.assign(stages, std::vector<int>(layers + 1, 0));
    const auto tail = [&](int stage) { return stage + 1 == stages ? head : 0.0; };
    for (int n = 1; n <= layers; ++n) table.least[0][n] = sum[n] + tail(0);
    for (int s = 1; s < stages; ++s) {
        for (int n = s + 1; n <= layers; ++n) {
            const auto last_stage = [&](int j) { return sum[n] - sum[j] + tail(s); };
            int low = s;
            int high = n - 1;
            while (low < high) {
                const int middle = (low + high) / 2;
                if (table.least[s - 1][middle] >= last_stage(middle))
                    high = middle;
                else
                    low = middle + 1;
            }
            const auto worst = [&](int j) {
                return std::max(table.least[s - 1][j], last_stage(j));
            };
            const int best = low > s && worst(low - 1) <= worst(low) ? low - 1 : low;
            table.least[s][n] = worst(best);
            table.cut[s][n] = best;
        }
    }
    return table;
}

}  // namespace

std::vector<std::vector<LayerRange>> partition_uniform(int layers, int ranks, int chunks) {
    DEBUBBLE_CHECK(layers >= 0 && ranks > 0 && chunks > 0,
                   "a partition needs at least one rank and one chunk");
    std::vector<std::vector<LayerRange>> parts(ranks);
    int start = 0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int of_chunk = share(layers, chunks, chunk);
        for (int rank = 0; rank < ranks; ++rank) {
            const int end = start + share(of_chunk, ranks, rank);
            parts[rank].push_back({start, end});
            start = end;
        }
    }
    return parts;
}

std::vector<StageContent> uniform_stages(int layers, int ranks, int chunks) {
    check_enough(layers, ranks * chunks);
    std::vector<int> sizes;
    const auto parts = partition_uniform(layers, ranks, chunks);
    for (int chunk = 0; chunk < chunks; ++chunk)
        for (const auto& of_rank : parts)
            sizes.push_back(of_rank[chunk].end - of_rank[chunk].start);
    return from_sizes(sizes);
}

std::vector<StageContent> begun_at_choices(std::vector<StageContent> stages, const Layers& layers) {
    for (std::size_t i = 1; i < stages.size(); ++i) {
        StageContent& before = stages[i - 1];
        while (before.layers > 1 && stages[i].layers > 0 &&
               shares_choice(layers[stages[i].first_layer])) {
            --before.layers;
            --stages[i].first_layer;
            ++stages[i].layers;
        }
    }
    return stages;
}

std::vector<StageContent> explicit_stages(const std::vector<int>& layers_per_stage, int layers,
                                          int stages) {
    const auto given = static_cast<int>(layers_per_stage.size());
    if (given != stages)
        throw InputError(
            fmt::format("the partition lists {} stages, but there are {}", given, stages));
    const auto sum = std::accumulate(layers_per_stage.begin(), layers_per_stage.end(), 0LL);
    if (sum != layers)
        throw InputError(fmt::format("the partition's {} = {} layers, but the model has {}",
                                     fmt::join(layers_per_stage, " + "), sum, layers));
    return from_sizes(layers_per_stage);
}

std::vector<StageContent> with_predictions_in(int stage, std::vector<StageContent> stages) {
    const int count = static_cast<int>(stages.size());
    int last = 0;
    for (int i = 0; i < count; ++i)
        if (stages[i].layers > 0) last = i;
    for (int i = 0; i < count; ++i) {
        StageContent& content = stages[i];
        content.predictions = i < stage    ? Predictions::Later
                              : i == stage ? Predictions::Here
                                           : Predictions::Before;
        content.final_norm = i == last;
    }
    return stages;
}

int streams_sent(const std::vector<StageContent>& stages, int producer, bool gradient,
                 int mtp_layers) {
    const Predictions of = stages[producer].predictions;
    const bool many = of == Predictions::Before || (of == Predictions::Here && !gradient);
    return many ? 1 + mtp_layers : 1;
}

std::vector<StageContent> balanced_stages(const LayerCosts& costs, int stages) {
    const auto layers = static_cast<int>(costs.layers.size());
    check_enough(layers, stages);
    std::vector<double> sum{costs.embedding};  // sum[n]: cost of the embedding and the first n
                                               // layers
    for (const double cost : costs.layers) sum.push_back(sum.back() + cost);
    const Table table = fill(sum, costs.head, stages);
    std::vector<int> sizes(stages);
    int end = layers;
    for (int s = stages - 1; s > 0; --s) {
        const int start = table.cut[s][end];
        sizes[s] = end - start;
        end = start;
    }
    sizes[0] = end;
    return from_sizes(sizes);
}

namespace {

/// The sums of costs over stages and over the stages of each rank, for cuts of the same layers.
class RankSums {
public:
    RankSums(const LayerCosts& costs, const std::vector<std::vector<int>>& stages_of_rank)
        : costs_(costs), stages_of_rank_(stages_of_rank), before_{0} {
        for (const double cost : costs.layers) before_.push_back(before_.back() + cost);
    }

    /// Smaller is better: the greatest sum of a rank, then how far ranks are from each other, then
    /// stages.
    using Rating = std::array<double, 3>;
    Rating rate(const std::vector<int>& sizes) {
        of_stage_.clear();
        int first = 0;
        for (const int size : sizes) {
            of_stage_.push_back(before_[first + size] - before_[first]);
            first += size;
        }
        of_stage_.front() += costs_.embedding;
        of_stage_.back() += costs_.head;
        Rating rating{};
        double most = -1;
        for (const std::vector<int>& stages : stages_of_rank_) {
            double sum = 0;
            for (const int stage : stages) sum += of_stage_[stage];
            rating[1] += sum * sum;
            if (sum > most) {
                most = sum;
                fullest_ = &stages;
            }
        }
        rating[0] = most;
        for (const double cost : of_stage_) rating[2] += cost * cost;
        return rating;
    }
    /// The stages of the rank with the greatest sum of those that were rated last.
    const std::vector<int>& fullest() const { return *fullest_; }

private:
    const LayerCosts& costs_;
    const std::vector<std::vector<int>>& stages_of_rank_;
    std::vector<double> before_;    ///< cost of the first n layers
    std::vector<double> of_stage_;  ///< of the cut that was rated last
    const std::vector<int>* fullest_ = nullptr;
};

/// Less by more than rounding.
bool is_better(const RankSums::Rating& one, const RankSums::Rating& other) {
    constexpr double kRounding = 1e-12;
    for (std::size_t i = 0; i < one.size(); ++i) {
        if (one[i] < other[i] * (1 - kRounding)) return true;
        if (other[i] < one[i] * (1 - kRounding)) return false;
    }
    return false;
}

/// Of so many stages every move of a layer is tried; of more, those from the fullest rank.
constexpr std::size_t kMostMovedFreely = 16;

/// Moves layers, the best move first, until none is better.
RankSums::Rating improve(RankSums& sums, std::vector<int>& sizes) {
    RankSums::Rating best = sums.rate(sizes);
    std::vector<int> givers(sizes.size());
    std::iota(givers.begin(), givers.end(), 0);
    for (;;) {
        if (sizes.size() > kMostMovedFreely) givers = sums.fullest();
        std::vector<int> better = sizes;
        for (const int from : givers)
            for (int to = 0; to < static_cast<int>(sizes.size()); ++to) {
                if (to == from || sizes[from] < 2) continue;
                std::vector<int> moved = sizes;
                --moved[from];
                ++moved[to];
                const RankSums::Rating rating = sums.rate(moved);
                if (!is_better(rating, best)) continue;
                best = rating;
                better = std::move(moved);
            }
        if (better == sizes) return best;
        sizes = std::move(better);
        sums.rate(sizes);
    }
}

std::vector<int> sizes_of(const std::vector<StageContent>& stages) {
    std::vector<int> sizes;
    for (const StageContent& stage : stages) sizes.push_back(stage.layers);
    return sizes;
}

bool is_one_to_one(const std::vector<std::vector<int>>& stages_of_rank) {
    std::set<int> held;
    for (const std::vector<int>& stages : stages_of_rank)
        if (stages.size() != 1 || !held.insert(stages.front()).second) return false;
    return true;
}

}  // namespace

std::vector<StageContent> balanced_over_ranks(const LayerCosts& costs,
                                              const std::vector<std::vector<int>>& stages_of_rank) {
    int stages = 0;
    for (const std::vector<int>& held : stages_of_rank)
        for (const int stage : held) stages = std::max(stages, stage + 1);
    std::vector<StageContent> balanced = balanced_stages(costs, stages);
    if (is_one_to_one(stages_of_rank)) return balanced;
    RankSums sums(costs, stages_of_rank);
    std::vector<int> even =
        sizes_of(uniform_stages(static_cast<int>(costs.layers.size()), stages, 1));
    std::vector<int> sizes = sizes_of(balanced);
    const RankSums::Rating of_even = improve(sums, even);
    const RankSums::Rating of_sizes = improve(sums, sizes);
    return from_sizes(is_better(of_even, of_sizes) ? even : sizes);
}

std::string uneven_note(const std::vector<StageContent>& stages) {
    std::vector<int> sizes;
    for (const StageContent& stage : stages) sizes.push_back(stage.layers);
    const auto [least, most] = std::ranges::minmax(sizes);
    if (least == most) return {};
    return fmt::format("stages hold {} layers", fmt::join(sizes, ", "));
}

}  // namespace debubble::models

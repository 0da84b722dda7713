#include "models/partition/partition.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace debubble::models {
namespace {

std::vector<int> sizes_of(const std::vector<StageContent>& stages) {
    std::vector<int> sizes;
    for (const StageContent& stage : stages) sizes.push_back(stage.layers);
    return sizes;
}

/// What colossalai.builder.pipeline.partition_uniform returns for the same arguments.
TEST(PartitionUniform, IsColossalAIs) {
    using Parts = std::vector<std::vector<LayerRange>>;
    EXPECT_EQ(partition_uniform(48, 2, 1), (Parts{{{0, 24}}, {{24, 48}}}));
    EXPECT_EQ(partition_uniform(48, 2, 2), (Parts{{{0, 12}, {24, 36}}, {{12, 24}, {36, 48}}}));
    EXPECT_EQ(partition_uniform(10, 4, 1), (Parts{{{0, 2}}, {{2, 4}}, {{4, 7}}, {{7, 10}}}));
    EXPECT_EQ(partition_uniform(10, 3, 2),
              (Parts{{{0, 1}, {5, 6}}, {{1, 3}, {6, 8}}, {{3, 5}, {8, 10}}}));
}

TEST(UniformStages, CoverEveryLayerOnceAndDifferByOnePerChunk) {
    for (int layers = 1; layers <= 40; ++layers)
        for (int ranks = 1; ranks <= 6; ++ranks)
            for (int chunks = 1; chunks <= 3; ++chunks) {
                if (layers < ranks * chunks) {
                    EXPECT_THROW(uniform_stages(layers, ranks, chunks), InputError);
                    continue;
                }
                const auto stages = uniform_stages(layers, ranks, chunks);
                int next = 0;
                for (const StageContent& stage : stages) {
                    EXPECT_EQ(stage.first_layer, next);
                    EXPECT_GE(stage.layers, 1);
                    EXPECT_LE(stage.layers, layers / (ranks * chunks) + 1);
                    next += stage.layers;
                }
                EXPECT_EQ(next, layers);
                EXPECT_TRUE(stages.front().embedding && stages.back().head);
            }
}

double greatest(const LayerCosts& costs, const std::vector<int>& sizes) {
    double worst = 0;
    int layer = 0;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        double sum = s == 0 ? costs.embedding : 0;
        if (s + 1 == sizes.size()) sum += costs.head;
        for (int i = 0; i < sizes[s]; ++i) sum += costs.layers[layer++];
        worst = std::max(worst, sum);
    }
    return worst;
}

/// The least greatest cost over every way to cut, by trying them all.
double by_exhaustion(const LayerCosts& costs, std::vector<int>& sizes, int left, int stages) {
    if (stages == 1) {
        sizes.push_back(left);
        const double worst = greatest(costs, sizes);
        sizes.pop_back();
        return worst;
    }
    double best = std::numeric_limits<double>::infinity();
    for (int take = 1; take <= left - (stages - 1); ++take) {
        sizes.push_back(take);
        best = std::min(best, by_exhaustion(costs, sizes, left - take, stages - 1));
        sizes.pop_back();
    }
    return best;
}

TEST(BalancedStages, AreAsGoodAsTheBestOfAllCuts) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> cost(0, 9);
    for (int round = 0; round < 300; ++round) {
        LayerCosts costs;
        const int layers = 1 + round % 10;
        for (int i = 0; i < layers; ++i) costs.layers.push_back(cost(random));
        costs.embedding = cost(random);
        costs.head = 3 * cost(random);
        for (int stages = 1; stages <= layers; ++stages) {
            std::vector<int> none;
            EXPECT_EQ(greatest(costs, sizes_of(balanced_stages(costs, stages))),
                      by_exhaustion(costs, none, layers, stages));
        }
    }
}

/// The greatest sum over the stages of a rank.
double greatest_of_ranks(const LayerCosts& costs, const std::vector<int>& sizes,
                         const std::vector<std::vector<int>>& stages_of_rank) {
    std::vector<double> of_stage;
    auto layer = costs.layers.begin();
    for (const int size : sizes) {
        of_stage.push_back(std::accumulate(layer, layer + size, 0.0));
        layer += size;
    }
    of_stage.front() += costs.embedding;
    of_stage.back() += costs.head;
    double most = 0;
    for (const std::vector<int>& stages : stages_of_rank) {
        double sum = 0;
        for (const int stage : stages) sum += of_stage[static_cast<std::size_t>(stage)];
        most = std::max(most, sum);
    }
    return most;
}

TEST(BalancedStages, OfRanksWithSeveralAreNoWorseThanEqualOnesOrAnyOneMove) {
    std::mt19937 random(11);
    std::uniform_int_distribution<int> cost(1, 9);
    const std::vector<std::vector<std::vector<int>>> placements{{{0, 2}, {1, 3}},
                                                                {{0, 3}, {1, 2}},
                                                                {{0, 3}, {1, 2}, {2, 1}, {3, 0}},
                                                                {{0, 2, 4}, {1, 3, 5}}};
    for (int round = 0; round < 200; ++round) {
        const auto& ranks = placements[static_cast<std::size_t>(round) % placements.size()];
        int stages = 0;
        for (const auto& held : ranks)
            for (const int stage : held) stages = std::max(stages, stage + 1);
        LayerCosts costs;
        const int layers = stages + round % 17;
        for (int i = 0; i < layers; ++i) costs.layers.push_back(round % 2 == 0 ? 4 : cost(random));
        costs.embedding = cost(random);
        costs.head = 3 * cost(random);
        const std::vector<int> sizes = sizes_of(balanced_over_ranks(costs, ranks));
        EXPECT_EQ(std::reduce(sizes.begin(), sizes.end()), layers);
        EXPECT_GE(*std::ranges::min_element(sizes), 1);
        const double most = greatest_of_ranks(costs, sizes, ranks);
        EXPECT_LE(most,
                  greatest_of_ranks(costs, sizes_of(uniform_stages(layers, stages, 1)), ranks));
        EXPECT_LE(most, greatest_of_ranks(costs, sizes_of(balanced_stages(costs, stages)), ranks));
        for (std::size_t from = 0; from < sizes.size(); ++from)
            for (std::size_t to = 0; to < sizes.size(); ++to) {
                if (from == to || sizes[from] < 2) continue;
                std::vector<int> moved = sizes;
                --moved[from];
                ++moved[to];
                EXPECT_LE(most, greatest_of_ranks(costs, moved, ranks));
            }
    }
}

TEST(ExplicitStages, AreTakenAsWrittenOrRefusedInWords) {
    EXPECT_EQ(sizes_of(explicit_stages({0, 5, 4, 3}, 12, 4)), (std::vector{0, 5, 4, 3}));
    const auto sentence = [](const std::vector<int>& sizes, int layers, int stages) {
        try {
            explicit_stages(sizes, layers, stages);
        } catch (const InputError& error) {
            return error.diagnostics().front().message;
        }
        return std::string("taken");
    };
    EXPECT_EQ(sentence({6, 6}, 12, 3), "the partition lists 2 stages, but there are 3");
    EXPECT_EQ(sentence({6, 5}, 12, 2), "the partition's 6 + 5 = 11 layers, but the model has 12");
    EXPECT_EQ(sizes_of(explicit_stages({6, 0, 6}, 12, 3)), (std::vector{6, 0, 6}));
}

TEST(Partition, NamesTheNumbersThatDoNotFit) {
    try {
        uniform_stages(6, 8, 1);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "error: 6 layers cannot fill 8 stages\n");
    }
    EXPECT_EQ(uneven_note(uniform_stages(10, 4, 1)), "stages hold 2, 2, 3, 3 layers");
    EXPECT_EQ(uneven_note(uniform_stages(8, 4, 1)), "");
}

}  // namespace
}  // namespace debubble::models

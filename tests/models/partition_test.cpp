#include "models/partition.h"

#include <limits>
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
    EXPECT_EQ(sentence({6, 6}, 12, 3), "the partition names 2 stages, and there are 3");
    EXPECT_EQ(sentence({6, 5}, 12, 2), "the partition's 6 + 5 = 11 layers, and the model has 12");
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

#include "models/memory/static_memory.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/models/architectures.h"

namespace debubble::models {
namespace {

StageGraph stage() {
    Execution how;
    how.seq_length = 64;
    return build_stage(gpt(4, 256, 8), how, {0, 4, true, true});
}

TEST(OptimizerPieces, AreTheParametersThemselvesOnOneRank) {
    const StageGraph graph = stage();
    std::vector<std::int64_t> expected;
    for (auto p = graph.parameters.rbegin(); p != graph.parameters.rend(); ++p) {
        expected.push_back(p->elements_of_rank(graph.execution));
    }
    for (const std::int64_t bucket :
         {std::int64_t{1}, std::int64_t{100'000}, std::int64_t{1} << 40}) {
        EXPECT_EQ(optimizer_pieces(graph, 1, bucket), expected);
    }
}

TEST(OptimizerPieces, HoldAnEqualShareOfEveryBucket) {
    const StageGraph graph = stage();
    const std::int64_t all = graph.parameter_elements();
    for (const int shards : {2, 3, 8}) {
        for (const std::int64_t bucket : {std::int64_t{1}, std::int64_t{1'000'000}, all}) {
            const auto pieces = optimizer_pieces(graph, shards, bucket);
            const std::int64_t owned =
                std::accumulate(pieces.begin(), pieces.end(), std::int64_t{0});
            // rounded down once per bucket, of which there are at most as many as parameters
            EXPECT_LE(owned, all / shards);
            EXPECT_GT(owned, all / shards - static_cast<std::int64_t>(graph.parameters.size()));
        }
    }
    // one bucket per parameter: everyone owns the end of each
    EXPECT_EQ(optimizer_pieces(graph, 2, 1).size(), graph.parameters.size());
    // one bucket for all: the last rank owns the first parameters of the stage
    const auto whole = optimizer_pieces(graph, 2, all);
    EXPECT_EQ(std::accumulate(whole.begin(), whole.end(), std::int64_t{0}), all / 2);
    EXPECT_LT(whole.size(), graph.parameters.size());
}

TEST(OptimizerPieces, ComeFromBucketsOfMegatronsSize) {
    EXPECT_EQ(megatron_bucket_elements(8), 40'000'000);
    EXPECT_EQ(megatron_bucket_elements(64), 64'000'000);
}

}  // namespace
}  // namespace debubble::models

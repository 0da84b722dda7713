#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/sha256.h"
#include "schedule/generators/generators.h"
#include "schedule/generators/search/building_block.h"
#include "tests/schedule/generators/search_cases.h"
#include "tests/support/source_folder.h"

/// The orders of the V family are those that were compared with the papers, digest by digest:
/// how fast an order is found must not change which it is.
namespace debubble {
namespace {

std::map<std::string, std::string> golden_digests() {
    const auto path = source_folder() / "tests/schedule/golden/search_digests.txt";
    std::istringstream lines(read_file(path.string()));
    std::map<std::string, std::string> digests;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.front() == '#') continue;
        const auto blank = line.find(' ');
        digests[line.substr(0, blank)] = line.substr(blank + 1);
    }
    return digests;
}

void append(std::string& text, const std::vector<StepOrder>& order) {
    for (const StepOrder& steps : order) {
        for (const Step& step : steps)
            text += static_cast<char>('a' + 2 * static_cast<int>(step.pass) + step.chunk);
        text += '\n';
    }
}

/// Of squeezing every block of a few strides for every limit and number of microbatches.
std::string squeezed_digest(int ranks, bool splits) {
    std::string all;
    for (const BlockStrides& strides :
         {BlockStrides{{4, 2, 4, 2}, 1, 1}, BlockStrides{{1, 1, 1, 1}, 1, 1},
          BlockStrides{{2, 1, 2, 1}, 4, 2}, BlockStrides{{1, 4, 1, 1}, 3, 5}}) {
        const auto block = lay_block(ranks, strides, splits ? 1 : 2);
        if (!block) continue;
        for (const int m : {1, 2, 3, 5, 8, 13, 40, 150})
            for (const int limit : {2, ranks, 2 * ranks, 2 * ranks + 1})
                for (const bool weights : {false, true}) {
                    if (weights && !splits) continue;
                    const OrderProblem problem{{ranks, 2, m}, unit_costs(), splits, {limit}};
                    append(all, squeeze(problem, *block, limit, weights));
                }
    }
    return sha256(all);
}

TEST(SearchedOrder, OfSqueezedBlocksIsTheRecordedOne) {
    std::map<std::string, std::string> golden = golden_digests();
    for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16})
        for (const bool splits : {true, false}) {
            const std::string key = fmt::format("squeeze:{}:{}", ranks, splits ? "split" : "fused");
            EXPECT_EQ(squeezed_digest(ranks, splits), golden[key]) << key;
        }
}

/// Squeezing takes time in proportion to the microbatches: if it looked back at all of them for
/// each, these would take more than half an hour, and ctest ends a test after ten minutes.
TEST(SearchedOrder, OfManyMicroBatchesIsSqueezedInOnePass) {
    const int m = 400'000;
    const auto block = lay_block(2, {{4, 2, 4, 2}, 1, 1}, 1);
    ASSERT_TRUE(block);
    for (const int limit : {4, 5})
        for (const bool weights : {false, true}) {
            const OrderProblem problem{{2, 2, m}, unit_costs(), true, {limit}};
            const auto order = squeeze(problem, *block, limit, weights);
            for (const StepOrder& steps : order)
                EXPECT_EQ(steps.size(), std::size_t{m} * (weights ? 6 : 4));
        }
}

/// Of whole searches, at awkward costs too.
std::string searched_digest(const char* name, int ranks) {
    std::mt19937 random(static_cast<unsigned>(ranks));
    std::string all;
    for (const int m : {1, 2, 3, 8, 21, 64, 300}) {
        const PipelineShape shape{ranks, 2, m};
        for (const bool awkward : {false, true}) {
            GeneratorOptions options;
            options.costs = awkward ? random_costs(random, shape.stages()) : share_costs(2, 0.1);
            all += to_text(generate(name, shape, options));
        }
    }
    return sha256(all);
}

TEST(SearchedOrder, OfTheVFamilyIsTheRecordedOne) {
    std::map<std::string, std::string> golden = golden_digests();
    for (const char* name : {"zb-v", "v-half", "v-min", "1f1b-v"})
        for (const int ranks : {1, 2, 3, 4, 5, 8, 12}) {
            const std::string key = fmt::format("{}:{}", name, ranks);
            EXPECT_EQ(searched_digest(name, ranks), golden[key]) << key;
        }
}

}  // namespace
}  // namespace debubble

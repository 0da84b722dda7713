#include "sim/uneven/document_groups.h"

#include <algorithm>
#include <chrono>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/plan/packing.h"

/// The rules of Megatron-Core's schedulers, by its own examples and by properties.
namespace debubble::sim {
namespace {

using testing::ElementsAre;

std::vector<Document> documents_of(const std::vector<std::int64_t>& lengths) {
    std::vector<Document> documents;
    for (const std::int64_t length : lengths)
        documents.push_back({static_cast<int>(documents.size()), length});
    return documents;
}

std::vector<int> ids_of(const DocumentGroup& group) {
    std::vector<int> ids;
    for (const Document& document : group.documents) ids.push_back(document.id);
    return ids;
}

GroupRules rules_of(int ranks, std::int64_t capacity) {
    return {capacity, scenarios::context_group_sizes(ranks)};
}

std::vector<std::int64_t> drawn_lengths(int count, std::int64_t longest, unsigned seed) {
    std::mt19937 bits(seed);
    std::lognormal_distribution<double> length(5, 1.3);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < count; ++i)
        lengths.push_back(std::clamp<std::int64_t>(std::llround(length(bits)), 1, longest));
    return lengths;
}

/// get_valid_dynamic_context_parallel_group_sizes and its test in Megatron-LM's branch dev
/// (tests/unit_tests/test_sequence_packing.py).
TEST(DocumentGroups, HaveTheSizesOfPowersOfTwoThatDivideAllRanksAndOfAll) {
    EXPECT_THAT(scenarios::context_group_sizes(8), ElementsAre(1, 2, 4, 8));
    EXPECT_THAT(scenarios::context_group_sizes(6), ElementsAre(1, 2, 6));
    EXPECT_THAT(scenarios::context_group_sizes(14), ElementsAre(1, 2, 14));
    EXPECT_THAT(scenarios::context_group_sizes(1), ElementsAre(1));
}

TEST(DocumentGroups, AreTheSmallestThatHoldADocument) {
    const GroupRules rules = rules_of(8, 64);
    EXPECT_EQ(scenarios::ranks_needed(1, rules), 1);
    EXPECT_EQ(scenarios::ranks_needed(64, rules), 1);
    EXPECT_EQ(scenarios::ranks_needed(65, rules), 2);
    EXPECT_EQ(scenarios::ranks_needed(128, rules), 2);
    EXPECT_EQ(scenarios::ranks_needed(129, rules), 4);
    EXPECT_EQ(scenarios::ranks_needed(512, rules), 8);
    EXPECT_EQ(scenarios::ranks_needed(10, {64, {4, 8}}), 4);
}

/// The lengths, the capacity and the ranks of Megatron-Bridge's example
/// (examples/training_features/long_context/README.md); what it prints are the groups of the
/// scheduler before packing awareness. By the rules: 128 opens a group of two ranks with 8192 units
/// of work each, where 8601 are allowed. 96 needs two ranks and finds two free ones. 64 and 48
/// would make 80 and 72 tokens a rank there, and wait; 32 makes 64 and goes there; 24, 16 and 8
/// wait. 64 opens the second microbatch with one rank, whose 4096 units stay the most: 48 and 24
/// have no room in a group and get ranks of their own, 16 goes to the first group with room, that
/// of 48, and 8 to that of 24. One rank is empty, and the first of the smallest groups gets it.
TEST(DocumentGroups, OfBridgesExampleAreTheOnesThatTheRulesGive) {
    const std::vector<PackedMicroBatch> packed =
        schedule_dynamic_groups(documents_of({128, 96, 64, 48, 32, 24, 16, 8}), rules_of(4, 64));
    ASSERT_EQ(packed.size(), 2u);
    ASSERT_EQ(packed[0].size(), 2u);
    EXPECT_EQ(packed[0][0].ranks, 2);
    EXPECT_THAT(ids_of(packed[0][0]), ElementsAre(0));
    EXPECT_EQ(packed[0][1].ranks, 2);
    EXPECT_EQ(packed[0][1].first_rank, 2);
    EXPECT_THAT(ids_of(packed[0][1]), ElementsAre(1, 4));
    ASSERT_EQ(packed[1].size(), 3u);
    EXPECT_EQ(packed[1][0].ranks, 2);
    EXPECT_THAT(ids_of(packed[1][0]), ElementsAre(2));
    EXPECT_EQ(packed[1][1].first_rank, 2);
    EXPECT_THAT(ids_of(packed[1][1]), ElementsAre(3, 6));
    EXPECT_EQ(packed[1][2].first_rank, 3);
    EXPECT_THAT(ids_of(packed[1][2]), ElementsAre(5, 7));
}

/// test_next_hdp_group_packing_aware_can_expand_short_sequence_group of the same test.
TEST(DocumentGroups, TakeAShortDocumentIntoALongOnesRanks) {
    const std::vector<PackedMicroBatch> packed =
        schedule_dynamic_groups(documents_of({6144, 2048}), rules_of(2, 4096));
    ASSERT_EQ(packed.size(), 1u);
    ASSERT_EQ(packed[0].size(), 1u);
    EXPECT_EQ(packed[0][0].ranks, 2);
    EXPECT_THAT(ids_of(packed[0][0]), ElementsAre(0, 1));
}

/// test_next_hdp_group_packing_aware_fills_non_power_of_two_group: groups of 1 and 2 cannot grow
/// into 14.
TEST(DocumentGroups, AreOneOfAllRanksWhereSmallerOnesLeaveSomeEmpty) {
    const std::vector<PackedMicroBatch> packed =
        schedule_dynamic_groups(documents_of({50, 50}), rules_of(14, 100));
    ASSERT_EQ(packed.size(), 1u);
    ASSERT_EQ(packed[0].size(), 1u);
    EXPECT_EQ(packed[0][0].ranks, 14);
    EXPECT_THAT(ids_of(packed[0][0]), ElementsAre(0, 1));
}

TEST(DocumentGroups, GrowUntilNoRankIsEmpty) {
    const std::vector<PackedMicroBatch> packed =
        schedule_dynamic_groups(documents_of({64, 64, 64}), rules_of(8, 64));
    ASSERT_EQ(packed.size(), 1u);
    std::vector<int> ranks;
    for (const DocumentGroup& group : packed[0]) ranks.push_back(group.ranks);
    EXPECT_THAT(ranks, ElementsAre(4, 2, 2));
}

/// Every document is placed once, no rank holds more than its capacity, and the groups of a
/// microbatch are allowed ones that cover all ranks once, each large enough for its documents.
TEST(DocumentGroups, PlaceEveryDocumentOnceAndOverfillNoRank) {
    for (const int ranks : {1, 2, 4, 6, 8, 14, 32})
        for (const int least : {1, 2})
            for (const std::int64_t capacity : {64, 500})
                for (unsigned seed = 0; seed < 8; ++seed) {
                    GroupRules rules = rules_of(ranks, capacity);
                    std::erase_if(rules.sizes, [&](int size) { return size < least; });
                    if (rules.sizes.empty()) continue;
                    const auto documents = documents_of(drawn_lengths(200, ranks * capacity, seed));
                    std::vector<Document> placed;
                    for (const PackedMicroBatch& micro_batch :
                         schedule_dynamic_groups(documents, rules)) {
                        int rank = 0;
                        for (const DocumentGroup& group : micro_batch) {
                            EXPECT_EQ(group.first_rank, rank);
                            rank += group.ranks;
                            EXPECT_THAT(rules.sizes, testing::Contains(group.ranks));
                            EXPECT_FALSE(group.documents.empty());
                            EXPECT_LE(group.tokens_of_rank(), static_cast<double>(capacity));
                            for (const Document& document : group.documents) {
                                EXPECT_GE(group.ranks,
                                          scenarios::ranks_needed(document.length, rules));
                                placed.push_back(document);
                            }
                        }
                        EXPECT_EQ(rank, ranks);
                    }
                    std::ranges::sort(placed, {}, &Document::id);
                    EXPECT_EQ(placed, documents);
                }
}

/// Three documents on eight ranks make groups of 4, 2 and 2; the second microbatch of an even
/// number gets those of the second half, each with as many ranks again.
/// A pass over all that waits for each microbatch would take minutes.
TEST(DocumentGroups, AreFoundSoonForManyDocuments) {
    std::vector<Document> documents;
    for (int id = 0; id < 400'000; ++id) documents.push_back({id, 64 * (1 + id * 37L % 1021)});
    const GroupRules rules{8192, {1, 2, 4, 8}};
    const auto start = std::chrono::steady_clock::now();
    const std::vector<PackedMicroBatch> packed = schedule_dynamic_groups(documents, rules);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    std::size_t placed = 0;
    for (const PackedMicroBatch& micro_batch : packed)
        for (const DocumentGroup& group : micro_batch) placed += group.documents.size();
    EXPECT_EQ(placed, documents.size());
}

TEST(DocumentGroups, AreSplitUntilMicrobatchesAreAMultiple) {
    const GroupRules rules = rules_of(8, 64);
    std::vector<PackedMicroBatch> packed =
        schedule_dynamic_groups(documents_of({64, 64, 64}), rules);
    ASSERT_TRUE(align_micro_batches(packed, 2, rules));
    ASSERT_EQ(packed.size(), 2u);
    ASSERT_EQ(packed[0].size(), 1u);
    EXPECT_EQ(packed[0][0].ranks, 8);
    EXPECT_THAT(ids_of(packed[0][0]), ElementsAre(0));
    ASSERT_EQ(packed[1].size(), 2u);
    EXPECT_EQ(packed[1][0].ranks, 4);
    EXPECT_EQ(packed[1][1].first_rank, 4);
    EXPECT_THAT(ids_of(packed[1][1]), ElementsAre(2));
    ASSERT_TRUE(align_micro_batches(packed, 3, rules));
    EXPECT_EQ(packed.size(), 3u);
    EXPECT_FALSE(align_micro_batches(packed, 4, rules)) << "every microbatch is one group";
}

TEST(DocumentGroups, LoseNoDocumentWhereMicrobatchesAreSplit) {
    for (const int ranks : {4, 6, 8, 14})
        for (const int multiple : {2, 4, 8})
            for (unsigned seed = 0; seed < 8; ++seed) {
                const GroupRules rules = rules_of(ranks, 64);
                const auto documents = documents_of(drawn_lengths(150, 96, seed));
                auto packed = schedule_dynamic_groups(documents, rules);
                ASSERT_TRUE(align_micro_batches(packed, multiple, rules));
                EXPECT_EQ(packed.size() % static_cast<std::size_t>(multiple), 0u);
                std::vector<Document> placed;
                for (const PackedMicroBatch& micro_batch : packed) {
                    int rank = 0;
                    for (const DocumentGroup& group : micro_batch) {
                        EXPECT_EQ(group.first_rank, rank);
                        rank += group.ranks;
                        EXPECT_LE(group.tokens_of_rank(), 64);
                        placed.insert(placed.end(), group.documents.begin(), group.documents.end());
                    }
                    EXPECT_EQ(rank, ranks);
                }
                std::ranges::sort(placed, {}, &Document::id);
                EXPECT_EQ(placed, documents);
            }
}

TEST(DocumentGroups, OfOneSizeKeepTheOrderAndGiveEveryReplicaAsManyMicrobatches) {
    const std::vector<PackedMicroBatch> packed =
        schedule_equal_groups(documents_of({60, 60, 100, 20, 10, 5}), 64, 2, 2);
    // Bins of 128 tokens: 60 60 | 100 20 | 10 5, whose last document moves into a fourth.
    ASSERT_EQ(packed.size(), 2u);
    EXPECT_THAT(ids_of(packed[0][0]), ElementsAre(0, 1));
    EXPECT_THAT(ids_of(packed[0][1]), ElementsAre(2, 3));
    EXPECT_THAT(ids_of(packed[1][0]), ElementsAre(4));
    EXPECT_THAT(ids_of(packed[1][1]), ElementsAre(5));
    EXPECT_EQ(packed[1][1].first_rank, 2);
}

TEST(DocumentGroups, OfOneSizePlaceEveryDocumentOnceToo) {
    for (const int replicas : {1, 2, 5})
        for (unsigned seed = 0; seed < 8; ++seed) {
            const auto documents = documents_of(drawn_lengths(20 * replicas, 256, seed));
            std::vector<Document> placed;
            for (const PackedMicroBatch& micro_batch :
                 schedule_equal_groups(documents, 64, 4, replicas)) {
                EXPECT_EQ(micro_batch.size(), static_cast<std::size_t>(replicas));
                for (const DocumentGroup& group : micro_batch) {
                    EXPECT_LE(group.tokens(), 256);
                    placed.insert(placed.end(), group.documents.begin(), group.documents.end());
                }
            }
            std::ranges::sort(placed, {}, &Document::id);
            EXPECT_EQ(placed, documents);
        }
}

}  // namespace
}  // namespace debubble::sim

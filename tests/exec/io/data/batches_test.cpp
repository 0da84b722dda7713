#include <numeric>
#include <set>

#include <gmock/gmock.h>

#include "exec/io/data/batches.h"
#include "exec/io/data/data_set.h"
#include "tests/exec/support/data_files.h"

namespace debubble::exec {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;

std::vector<std::int32_t> numbers(std::int64_t count) {
    std::vector<std::int32_t> tokens(count);
    std::iota(tokens.begin(), tokens.end(), 0);
    return tokens;
}

std::vector<std::int32_t> values(const Tensor& tensor) {
    const auto view = tensor.as<std::int32_t>();
    return {view.begin(), view.end()};
}

std::shared_ptr<const DataSet> packed(const Folder& folder, std::int64_t tokens,
                                      std::int64_t seq_length) {
    return packed_tokens(
        std::make_shared<const TokenFile>(write_tokens(folder, "a.bin", numbers(tokens))),
        {.seq_length = seq_length, .vocab = 65536});
}

/// The first token of every row of a step, over data ranks, then microbatches, then rows.
std::vector<std::int32_t> shown(const Batches& batches, std::int64_t step) {
    std::vector<std::int32_t> first;
    Batch batch = batches.micro_batch();
    for (std::int64_t rank = 0; rank < batches.deal().data_ranks; ++rank) {
        for (std::int64_t i = 0; i < batches.deal().micro_batches(); ++i) {
            batches.fill({step, rank, i}, batch);
            const auto inputs = batch.inputs.as<std::int32_t>();
            for (std::int64_t row = 0; row < inputs.rows(); ++row)
                first.push_back(*inputs.row(row));
        }
    }
    return first;
}

TEST(Shuffle, IsAPermutationForEveryCount) {
    for (const std::int64_t count : {1, 2, 3, 4, 5, 16, 17, 64, 65, 1000}) {
        std::set<std::int64_t> seen;
        for (std::int64_t i = 0; i < count; ++i) seen.insert(shuffled(i, count, 7, 3));
        EXPECT_EQ(std::ssize(seen), count);
        EXPECT_EQ(*seen.begin(), 0);
        EXPECT_EQ(*seen.rbegin(), count - 1);
    }
    const std::int64_t huge = std::int64_t{1} << 62;
    EXPECT_LT(shuffled(huge - 1, huge, 7, 3), huge);
}

TEST(Shuffle, DiffersBySeedAndByEpoch) {
    const auto order = [](std::uint64_t seed, std::int64_t epoch) {
        std::vector<std::int64_t> places;
        for (int i = 0; i < 100; ++i) places.push_back(shuffled(i, 100, seed, epoch));
        return places;
    };
    EXPECT_EQ(order(1, 0), order(1, 0));
    EXPECT_NE(order(1, 0), order(2, 0));
    EXPECT_NE(order(1, 0), order(1, 1));
}

/// Over many seeds every sample must come first equally often: chi-squared of nine degrees
/// of freedom is below 27.9 in 999 of 1000 cases, and the seeds are fixed.
TEST(Shuffle, PrefersNoSample) {
    for (const std::int64_t index : {0, 5, 9}) {
        std::array<double, 10> times{};
        for (std::uint64_t seed = 0; seed < 10'000; ++seed) ++times[shuffled(index, 10, seed, 0)];
        double chi_squared = 0;
        for (const double count : times) chi_squared += (count - 1000) * (count - 1000) / 1000;
        EXPECT_LT(chi_squared, 27.9);
    }
}

TEST(PackedTokens, AreCutEveryTWithTargetsShiftedByOne) {
    const Folder folder;
    const auto data = packed(folder, 12, 4);
    EXPECT_EQ(data->samples(), 2);  // token 11 would lack targets
    Batch batch = data->batch_of(2);
    EXPECT_EQ(data->read(0, 0, batch), 4);
    EXPECT_EQ(data->read(1, 1, batch), 4);
    EXPECT_THAT(values(batch.inputs), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_THAT(values(batch.targets), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
    EXPECT_EQ(packed(folder, 13, 4)->samples(), 3);
}

TEST(PackedTokens, ATargetThatIsTheIgnoreIndexDoesNotCount) {
    const Folder folder;
    const auto data = packed_tokens(
        std::make_shared<const TokenFile>(write_tokens(folder, "a.bin", {9, 1, 9, 9, 2})),
        {.seq_length = 4, .vocab = 10, .ignore_index = 9});
    Batch batch = data->batch_of(1);
    EXPECT_EQ(data->read(0, 0, batch), 2);
    EXPECT_EQ(data->counted(0), 2);
}

TEST(PackedTokens, RefuseWhatTheModelCannotUse) {
    const Folder folder;
    const auto refusal = [&](const std::vector<std::int32_t>& tokens) {
        const auto path = write_tokens(folder, "a.bin", tokens);
        return sentence_of<InputError>([&] {
            packed_tokens(std::make_shared<const TokenFile>(path), {.seq_length = 4, .vocab = 10});
        });
    };
    EXPECT_EQ(refusal({1, 2, 3, 4, 9}), "");
    EXPECT_THAT(refusal({1, 2, 3, 4}), EndsWith("a.bin: error: 4 tokens are too few for one "
                                                "sequence of 4 and its last target\n"));
    EXPECT_THAT(refusal({1, 2, 10, 4, 5}), EndsWith("a.bin: error: token 2 of 5 is 10, but the "
                                                    "model's vocabulary ends at 9\n"));
}

TEST(PaddedDocuments, HaveARowEach) {
    const Folder folder;
    constexpr int kEnd = 9;
    const auto path =
        write_tokens(folder, "a.bin", {kEnd, 1, 2, kEnd, kEnd, 3, 4, 5, 6, 7, kEnd, 8, 1});
    const auto data =
        padded_documents(std::make_shared<const TokenFile>(path), kEnd,
                         {.seq_length = 4, .vocab = 10, .ignore_index = -1, .pad_token = 0});
    ASSERT_EQ(data->samples(), 3);
    Batch batch = data->batch_of(3);
    EXPECT_EQ(data->read(0, 0, batch), 2);
    EXPECT_EQ(data->read(1, 1, batch), 4);
    EXPECT_EQ(data->read(2, 2, batch), 1);
    EXPECT_THAT(values(batch.inputs), ElementsAre(1, 2, 0, 0, 3, 4, 5, 6, 8, 0, 0, 0));
    EXPECT_THAT(values(batch.targets), ElementsAre(2, kEnd, -1, -1, 4, 5, 6, 7, 1, -1, -1, -1));
    EXPECT_EQ(data->counted(1), 4);
}

TEST(PaddedDocuments, RefuseAFileWithNothingToPredict) {
    const Folder folder;
    const auto path = write_tokens(folder, "a.bin", {9, 9, 1});
    EXPECT_THAT(sentence_of<InputError>([&] {
                    padded_documents(std::make_shared<const TokenFile>(path), 9,
                                     {.seq_length = 4, .vocab = 10});
                }),
                EndsWith("none of its 3 tokens has another after it in its document, so there is "
                         "nothing to predict\n"));
}

TEST(Batches, InOrderAStepTakesTheNextSamplesRankAfterRank) {
    const Folder folder;
    const Batches batches(packed(folder, 25, 2), {8, 2, 2}, {});  // 12 samples
    EXPECT_THAT(shown(batches, 0), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
    EXPECT_THAT(shown(batches, 1), ElementsAre(16, 18, 20, 22, 0, 2, 4, 6));  // a new epoch
    EXPECT_EQ(batches.counted(1), 16);
    EXPECT_EQ(batches.steps(1), 2);
    EXPECT_EQ(batches.steps(2), 3);
    EXPECT_EQ(batches.steps(1'000'000'000'000'000'000), std::numeric_limits<std::int64_t>::max());
}

TEST(Batches, HoweverDealtAStepHoldsTheSame) {
    const Folder folder;
    const auto data = packed(folder, 1001, 2);
    const Order order{.shuffled = true, .seed = 5};
    const Batches whole(data, {24, 1, 24}, order);
    for (const Deal& deal : {Deal{24, 2, 3}, Deal{24, 4, 1}, Deal{24, 1, 8}, Deal{24, 24, 1}})
        for (const std::int64_t step : {0, 3, 20, 1'000'000})  // 500 samples: epochs end inside
            EXPECT_EQ(shown(Batches(data, deal, order), step), shown(whole, step));
}

TEST(Batches, AnEpochShowsEverySampleOnce) {
    const Folder folder;
    const auto data = packed(folder, 97, 2);  // 48 samples
    const Batches batches(data, {8, 2, 2}, {.shuffled = true, .seed = 1});
    std::vector<std::int32_t> first;
    for (int step = 0; step < 6; ++step)
        for (const std::int32_t token : shown(batches, step)) first.push_back(token);
    EXPECT_FALSE(std::ranges::is_sorted(first));
    EXPECT_NE(shown(batches, 0), shown(batches, 6)) << "the next epoch has another order";
    std::ranges::sort(first);
    for (int i = 0; i < 48; ++i) EXPECT_EQ(first[i], 2 * i);
}

TEST(Batches, OncePadsTheLastStepWithWhatDoesNotCount) {
    const Folder folder;
    const Batches batches(packed(folder, 11, 2), {4, 2, 2}, {.once = true});  // 5 samples
    EXPECT_EQ(batches.steps(1), 2);
    EXPECT_EQ(batches.counted(0), 8);
    EXPECT_EQ(batches.counted(1), 2);
    Batch batch = batches.micro_batch();
    batches.fill({1, 0, 0}, batch);
    EXPECT_EQ(batch.counted, 2);
    EXPECT_THAT(values(batch.targets), ElementsAre(9, 10, -100, -100));
    batches.fill({1, 1, 0}, batch);
    EXPECT_EQ(batch.counted, 0);
    EXPECT_THAT(values(batch.targets), Each(-100));
}

}  // namespace
}  // namespace debubble::exec

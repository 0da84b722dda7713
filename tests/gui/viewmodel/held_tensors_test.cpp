#include "gui/viewmodel/what_if/held_tensors.h"

#include <functional>

#include <gmock/gmock.h>

#include "tests/gui/viewmodel/shipped.h"

namespace debubble::gui {
namespace {

using testing::HasSubstr;

const HeldRow& row_named(const std::vector<HeldRow>& rows, const std::string& name) {
    const auto at = std::ranges::find(rows, name, &HeldRow::name);
    EXPECT_NE(at, rows.end()) << name;
    return *at;
}

/// Checks that parts sum to their row, and that no row is smaller than the next one.
void expect_sums(const std::vector<HeldRow>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0) {
            EXPECT_GE(rows[i - 1].bytes, rows[i].bytes);
        }
        Bytes sum;
        for (const HeldRow& part : rows[i].parts) sum += part.bytes;
        if (!rows[i].parts.empty() && rows[i].parts.front().bytes != rows[i].bytes) {
            EXPECT_LE(sum, rows[i].bytes) << rows[i].name;
        }
        expect_sums(rows[i].parts);
    }
}

TEST(HeldTensors, at_a_peak_sum_to_what_the_rank_holds_there) {
    const Answer now = answer(shipped("gpt2-xl-1f1b"));
    for (const int rank : {0, 3}) {
        const auto held = held_at_peak(*now.plan, Rank{rank});
        ASSERT_TRUE(held);
        const double predicted =
            double(now.plan->prediction.ranks[std::size_t(rank)].peak_memory.count);
        EXPECT_NEAR(double(held->bytes.count) / predicted, 1, 0.01) << held->when;
        Bytes sum;
        for (const HeldRow& row : held->rows) sum += row.bytes;
        EXPECT_EQ(sum, held->bytes);
        expect_sums(held->rows);
    }
}

TEST(HeldTensors, say_which_microbatch_they_are_of_and_what_frees_them) {
    const Answer now = answer(shipped("gpt2-xl-1f1b"));
    const auto held = held_at_peak(*now.plan, Rank{0});
    ASSERT_TRUE(held);
    const HeldRow& activations = row_named(held->rows, "activations");
    // 1F1B: rank 0 of four keeps four microbatches until their backward.
    std::size_t forwards = 0;
    for (const HeldRow& row : activations.parts) {
        if (row.name.substr(0, 2) != "0F") continue;
        ++forwards;
        EXPECT_EQ(row.stage, "0");
        EXPECT_EQ("0F" + row.micro_batch, row.name);
        EXPECT_EQ(row.born, row.name);
        ASSERT_FALSE(row.parts.empty());
        bool by_backward = false;
        for (const HeldRow& tensor : row.parts)
            by_backward = by_backward || tensor.dies == "0B" + row.micro_batch;
        EXPECT_TRUE(by_backward) << row.name;
    }
    EXPECT_EQ(forwards, 4U);
    EXPECT_TRUE(row_named(held->rows, "optimizer").parts.empty()) << "is held throughout";
    EXPECT_FALSE(held_at_peak(*now.plan, Rank{4}));
}

TEST(HeldTensors, alike_ones_of_several_layers_are_a_row) {
    const Answer now = answer(shipped("gpt2-xl-1f1b"));
    const auto held = held_at_peak(*now.plan, Rank{0});
    const HeldRow& action = row_named(held->rows, "activations").parts.front();
    bool joined = false;
    for (const HeldRow& tensor : action.parts)
        joined = joined || tensor.name.find(" of them") != std::string::npos;
    EXPECT_TRUE(joined);
}

}  // namespace
}  // namespace debubble::gui

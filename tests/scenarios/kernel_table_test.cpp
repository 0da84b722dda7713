#include "scenarios/cluster/kernel_table.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/software/reader.h"

namespace debubble::scenarios {
namespace {

using testing::HasSubstr;

KernelTable table_of(const std::string& text) {
    text::Mistakes mistakes;
    KernelTable table = read_kernel_table(text, "mine.jsonl", mistakes);
    mistakes.throw_if_any();
    return table;
}

std::string mistakes_of(const std::string& text) {
    try {
        table_of(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(KernelTable, HasTheTimesThatSharesOfAPeakSay) {
    const KernelTable table = table_of(
        R"({"gpu": "X", "kernel": "gemm", "shape": {"b": 1, "m": 4096, "k": 5120, "n": 1536, "layout": "TN", "accumulate": "False", "out_dtype": "bf16"}, "of_peak": 0.5, "peak_tflops": 312, "source": "a table"}
{"kernel": "grouped_gemm", "shape": {"ng": 40, "M": 616, "N": 3072, "K": 5120, "stage": "bwd_grad_w", "accumulate": "True", "out_dtype": "fp32"}, "of_peak": 0.25, "peak_tflops": 312}

{"kernel": "attention_forward", "shape": {"batch": 2, "seq_len": 4096, "head_num": 32, "kv_head_num": 8, "qk_head_dim": 128, "v_head_dim": 128}, "of_peak": 0.8, "peak_tflops": 312}
{"kernel": "memory", "shape": {"read": 1, "written": 2, "launches": 1}, "seconds": 1e-5}
)");
    ASSERT_EQ(table.products.size(), 2);
    EXPECT_NEAR(table.products[0].seconds, 2.0 * 4096 * 5120 * 1536 / (0.5 * 312e12), 1e-12);
    const models::Gemm& grouped = table.products[1].work;
    EXPECT_EQ(grouped.batch, 40);
    EXPECT_EQ(grouped.k, 616) << "a weight's gradient sums over the rows";
    EXPECT_EQ(grouped.group_rows, 616);
    EXPECT_GT(grouped.accumulated, Bytes{});
    ASSERT_EQ(table.attentions.size(), 1);
    EXPECT_TRUE(table.attentions[0].work.causal);
    // All pairs count where the table does not say that half of them do not.
    EXPECT_NEAR(table.attentions[0].seconds, 2.0 * 2 * 32 * 4096 * 4096 * 256 / (0.8 * 312e12),
                1e-12);
    EXPECT_FALSE(table.burst);
}

TEST(KernelTable, TakesTheKindOfWhichItHasMore) {
    const std::string burst =
        R"({"kernel": "gemm", "shape": {"m": 8, "k": 8, "n": 8}, "dtype": "fp8", "seconds": 1e-5, "measures": "burst"})";
    const std::string sustained =
        R"({"kernel": "gemm", "shape": {"m": 8, "k": 8, "n": 8}, "seconds": 2e-5, "measures": "sustained"})";
    const KernelTable table = table_of(burst + "\n" + burst + "\n" + sustained);
    EXPECT_TRUE(table.burst);
    ASSERT_EQ(table.products.size(), 2);
    EXPECT_EQ(table.products[0].work.operands, models::Narrow::Fp8);
    EXPECT_FALSE(table_of(sustained).burst);
}

TEST(KernelTable, OfABadFileAreLocatedMistakes) {
    EXPECT_THAT(mistakes_of(""), HasSubstr("no GEMM and no attention"));
    EXPECT_THAT(mistakes_of("\n{"), HasSubstr("mine.jsonl:2:"));
    EXPECT_THAT(mistakes_of(R"({"kernel": "gemm", "shape": {"m": 8, "k": 8}, "seconds": 1})"),
                HasSubstr("'n'"));
    EXPECT_THAT(
        mistakes_of(R"({"kernel": "gemm", "shape": {"m": 8, "k": 0, "n": 8}, "seconds": 1})"),
        HasSubstr("mine.jsonl:1:"));
    EXPECT_THAT(mistakes_of(R"({"kernel": "gemm", "shape": {"m": 8, "k": 8, "n": 8}})"),
                HasSubstr("of_peak"));
    EXPECT_THAT(
        mistakes_of(
            R"({"kernel": "gemm", "dtype": "fp7", "shape": {"m": 8, "k": 8, "n": 8}, "seconds": 1})"),
        HasSubstr("fp7"));
}

TEST(KernelTable, HasProductsOfFp32ApartFromThoseOf16Bits) {
    const KernelTable table = table_of(
        R"({"kernel": "gemm", "dtype": "fp32", "shape": {"m": 8, "k": 8, "n": 8}, "seconds": 1e-5}
{"kernel": "attention_forward", "dtype": "fp32", "shape": {"batch": 2, "seq_len": 64, "head_num": 2, "qk_head_dim": 8}, "seconds": 1e-5})");
    EXPECT_EQ(table.products[0].work.element_bytes, 4);
    EXPECT_EQ(table.attentions[0].work.element_bytes, 4);
    EXPECT_EQ(table.products[0].work.operands, models::Narrow::None);
    EXPECT_FALSE(table.attentions[0].work.narrow);
}

TEST(KernelTable, HasNoKernelsOfMoreElementsThanCanBeCounted) {
    constexpr const char* kLarge = "exceeds 1e17";
    EXPECT_THAT(
        mistakes_of(
            R"({"kernel": "gemm", "shape": {"m": 1000000000000, "k": 8, "n": 1000000000000, "accumulate": true}, "seconds": 1})"),
        HasSubstr(kLarge));
    EXPECT_THAT(
        mistakes_of(
            R"({"kernel": "grouped_gemm", "shape": {"ng": 1000000000000, "M": 1000000000000, "N": 8, "K": 8}, "seconds": 1})"),
        HasSubstr(kLarge));
    EXPECT_THAT(
        mistakes_of(
            R"({"kernel": "attention_forward", "shape": {"batch": 2, "seq_len": 1000000000000, "head_num": 2, "qk_head_dim": 8}, "seconds": 1})"),
        HasSubstr(kLarge));
}

TEST(Releases, AreTheYearAndTheMonthInAName) {
    EXPECT_EQ(release_of("nemo 26.06.01"), (Release{26, 6}));
    EXPECT_EQ(release_of("24.09"), (Release{24, 9}));
    EXPECT_EQ(release_of("megatron-core dev bbc762d5"), std::nullopt);
    EXPECT_EQ(release_of("torch 2.10.1"), std::nullopt);
    EXPECT_EQ(release_of("25.13"), std::nullopt);
    EXPECT_EQ(release_of(""), std::nullopt);
    EXPECT_LT((Release{24, 12}), (Release{25, 1}));
}

}  // namespace
}  // namespace debubble::scenarios

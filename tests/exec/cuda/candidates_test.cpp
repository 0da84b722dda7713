#include "exec/cuda/products/candidates.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/cuda/products/product_choices.h"

namespace debubble::exec::cuda {
namespace {

TEST(ProductCandidates, TheFirstThatIsNotRefusedStays) {
    Candidates candidates(std::vector{1, 2, 3, 4});
    std::vector<int> asked;
    const auto from_three = [&](int algorithm) {
        asked.push_back(algorithm);
        return algorithm >= 3;
    };
    EXPECT_TRUE(candidates.run(from_three));
    EXPECT_TRUE(candidates.run(from_three));
    EXPECT_EQ(asked, (std::vector{1, 2, 3, 3}));
    EXPECT_EQ(candidates.best(), 3);
}

TEST(ProductCandidates, WhereAllAreRefusedNothingIsLeftToAskFor) {
    Candidates candidates(std::vector{1, 2});
    int asked = 0;
    const auto refuse = [&](int) {
        ++asked;
        return false;
    };
    EXPECT_FALSE(candidates.run(refuse));
    EXPECT_FALSE(candidates.run(refuse));
    EXPECT_EQ(asked, 2);
    EXPECT_TRUE(candidates.empty());
    EXPECT_TRUE(Candidates<int>().empty());
}

TEST(ProductCandidates, AreTakenByTheirTimeWithoutThoseThatAreRefused) {
    Candidates candidates(std::vector{1, 2, 3, 4, 5});
    candidates.order_by([](int algorithm) -> std::optional<double> {
        if (algorithm == 2) return std::nullopt;
        return algorithm == 4 ? 1e-6 : 2e-6;
    });
    std::vector<int> order;
    candidates.run([&](int algorithm) {
        order.push_back(algorithm);
        return false;
    });
    EXPECT_EQ(order, (std::vector{4, 1, 3, 5})) << "the library's order where times are equal";
    Candidates none(std::vector{1, 2});
    none.order_by([](int) { return std::optional<double>(); });
    EXPECT_TRUE(none.empty());
}

TEST(ProductCandidates, AChosenOneGoesBeforeThoseThatTheLibraryProposes) {
    Candidates candidates(std::vector{1, 2});
    candidates.put_first(7);
    EXPECT_EQ(candidates.best(), 7);
    EXPECT_TRUE(candidates.run([](int algorithm) { return algorithm != 7; }));
    EXPECT_EQ(candidates.best(), 1) << "and before them only while it is not refused";
}

/// Two products that differ in anything are different words: else one would take the other's
/// algorithm.
TEST(ProductWords, DifferWhereverTheKindDoes) {
    ProductKind kind;
    kind.m = 16384, kind.n = 768, kind.k = 3072;
    kind.a = {Type::Bf16, false, 3072, 256};
    kind.b = {Type::Bf16, true, 3072, 256};
    kind.c = {Type::Bf16, false, 0, 256};
    EXPECT_EQ(words_of(kind),
              "16384x768x3072, a bf16 in rows of 3072 by 256, b bf16 transposed in "
              "rows of 3072 by 256, c bf16 by 256");
    std::vector<ProductKind> others(17, kind);
    others[1].m = 1, others[2].n = 1, others[3].k = 1, others[4].adds = true;
    others[5].a.type = Type::Fp16, others[6].b.transposed = false, others[7].a.row_stride = 1;
    others[8].c.alignment = 16, others[9].has_bias = true, others[10].epilogue = Epilogue::Gelu;
    others[11].epilogue = Epilogue::GeluGradient, others[12].makes_sums = true;
    others[13].makes_sums = others[13].sums_of_b = true, others[14].c.type = Type::Fp32;
    others[15].has_bias = true, others[15].bias.alignment = 16;
    others[16].epilogue = Epilogue::Gelu, others[16].wide.alignment = 16;
    std::set<std::string> words;
    for (const ProductKind& other : others) words.insert(words_of(other));
    EXPECT_EQ(words.size(), others.size());
}

}  // namespace
}  // namespace debubble::exec::cuda

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/execution/low_precision.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"

/// The sizes of products that the kernels of each recipe take.
namespace debubble::models {
namespace {

struct Sized {
    std::int64_t tokens = 128, hidden = 256, ffn = 1024;
};

StageGraph sized_layer(Recipe recipe, const Sized& sizes, bool keeps_casts = true, int tensor = 1) {
    Execution how;
    how.seq_length = sizes.tokens;
    how.tensor = tensor;
    how.low_precision.recipe = recipe;
    how.low_precision.keeps_casts = keeps_casts;
    const Architecture model = llama(2, sizes.hidden, 8, 4, sizes.ffn, 32000);
    return build_stage(model, how, {0, 1, false, false});
}

std::string refusal(Recipe recipe, const Sized& sizes, bool keeps_casts = true, int tensor = 1) {
    try {
        sized_layer(recipe, sizes, keeps_casts, tensor);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

constexpr Recipe kAllRecipes[] = {Recipe::Fp8Delayed, Recipe::Fp8Current, Recipe::Fp8Blockwise,
                                  Recipe::Fp8Rowwise, Recipe::MxFp8,      Recipe::NvFp4};

TEST(NarrowWidths, AreMultiplesOfWhatTheRecipesKernelsTake) {
    for (const Recipe recipe : kAllRecipes) {
        const std::int64_t multiple = width_multiple(recipe);
        EXPECT_EQ(multiple, recipe == Recipe::MxFp8 ? 32 : 16) << name_of(recipe);
        for (std::int64_t more = 8; more <= 64; more += 8) {
            const bool fits = more % multiple == 0;
            EXPECT_EQ(refusal(recipe, {128 + more, 256, 1024}).empty(), fits) << name_of(recipe);
            EXPECT_EQ(refusal(recipe, {128, 256, 1024 + more}).empty(), fits) << name_of(recipe);
        }
    }
    EXPECT_EQ(width_multiple(Recipe::None), 1);
    EXPECT_EQ(refusal(Recipe::None, {129, 256, 1023}), "");
}

TEST(NarrowWidths, AreRefusedByTheNameOfTheProduct) {
    EXPECT_THAT(refusal(Recipe::MxFp8, {128, 256, 1040}),
                testing::HasSubstr("the GEMM mlp.fc2 of layer 0 has 1040 inputs on each rank, and "
                                   "mxfp8 needs multiples of 32"));
    EXPECT_THAT(refusal(Recipe::Fp8Current, {100, 256, 1024}),
                testing::HasSubstr("has 100 rows on each rank, and fp8-current needs multiples of "
                                   "16"));
}

/// The columns that a rank has are those that count, not those of the whole product.
TEST(NarrowWidths, AreThoseOfTheRank) {
    EXPECT_EQ(refusal(Recipe::MxFp8, {128, 256, 1056}), "");
    EXPECT_THAT(refusal(Recipe::MxFp8, {128, 256, 1056}, true, 2),
                testing::HasSubstr("has 528 inputs on each rank"));
}

/// torchao converts no module whose weight has other sizes: its products stay in the compute type.
TEST(NarrowWidths, OfTorchaoLeaveOtherProductsInTheComputeType) {
    int narrow = 0, wide = 0;
    for (const Kernel& kernel :
         forward_steps(sized_layer(Recipe::Fp8Rowwise, {128, 256, 1000}, false)).kernels)
        if (const auto* product = std::get_if<Gemm>(&kernel.work))
            ++(product->operands == Narrow::None ? wide : narrow);
    EXPECT_EQ(narrow, 2);  // attention's
    EXPECT_EQ(wide, 2);    // the MLP's
}

/// Rows of an expert are padded, and with them the memory at the experts.
TEST(NarrowWidths, OfExpertsRowsArePadded) {
    const auto rows_of = [](Recipe recipe) {
        Architecture model = llama(2, 256, 8, 4, 1024, 32000);
        change_layers(model, [](LayerKeys& keys) {
            keys.experts = 8;
            keys.experts_per_token = 2;
        });
        Execution how;
        how.seq_length = 160;  // 40 rows for each of 8 experts
        how.low_precision.recipe = recipe;
        const StageGraph graph = build_stage(model, how, {0, 1, false, false});
        for (const Kernel& kernel : forward_steps(graph).kernels)
            if (const auto* product = std::get_if<Gemm>(&kernel.work);
                product != nullptr && kernel.name == "experts.fc1")
                return product->m;
        return std::int64_t{0};
    };
    EXPECT_EQ(rows_of(Recipe::None), 40);
    EXPECT_EQ(rows_of(Recipe::Fp8Current), 48);
    EXPECT_EQ(rows_of(Recipe::Fp8Blockwise), 48);
    EXPECT_EQ(rows_of(Recipe::MxFp8), 64);
    EXPECT_EQ(rows_of(Recipe::NvFp4), 64);
}

}  // namespace
}  // namespace debubble::models

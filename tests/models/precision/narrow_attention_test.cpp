#include <algorithm>

#include <gtest/gtest.h>

#include "models/execution/low_precision.h"
#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"
#include "tests/models/architectures.h"
#include "tests/models/held_bytes.h"

/// Fused attention in 8 bits keeps its operands in 8 bits.
namespace debubble::models {
namespace {

constexpr std::int64_t kRows = 128, kQueryColumns = 256, kKeyColumns = 128, kLayersHere = 2;
constexpr std::int64_t kHeadColumns = kQueryColumns + 2 * kKeyColumns;

Execution with_attention(Recipe recipe, bool in_8_bits = true) {
    Execution how;
    how.seq_length = kRows;
    how.low_precision.recipe = recipe;
    how.low_precision.attention = in_8_bits;
    return how;
}
StageGraph two_narrow_layers(const Execution& how) {
    return build_stage(llama(2, 256, 8, 4, 1024, 32000), how, {0, kLayersHere, false, false});
}
const Operator& first_attention(const StageGraph& graph) {
    return *std::ranges::find_if(graph.operators,
                                 [](const Operator& op) { return op.as<op::Attention>(); });
}
/// Bytes by which attention in 8 bits keeps less than attention in the compute type.
std::int64_t saved_by_casts(Recipe recipe) {
    return held_after_forward(two_narrow_layers(with_attention(recipe, false))) -
           held_after_forward(two_narrow_layers(with_attention(recipe)));
}
Traffic moved_by(const std::vector<Kernel>& kernels, const char* name) {
    for (const Kernel& kernel : kernels)
        if (kernel.name == name) return std::get<Traffic>(kernel.work);
    ADD_FAILURE() << "no kernel " << name;
    return {};
}

/// With a scale per tensor they have half of the bytes, and so has the result with delayed scales,
/// of which the projection keeps a copy of its own in any case.
TEST(NarrowAttention, KeepsOperandsInOneByte) {
    const std::int64_t operands = kLayersHere * kRows * kHeadColumns;
    for (const Recipe recipe : {Recipe::Fp8Current, Recipe::Fp8Blockwise, Recipe::NvFp4})
        EXPECT_EQ(saved_by_casts(recipe), operands) << name_of(recipe);
    EXPECT_EQ(saved_by_casts(Recipe::Fp8Delayed), operands + kLayersHere * kRows * kQueryColumns);
    EXPECT_EQ(saved_by_casts(Recipe::None), 0);
}

/// Queries and keys are kept both ways, values along their heads alone.
TEST(NarrowAttention, KeepsOperandsOfBlocksBothWays) {
    const auto blocks = [](std::int64_t elements) { return elements + elements / 32; };
    EXPECT_EQ(saved_by_casts(Recipe::MxFp8),
              kLayersHere * (2 * kRows * kHeadColumns - blocks(kRows * kHeadColumns) -
                             blocks(kRows * (kQueryColumns + kKeyColumns))));
}

TEST(NarrowAttention, CastsWhatItReads) {
    const std::int64_t heads = kRows * kHeadColumns, context = kRows * kQueryColumns;
    const StageGraph graph = two_narrow_layers(with_attention(Recipe::Fp8Current));
    const Operator& op = first_attention(graph);
    const Traffic largest = moved_by(op.forward, "attn.core.cast.amax");
    EXPECT_EQ(largest.read.count, 2 * heads);
    EXPECT_EQ(largest.written.count, 0);
    const Traffic cast = moved_by(op.forward, "attn.core.cast");
    EXPECT_EQ(cast.read.count, 2 * heads);
    EXPECT_EQ(cast.written.count, heads);
    EXPECT_EQ(moved_by(op.backward_input, "attn.core.dy.cast").written.count, context);
    const StageGraph delayed = two_narrow_layers(with_attention(Recipe::Fp8Delayed));
    const Operator& later = first_attention(delayed);
    EXPECT_EQ(moved_by(later.forward, "attn.core.uncast").written.count, 2 * context);
    EXPECT_EQ(moved_by(later.backward_input, "attn.core.dx.uncast").read.count, heads);
}

/// The ring hides beside the attention, not beside the casts before it, and passes casts on.
TEST(NarrowAttention, SendsCastKeysAroundTheRing) {
    for (const Recipe recipe : {Recipe::None, Recipe::Fp8Current, Recipe::MxFp8}) {
        Execution how = with_attention(recipe);
        how.context = 4;
        how.seq_length = 4 * kRows;
        const StageGraph graph = two_narrow_layers(how);
        const Operator& op = first_attention(graph);
        const auto ring = std::ranges::find_if(op.forward, [](const Kernel& kernel) {
            return std::holds_alternative<Collective>(kernel.work);
        });
        ASSERT_NE(ring, op.forward.end());
        const auto& work = std::get<Collective>(ring->work);
        EXPECT_EQ(work.pieces, Collective::Pieces::OfNext);
        EXPECT_EQ(work.bytes.count,
                  (recipe == Recipe::Fp8Current ? 1 : 2) * 4 * kRows * 2 * kKeyColumns);
        EXPECT_TRUE(std::holds_alternative<FlashAttention>(std::next(ring)->work));
    }
}

TEST(NarrowAttention, FreesWhatItAllocates) {
    for (const Recipe recipe : {Recipe::Fp8Delayed, Recipe::Fp8Current, Recipe::MxFp8})
        for (const int context : {1, 2})
            for (const auto way : {ContextCommunication::P2p, ContextCommunication::AllGather,
                                   ContextCommunication::AllToAll})
                for (const bool split : {false, true}) {
                    Execution how = with_attention(recipe);
                    how.context = context;
                    how.kernels.context_communication = way;
                    how.split_backward = split;
                    expect_to_free_what_it_allocates(two_narrow_layers(how), split);
                }
}

}  // namespace
}  // namespace debubble::models

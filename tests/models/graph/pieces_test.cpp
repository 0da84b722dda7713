#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/operator_runs.h"
#include "tests/models/architectures.h"

/// The tensors that PyTorch's tensor parallelism holds beside those of its products: the pieces of
/// what is gathered or reduced along the sequence, and gradients of an input that has several
/// products.
namespace debubble::models {
namespace {

using testing::Contains;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t kRowsOfRank = 2 * 64;
constexpr std::int64_t kColumnsOfStream = 256;

Execution of_pytorch() {
    Execution how;
    how.micro_batch = 2;
    how.seq_length = 64;
    how.tensor = 2;
    how.sequence_parallel = how.kernels.keeps_gathered = true;
    how.kernels.vocabulary_multiple = 1;
    how.copies_along_sequence = true;
    return how;
}

StageGraph tensor_parallel(const Execution& how) {
    return build_stage(llama(1, kColumnsOfStream, 4, 2, 512, 1024), how, {0, 1, true, true});
}

/// Names of the tensors that end so.
std::vector<std::string> names_ending(const StageGraph& graph, const std::string& end) {
    std::vector<std::string> names;
    for (const Tensor& tensor : graph.tensors)
        if (tensor.name.ends_with(end)) names.push_back(tensor.name);
    return names;
}

TEST(Pieces, OfEveryGatherAndReductionAreHeldOnce) {
    const StageGraph graph = tensor_parallel(of_pytorch());
    // Forward and backward of: the embedding, q k v, the projection, gate and up, down, the head.
    EXPECT_THAT(names_ending(graph, ".pieces"), SizeIs(2 * 6));
    for (const Tensor& tensor : graph.tensors) {
        if (!tensor.name.ends_with(".pieces")) continue;
        EXPECT_EQ(tensor.bytes, Bytes{2 * kRowsOfRank * kColumnsOfStream}) << tensor.name;
        EXPECT_EQ(tensor.held_as, MemoryClass::Workspace) << tensor.name;
    }
    EXPECT_EQ(operator_runs(graph, false).size(),
              operator_runs(tensor_parallel(Execution{}), false).size());
}

TEST(Pieces, ArePlacedByAnOverlapExceptTheHeadsAndTheEmbeddings) {
    Execution how = of_pytorch();
    how.places_pieces = true;
    EXPECT_THAT(
        names_ending(tensor_parallel(how), ".pieces"),
        testing::UnorderedElementsAre("embedding.partial.pieces", "d.embedding.gathered.pieces",
                                      "head.gathered.pieces", "d.head.partial.pieces"));
    how.copies_along_sequence = false;
    EXPECT_THAT(names_ending(tensor_parallel(how), ".pieces"), SizeIs(0));
}

TEST(Pieces, AreOfNoUseWithoutSequenceParallelism) {
    Execution how = of_pytorch();
    how.sequence_parallel = false;
    EXPECT_THAT(names_ending(tensor_parallel(how), ".pieces"), SizeIs(0));
}

/// The sum of the gradients of q, k and v, or of gate and up, is no product that could place it.
TEST(Pieces, OfASumOfGradientsAreNotPlaced) {
    Execution how = of_pytorch();
    how.places_pieces = how.kernels.separate_products = true;
    const auto pieces = names_ending(tensor_parallel(how), ".pieces");
    EXPECT_THAT(pieces, Contains("d.attn.qkv.partial.pieces"));
    EXPECT_THAT(pieces, Contains("d.mlp.fc1.partial.pieces"));
    EXPECT_THAT(pieces, Not(Contains("mlp.fc1.gathered.pieces")));
}

TEST(SeparateProducts, HoldTheGradientsThatAreAddedUp) {
    Execution how = of_pytorch();
    EXPECT_THAT(names_ending(tensor_parallel(how), ".in.other"), SizeIs(0));
    how.kernels.separate_products = true;
    EXPECT_THAT(names_ending(tensor_parallel(how), ".in.other"),
                SizeIs(2 + 1));  // compiled: q k v, gate up
    how.kernels.fused_bias_dropout_add = false;
    EXPECT_THAT(names_ending(tensor_parallel(how), ".in.other"), SizeIs(1 + 1));  // eager
}

}  // namespace
}  // namespace debubble::models

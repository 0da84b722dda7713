#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/hf_config.h"
#include "models/memory/static_memory.h"
#include "tests/models/held_bytes.h"
#include "tests/support/source_folder.h"
#include "text/document_readers.h"

/// Vision towers against sums by hand, of those of Qwen3-VL 8B (DeepStack, cut by tensor ranks) and
/// Kimi K2.5 (whole on each).
namespace debubble::models::towers {
namespace {

constexpr std::int64_t kWidth = 1152, kFfn = 4304, kLayers = 27, kHeads = 16;
constexpr std::int64_t kPatchValues = 1536;  // 3 channels of 2 frames of 16 x 16
constexpr std::int64_t kPatches = 2304, kImageTokens = 576, kHidden = 4096;

Architecture qwen() {
    return read_model((source_folder() / "tests/models/hf/configs2026/qwen3-vl-8b.json").string());
}
Architecture kimi() {
    return read_model((source_folder() / "tests/models/hf/configs2026/kimi-k2.5.json").string());
}
Architecture without_tower(Architecture network) {
    network.tower.reset();
    return network;
}

Execution how_of(int tensor) {
    Execution how;
    how.seq_length = 4096;
    how.tensor = how.expert_tensor = tensor;
    how.sequence_parallel = tensor > 1;
    return how;
}

StageGraph first_stage(const Architecture& network, const Execution& how, int layers = 4) {
    return build_stage(network, how, {0, layers, true, false});
}

double number(std::int64_t value) {
    return static_cast<double>(value);
}

/// Forward and backward: 6 per weight and row, and 12 per column of queries and pair of patches.
TEST(Towers, HaveTheModelFlopsOfTheirPatches) {
    const Architecture network = qwen();
    const std::int64_t layer = 4 * kWidth * kWidth + 2 * kWidth * kFfn;
    const double seen = number(kPatches) * 6 * number(kLayers * layer + kPatchValues * kWidth) +
                        12 * number(kLayers * kWidth) * number(kPatches * kPatches);
    const std::int64_t wide = 4 * kWidth;
    const double projected = 4 * 6 * number(wide * wide + wide * kHidden) * number(kImageTokens);
    const auto more = [&](const Architecture& with) {
        return model_flops_per_sample(with, 4096) -
               model_flops_per_sample(without_tower(with), 4096);
    };
    EXPECT_NEAR(more(network) / (seen + projected), 1, 1e-9);
    Architecture twice = network;
    twice.tower->images = 2;
    EXPECT_NEAR(more(twice) / (seen + projected), 2, 1e-9);
    Architecture frozen = network;
    frozen.tower->frozen = true;
    EXPECT_NEAR(more(frozen) / (seen / 3 + projected), 1, 1e-9);
}

/// Bytes of a layer in bf16: the inputs of both norms, of the products and of the activation,
/// queries, keys and values, the tables of angles, and statistics.
std::int64_t kept_by_layer(std::int64_t tensor) {
    const std::int64_t cut = (2 * (3 * kWidth + kWidth + 2 * kFfn)) / tensor;
    return kPatches * (2 * 4 * kWidth + cut + 2 * 8 + 4 * kHeads / tensor + 8 * kWidth / kHeads);
}
/// Of a projector: its norm's statistics, and the inputs of products and activation.
std::int64_t kept_by_projector(std::int64_t tensor) {
    return 8 * kPatches + 2 * kPatches * kWidth * (1 + 2 / tensor);
}

TEST(Towers, KeepWhatTheirBackwardReads) {
    for (const int tensor : {1, 2}) {
        const Architecture network = qwen();
        const auto held = [&](const Architecture& of) {
            return held_after_forward(first_stage(of, how_of(tensor)));
        };
        const std::int64_t last = 2 * kPatches * kWidth;  // what the merger's norm reads
        // The norms of DeepStack's mergers have a statistic for each token, of four patches.
        const std::int64_t deepstack =
            3 * (kept_by_projector(tensor) - 8 * (kPatches - kImageTokens));
        const std::int64_t tower = 2 * kPatches * kPatchValues + kLayers * kept_by_layer(tensor) +
                                   last + kept_by_projector(tensor) + deepstack;
        // Every tensor-parallel rank embeds all tokens, as without a tower.
        EXPECT_EQ(held(network) - held(without_tower(network)), tower) << tensor;
    }
}

TEST(Towers, KeepInputsOfLayersWhereTheseRunAgain) {
    Execution how = how_of(1);
    how.recompute = Recompute::Full;
    const Architecture network = qwen();
    const auto held = [&](const Architecture& of) {
        return held_after_forward(first_stage(of, how));
    };
    const std::int64_t inputs = (kLayers + 1) * 2 * kPatches * kWidth;
    const std::int64_t mergers = 4 * kept_by_projector(1) - 3 * 8 * (kPatches - kImageTokens);
    EXPECT_EQ(held(network) - held(without_tower(network)),
              2 * kPatches * kPatchValues + inputs + mergers);
}

TEST(Towers, AreCutByTensorRanksOrWhole) {
    const auto of_rank = [](const Architecture& network, int tensor) {
        const Execution how = how_of(tensor);
        return first_stage(network, how).parameter_count().dense -
               first_stage(without_tower(network), how).parameter_count().dense;
    };
    const std::int64_t all = tower_parameter_count(qwen());
    EXPECT_EQ(of_rank(qwen(), 1), all);
    // Matrices and the biases of what is cut by columns are halved.
    const std::int64_t layer = 4 * kWidth * kWidth + 3 * kWidth + 2 * kWidth * kFfn + kFfn;
    const std::int64_t wide = 4 * kWidth;
    const std::int64_t merger = wide * wide + wide + wide * kHidden;
    EXPECT_EQ(of_rank(qwen(), 2), all - (kLayers * layer + 4 * merger) / 2);
    EXPECT_EQ(of_rank(kimi(), 4), tower_parameter_count(kimi()));
    EXPECT_EQ(tower_parameter_count(kimi()), 471'143'920);
}

TEST(Towers, ThatAreFrozenHaveNoBackwardAndNoState) {
    Architecture frozen = qwen();
    frozen.tower->frozen = frozen.tower->frozen_projector = true;
    const StageGraph graph = first_stage(frozen, how_of(1));
    const StageGraph text = first_stage(without_tower(frozen), how_of(1));
    EXPECT_EQ(held_after_forward(graph), held_after_forward(text));
    for (const Kernel& kernel : backward_steps(graph).kernels)
        EXPECT_FALSE(kernel.name.starts_with("vision.")) << kernel.name;
    EXPECT_EQ(graph.parameter_count().frozen, tower_parameter_count(frozen));
    EXPECT_EQ(graph.parameter_count().dense, text.parameter_count().dense);
    const StaticPolicy policy;
    EXPECT_EQ(
        (total(static_memory(graph, policy).held) - total(static_memory(text, policy).held)).count,
        2 * tower_parameter_count(frozen));
    for (const bool split : {false, true}) expect_to_free_what_it_allocates(graph, split);
}

TEST(Towers, WithATrainedProjectorKeepItsInputs) {
    Architecture frozen = qwen();
    frozen.tower->frozen = true;
    const StageGraph graph = first_stage(frozen, how_of(1));
    const StageGraph text = first_stage(without_tower(frozen), how_of(1));
    const std::int64_t inputs = 4 * 2 * kPatches * kWidth;
    const std::int64_t mergers = 4 * kept_by_projector(1) - 3 * 8 * (kPatches - kImageTokens);
    EXPECT_EQ(held_after_forward(graph) - held_after_forward(text), inputs + mergers);
    for (const bool split : {false, true}) expect_to_free_what_it_allocates(graph, split);
}

TEST(Towers, NeedTheLayersThatAddTheirFeatures) {
    try {
        first_stage(qwen(), how_of(1), 2);
        FAIL() << "built";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("after the first 3 layers"));
    }
    // A stage of the tower and the embedding alone.
    const StageGraph alone = first_stage(kimi(), how_of(1), 0);
    EXPECT_EQ(alone.output_bytes(), Bytes{2 * 4096 * 7168});
    for (const bool split : {false, true}) expect_to_free_what_it_allocates(alone, split);
}

TEST(Towers, OfContextParallelRanksSeeWholeImages) {
    Execution how = how_of(2);
    const auto products = [](const StageGraph& graph) {
        double sum = 0;
        for (const Operator& op : graph.operators)
            for (const Kernel& kernel : op.forward)
                if (kernel.name.starts_with("vision.")) sum += flops(kernel);
        return sum;
    };
    const double whole = products(first_stage(qwen(), how));
    how.context = 2;
    EXPECT_EQ(products(first_stage(qwen(), how)), whole);
    for (const bool split : {false, true})
        expect_to_free_what_it_allocates(first_stage(qwen(), how), split);
}

/// The file with another key of its tower.
Architecture kimi_with(const std::string& key) {
    std::string text = read_file(source_folder() / "tests/models/hf/configs2026/kimi-k2.5.json");
    const std::string last = "\"patch_size\": 14";
    text.insert(text.find(last) + last.size(), ", " + key);
    text::Mistakes mistakes;
    return read_hf_config(text::parse_json(text, "config.json"), mistakes);
}

/// The published file names its table and its projector otherwise than transformers does.
TEST(Towers, OfKimiAreReadByBothNames) {
    for (const char* key : {R"("pos_emb_height": 32)", R"("init_pos_emb_height": 32)"})
        EXPECT_EQ(parameter_count(kimi()) - parameter_count(kimi_with(key)), 32 * 64 * kWidth);
    const std::int64_t wide = 4 * kWidth, narrow = 2 * kWidth, h = 7168;
    EXPECT_EQ(
        parameter_count(kimi()) - parameter_count(kimi_with(R"("merge_kernel_size": [2, 1])")),
        wide * wide + wide + wide * h - (narrow * narrow + narrow + narrow * h));
    // The norm before the projector would not be as wide as what it reads.
    EXPECT_FALSE(kimi_with(R"("mm_hidden_size": 1024)").tower);
    EXPECT_TRUE(kimi_with(R"("mm_hidden_size": 1152)").tower);
}

}  // namespace
}  // namespace debubble::models::towers

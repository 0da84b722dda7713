#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"

/// Multi-token prediction: what the last stage has more, by the closed forms of DeepSeek-V3
/// (arXiv:2412.19437, section 2.2).
namespace debubble::models {
namespace {

struct StageFigures {
    std::int64_t parameters = 0;
    double flops = 0;
};

StageFigures of_last_stage(const Architecture& model, const Execution& how) {
    const StageGraph graph = build_stage(model, how, {model.layers.count() - 1, 1, false, true});
    StageFigures figures{graph.parameter_elements(), 0};
    for (const Kernel& kernel : forward_steps(graph).kernels) figures.flops += flops(kernel);
    return figures;
}

TEST(MultiTokenPrediction, CostsALayerAProjectionAndTheHeadOnceMore) {
    Execution how;
    how.seq_length = 64;
    how.kernels.vocabulary_multiple = 1;
    Architecture model = llama(2, 256, 8, 4, 512, 1000);
    const double h = 256, v = 1000, t = 64;
    const StageFigures without = of_last_stage(model, how);
    model.mtp_layers = 1;
    const StageFigures with = of_last_stage(model, how);
    const StageGraph one = build_stage(model, how, {1, 1, false, false});
    double layer_flops = 0;
    for (const Kernel& kernel : forward_steps(one).kernels) layer_flops += flops(kernel);
    EXPECT_DOUBLE_EQ(with.flops - without.flops, 2 * t * (2 * h * h + h * v) + layer_flops);
    // The stage is not the first: it has a copy of the table.
    EXPECT_EQ(with.parameters - without.parameters,
              one.parameter_elements() + 3 * 256 + 2 * 256 * 256 + 256 * 1000);
}

TEST(MultiTokenPrediction, SharesTheTableOfAStageThatHasIt) {
    Execution how;
    how.seq_length = 64;
    how.kernels.vocabulary_multiple = 1;
    for (const bool tied : {false, true}) {
        Architecture model = llama(1, 256, 8, 4, 512, 1000);
        model.tied_embedding = tied;
        const auto elements = [&] {
            return build_stage(model, how, {0, 1, !tied, true}).parameter_elements();
        };
        const std::int64_t without = elements();
        const std::int64_t layer =
            build_stage(model, how, {0, 1, false, false}).parameter_elements();
        model.mtp_layers = 1;
        EXPECT_EQ(elements() - without, layer + 3 * 256 + 2 * 256 * 256) << tied;
    }
}

/// A rank has an eighth of the projection, and its tokens of what is joined.
TEST(MultiTokenPrediction, IsCutAsMegatronCutsIt) {
    Execution how;
    how.seq_length = 64;
    how.tensor = how.expert_tensor = 8;
    how.sequence_parallel = true;
    Architecture model = read_model("deepseek-v3");
    model.mtp_layers = 1;
    const StageGraph graph = build_stage(model, how, {60, 1, false, true});
    std::int64_t joined = 0;
    for (const Parameter& parameter : graph.parameters)
        if (parameter.name == "model.layers.61.eh_proj.weight") {
            EXPECT_EQ(parameter.elements_of_rank(how), 2 * 7168 * 7168 / 8);
            ++joined;
        }
    for (const Operator& op : graph.operators)
        if (const auto* concat = op.as<op::Concat>()) {
            EXPECT_EQ(graph.tensors[concat->y.tensor].bytes.count, 2 * 8 * 2 * 7168);
            ++joined;
        }
    EXPECT_EQ(joined, 2);
    EXPECT_DOUBLE_EQ(
        model_flops_per_sample(model, 64) - model_flops_per_sample(read_model("deepseek-v3"), 64),
        6.0 * 64 *
                (2.0 * 7168 * 7168 + 7168.0 * 129280 +
                 // the layer: latent attention, router, nine experts of 2048
                 7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512.0 * 128 * 256 +
                 128.0 * 128 * 7168 + 7168.0 * 256 + 9 * 3.0 * 7168 * 2048) +
            6.0 * 128 * (192 + 128) * 64 * 64);
}

}  // namespace
}  // namespace debubble::models

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/graph/graph.h"
#include "tests/models/architectures.h"
#include "tests/models/held_bytes.h"

/// What a layer of DeepSeek-V3 keeps for its backward by arXiv:2412.19437, sections 3.2.3 and
/// 3.3.3, tensor by tensor.
namespace debubble::models {
namespace {

constexpr std::int64_t kTokensPlanned = 512;
constexpr std::int64_t kRowsOfToken = 8;  ///< of a token, one for each expert that it goes to
constexpr int kExpertLayer = 10;          ///< with experts

Execution as_trained() {
    Execution how;
    how.seq_length = kTokensPlanned;
    how.expert = 64;
    how.kernels.dispatcher = Dispatcher::DeepEp;
    how.kernels.weighted_experts_activation = true;
    how.low_precision.recipe = Recipe::Fp8Blockwise;
    how.low_precision.narrow_activations = true;
    how.recompute = Recompute::Modules;
    for (const Module module : {Module::LayerNorm, Module::MlaUpProjection, Module::MoeActivation})
        how.recompute_extent.modules.add(module);
    return how;
}

StageGraph trained_layer(const Execution& how, int index = kExpertLayer) {
    return build_stage(read_model("deepseek-v3"), how, {index, 1, false, false});
}

using TokenBytes = std::map<std::string, std::int64_t>;

/// Bytes of a token that live between the forward and the backward, by tensor.
TokenBytes kept_of_token(const StageGraph& graph) {
    std::vector<int> alive(graph.tensors.size());
    for (const Step& step : forward_steps(graph).steps)
        if (step.kind != Step::Kind::Run)
            alive[step.index] += step.kind == Step::Kind::Allocate ? 1 : -1;
    TokenBytes bytes;
    for (std::size_t i = 0; i < alive.size(); ++i)
        if (alive[i] > 0) {
            EXPECT_EQ(graph.tensors[i].bytes.count % kTokensPlanned, 0) << graph.tensors[i].name;
            bytes[graph.tensors[i].name] = graph.tensors[i].bytes.count / kTokensPlanned;
        }
    return bytes;
}

/// A byte each, and a scale of fp32 for every 128.
constexpr std::int64_t with_scales(std::int64_t values) {
    return values + 4 * values / 128;
}

TokenBytes by_the_paper() {
    const std::int64_t hidden = 7168, context = 128 * 128;
    return {{"input", 2 * hidden},              // a norm's input
            {"attn.residual.out", 2 * hidden},  // the other's
            {"attn.q_down.out", 2 * 1536},      // inputs of norms in front of up-projections
            {"attn.kv_down.out", 2 * (512 + 64)},
            {"attn.core.log_sum_exp", 4 * 128},
            {"attn.core.out.e5m6", context * 3 / 2 + 4 * context / 128},
            {"experts.router.out", 4 * 256},
            {"experts.router.logits", 4 * 256},
            {"experts.fc1.cast.columns", kRowsOfToken * with_scales(hidden)},  // inputs of products
            {"experts.act.in.fp8", kRowsOfToken * with_scales(2 * 2048)},      // inputs of SwiGLU
            {"shared.act.in.fp8", with_scales(2 * 2048)},
            {"shared.fc2.cast.columns", with_scales(2048)}};
}

TEST(NarrowActivations, AreThoseOfThePaper) {
    EXPECT_EQ(kept_of_token(trained_layer(as_trained())), by_the_paper());
}

TEST(NarrowActivations, InTheComputeTypeAreTwoBytesWide) {
    Execution how = as_trained();
    how.low_precision.narrow_activations = false;
    TokenBytes wide = by_the_paper();
    for (const char* narrow : {"attn.core.out.e5m6", "experts.act.in.fp8", "shared.act.in.fp8"})
        EXPECT_EQ(wide.erase(narrow), 1U);
    wide["attn.core.out"] = 2 * 128 * 128;
    wide["experts.fc1.out"] = kRowsOfToken * 2 * 2 * 2048;
    wide["shared.fc1.out"] = 2 * 2 * 2048;
    EXPECT_EQ(kept_of_token(trained_layer(how)), wide);
}

/// The bytes that a kernel of the backward reads and writes.
std::pair<std::int64_t, std::int64_t> traffic_of(const StageGraph& graph, const std::string& name) {
    for (const Kernel& kernel : backward_steps(graph).kernels)
        if (const auto* work = std::get_if<Traffic>(&kernel.work);
            work != nullptr && kernel.name == name)
            return {work->read.count, work->written.count};
    return {};
}

TEST(NarrowActivations, AreReadInTheBackwardInsteadOfWhatTheyAreCopiesOf) {
    const StageGraph graph = trained_layer(as_trained());
    const std::int64_t rows = kRowsOfToken * kTokensPlanned, act = 2 * rows * 2048;
    const std::int64_t copy = rows * with_scales(2 * 2048);
    EXPECT_EQ(traffic_of(graph, "experts.act"), std::pair(copy, act));  // runs again
    EXPECT_EQ(traffic_of(graph, "experts.act.dx"), std::pair(act + copy, 2 * act));
    const std::int64_t wide = 2 * kTokensPlanned * 128 * 128;
    const std::int64_t narrow = e5m6_bytes(kTokensPlanned * 128 * 128);
    EXPECT_EQ(traffic_of(graph, "attn.core.out.widen"), std::pair(narrow, wide));
    EXPECT_EQ(traffic_of(graph, "attn.proj.recast").first, narrow);
}

TEST(NarrowActivations, FreeWhatTheyAllocateHoweverTheBackwardRuns) {
    for (const bool split : {false, true})
        for (const bool delays : {false, true})
            for (const Recompute policy :
                 {Recompute::None, Recompute::Full, Recompute::Modules, Recompute::Products})
                for (const Module more : {Module::MoeActivation, Module::Moe, Module::CoreAttention,
                                          Module::SharedExperts}) {
                    Execution how = as_trained();
                    how.recompute = policy;
                    how.recompute_extent.modules.add(more);
                    how.split_backward = split;
                    how.delays_weights = delays;
                    expect_to_free_what_it_allocates(trained_layer(how), split);
                    expect_to_free_what_it_allocates(trained_layer(how, 0), split);
                }
}

/// Without recomputation the copies of what products read are there too, and the results of the
/// norms are not.
TEST(NarrowActivations, NeedNoRecomputation) {
    Execution how = as_trained();
    how.recompute = Recompute::None;
    const TokenBytes found = kept_of_token(trained_layer(how));
    EXPECT_EQ(found.at("experts.act.in.fp8"), kRowsOfToken * with_scales(2 * 2048));
    EXPECT_EQ(found.at("experts.fc2.cast.columns"), kRowsOfToken * with_scales(2048));
    EXPECT_EQ(found.at("attn.q_down.cast.columns"), with_scales(7168));
    EXPECT_FALSE(found.contains("experts.fc1.out"));
    EXPECT_FALSE(found.contains("attn.core.out"));
}

/// Section 3.3.3 is of layers with experts; in others the attention's result alone is narrow.
TEST(NarrowActivations, OfADenseLayerAreTheAttentionsResult) {
    const TokenBytes found = kept_of_token(trained_layer(as_trained(), 0));
    EXPECT_EQ(found.at("mlp.fc1.out"), 2 * 2 * 18432);
    EXPECT_TRUE(found.contains("attn.core.out.e5m6"));
}

/// Megatron-LM's set_save_original_input: a product whose input is discarded keeps no cast of it,
/// but with delayed scales, which have that not.
TEST(DiscardedInputs, OfProductsIn8BitsAreCastAgainAndNotKept) {
    for (const Recipe recipe : {Recipe::Fp8Delayed, Recipe::Fp8Current, Recipe::Fp8Blockwise}) {
        Execution how = as_trained();
        how.low_precision.recipe = recipe;
        how.low_precision.narrow_activations = false;
        const bool keeps = recipe == Recipe::Fp8Delayed;
        int copies = 0;
        for (const auto& [name, bytes] : kept_of_token(trained_layer(how)))
            for (const char* product : {"attn.q_down", "attn.kv_down", "experts.fc2"})
                copies += name.starts_with(std::string(product) + ".cast") ? 1 : 0;
        EXPECT_EQ(copies, keeps ? 3 : 0) << name_of(recipe);
    }
}

}  // namespace
}  // namespace debubble::models

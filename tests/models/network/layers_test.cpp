#include "models/network/layers.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/read/architecture_words.h"
#include "models/read/layer_keys.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/models/architectures.h"

/// Networks whose layers differ: as lists, in files, and counted by closed forms.
namespace debubble::models {
namespace {

Layer dense(std::int64_t ffn) {
    LayerKeys keys = layer_keys(llama(1, 64, 8, 4, ffn, 512));
    return layer_of(keys);
}

std::vector<int> kinds_of(const Layers& layers) {
    std::vector<int> kinds;
    for (int i = 0; i < layers.count(); ++i) kinds.push_back(layers.kind_of(i));
    return kinds;
}

TEST(Layers, KeepEachKindOnceInTheOrderOfItsFirstLayer) {
    Layers layers(dense(10), 2);
    layers.append(dense(20));
    layers.append(dense(10));
    EXPECT_EQ(kinds_of(layers), (std::vector{0, 0, 1, 0}));
    EXPECT_EQ(layers.count_of(0), 3);
    EXPECT_EQ(layers[2].as<DenseMlp>()->ffn, 20);
    EXPECT_EQ(layers.most<DenseMlp>([](const DenseMlp& mlp) { return mlp.ffn; }), 20);
    layers.cut_short(2);
    EXPECT_EQ(layers, Layers(dense(10), 2));
    EXPECT_EQ(runs_of(Layers(dense(10), 5), 1, 3).size(), 1u);
}

constexpr const char* kMixture = R"(family: llama
layers: 6
hidden: 64
heads: 8
kv_heads: 4
ffn: 40
vocab: 512
max_positions: 128
experts: 8
experts_per_token: 3
layer_groups:
  - {count: 1, experts: 0, ffn: 96}
  - {count: 2, pattern: [{}, {rope_theta: 500}]}
  - {}
)";

Architecture read_text(const std::string& text) {
    const exec::ScratchFolder folder;
    write_file(folder.path() / "model.yaml", text);
    return read_model((folder.path() / "model.yaml").string());
}

TEST(Layers, AreReadFromGroupsAndPatterns) {
    const Architecture model = read_text(kMixture);
    EXPECT_EQ(kinds_of(model.layers), (std::vector{0, 1, 2, 1, 2, 1}));
    EXPECT_EQ(model.layers[0].as<DenseMlp>()->ffn, 96);
    EXPECT_EQ(model.layers[1].as<Experts>()->count, 8);
    EXPECT_EQ(model.layers[2].as<Attention>()->rope_theta, 500);
}

/// Attention h d (2a + 2kv), an MLP 3 h f, a router h E, norms 2h a layer; two tables and a norm.
TEST(Layers, CountByClosedForms) {
    const std::int64_t h = 64, attention = h * (2 * h + 2 * 32) + 2 * h;
    const std::int64_t one = 3 * h * 40;
    const std::int64_t ends = 2 * 512 * h + h;
    const Architecture model = read_text(kMixture);
    EXPECT_EQ(parameter_count(model), ends + 6 * attention + 3 * h * 96 + 5 * (8 * one + h * 8));
    EXPECT_EQ(active_parameter_count(model), parameter_count(model) - 5 * (8 - 3) * one);
    std::int64_t listed = 0;
    for (const Parameter& parameter : whole_parameters(model)) listed += parameter.elements();
    EXPECT_EQ(parameter_count(model), listed);
}

TEST(Layers, AreTheSameAfterAWayThroughJson) {
    const Architecture model = read_text(kMixture);
    EXPECT_EQ(read_text(architecture_json(model)).layers, model.layers);
}

/// Six layers of one part each, with one norm of h: three attentions h d (2a + 2kv), two MLPs 3 h
/// f, and one mixture of 8 experts with its router.
TEST(Layers, OfOnePartHaveOneNorm) {
    std::string text = kMixture;
    text.resize(text.find("layer_groups"));
    const Architecture model = read_text(text + R"(layer_groups:
  - count: 2
    pattern: [{mlp: false}, {mixer: none, experts: 0, ffn: 96}]
  - {mlp: false}
  - {mixer: none}
)");
    const std::int64_t h = 64, attention = h * (2 * h + 2 * 32) + h, ends = 2 * 512 * h + h;
    EXPECT_EQ(parameter_count(model),
              ends + 3 * attention + 2 * (3 * h * 96 + h) + 8 * 3 * h * 40 + h * 8 + h);
    EXPECT_EQ(read_text(architecture_json(model)).layers, model.layers);
    // 6 FLOPs a weight and token, and 12 s of a column of attention.
    const double s = 128;
    const double weights = 3.0 * h * (2 * h + 2 * 32) + 2.0 * 3 * h * 96 + 3 * 3.0 * h * 40 + h * 8;
    EXPECT_DOUBLE_EQ(model_flops_per_sample(model, 128),
                     6 * s * weights + 3 * 12 * s * s * h + 6 * s * h * 512);
    Execution how;
    how.seq_length = 128;
    const StageGraph stage = build_stage(model, how, {2, 2, false, false});
    EXPECT_EQ(stage.operators.back().layer, 3);
    EXPECT_NE(*stage.output_gradient, *stage.input_gradient);
    EXPECT_EQ(std::ranges::count_if(
                  stage.operators, [](const Operator& op) { return op.as<op::Norm>() != nullptr; }),
              2);
    try {
        read_text(text + "mixer: none\nmlp: false\n");
        ADD_FAILURE() << "a layer of nothing was accepted";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("a layer without a mixer needs an MLP"));
    }
}

/// Every key of a layer and of a network's ends has another value than the usual one.
TEST(Layers, KeepTheKeysOfTodaysNetworksOnAWayThroughJson) {
    const std::string common = R"(family: deepseek
layers: 2
hidden: 64
heads: 8
kv_heads: 4
vocab: 512
max_positions: 128
zero_centred_norms: true
scaled_embedding: true
logit_softcap: 30
)";
    const Architecture attends = read_text(common + R"(norm_position: both
qkv_bias: true
sinks: true
score_softcap: 50
query_pre_attn_scalar: 168
query_temperature: {floor: 16, scale: 0.2}
qk_norm: width
activation: geglu_tanh
rope_scaling: {type: longrope, factor: 4, short_factors: [1, 1, 1, 1], long_factors: [1, 2, 3, 4]}
layer_groups: [{chunk: 16}, {output_bias: true, qk_norm: l2}]
)");
    const auto* first = attends.layers[0].as<Attention>();
    EXPECT_EQ(first->chunk, 16);
    EXPECT_EQ(first->score_softcap, 50);
    EXPECT_EQ(first->rope_scaling->long_factors, (std::vector<double>{1, 2, 3, 4}));
    EXPECT_DOUBLE_EQ(first->score_scale(), 1 / std::sqrt(168.0));
    EXPECT_FALSE(first->output_bias);
    EXPECT_TRUE(attends.layers[1].as<Attention>()->output_bias);
    EXPECT_EQ(attends.layers[1].norms, NormPosition::Both);
    EXPECT_EQ(read_text(architecture_json(attends)), attends);
    const Architecture routes = read_text(common + R"(linear_bias: true
activation: clamped_swiglu
experts: 8
experts_per_token: 2
router: sigmoid
router_groups: 4
router_groups_chosen: 2
router_scaling: 2.5
router_renormalises: false
router_bias: true
router_bias_correction: true
weighs_experts_input: true
parallel_residual: true
)");
    const auto* experts = routes.layers[0].as<Experts>();
    EXPECT_EQ(experts->groups_chosen, 2);
    EXPECT_TRUE(experts->bias && experts->router_bias && experts->bias_correction);
    EXPECT_TRUE(routes.layers[0].parallel);
    EXPECT_EQ(read_text(architecture_json(routes)), routes);
}

TEST(Layers, OfAListAreCutShortByAFileThatBuildsOnTheirs) {
    const exec::ScratchFolder folder;
    write_file(folder.path() / "whole.yaml", R"(family: llama
hidden: 64
vocab: 512
max_positions: 128
heads: 8
layers:
  - {count: 1, mlp: {kind: dense, ffn: 96}}
  - {count: 5, mlp: {kind: moe, experts: 8, experts_per_token: 3, ffn: 40}}
mtp: 1
)");
    const auto built = [&](const std::string& keys) {
        write_file(folder.path() / "short.yaml",
                   "base: " + (folder.path() / "whole.yaml").string() + "\n" + keys);
        return read_model((folder.path() / "short.yaml").string());
    };
    EXPECT_EQ(kinds_of(built("layers: 3\n").layers), (std::vector{0, 1, 1}));
    EXPECT_EQ(built("layers: 3\n").layers[2].as<Experts>()->count, 8);
    EXPECT_EQ(built("layers: 6\n"), built(""));
    EXPECT_EQ(built("layers: [{count: 2, mlp: {kind: dense, ffn: 32}}]\n").layers.count(), 2);
    EXPECT_EQ(built("").mtp_layers, 1);
    EXPECT_EQ(built("mtp: 2\n").mtp_layers, 2);
    EXPECT_EQ(built("mtp_layers: 0\n").mtp_layers, 0);
    EXPECT_THROW(built("layers: 7\n"), InputError);
}

TEST(Layers, AreCutShortByAFileThatBuildsOnTheirs) {
    const exec::ScratchFolder folder;
    write_file(folder.path() / "whole.yaml", kMixture);
    write_file(folder.path() / "short.yaml",
               "base: " + (folder.path() / "whole.yaml").string() + "\nlayers: 2\n");
    const Architecture cut = read_model((folder.path() / "short.yaml").string());
    EXPECT_EQ(kinds_of(cut.layers), (std::vector{0, 1}));
    const auto with = [&](const char* layers) {
        std::string text = kMixture;
        return read_text(text.replace(text.find("layers: 6"), 9, layers));
    };
    try {
        with("layers: 7");
        ADD_FAILURE() << "seven layers were accepted";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(),
                    testing::HasSubstr("12:3: error: the groups have 6 layers, but 'layers' is 7"));
    }
}

}  // namespace
}  // namespace debubble::models

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "text/document_readers.h"

namespace debubble::models {
namespace {

using testing::HasSubstr;

Architecture network(const std::string& yaml) {
    text::Mistakes mistakes;
    const Architecture a = read_own_architecture(text::parse_yaml(yaml, "network.yaml"), mistakes);
    mistakes.throw_if_any();
    return a;
}

std::string mistake_of(const std::string& yaml) {
    try {
        network(yaml);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

constexpr const char* kDeepSeekV3 = R"(
family: deepseek
layers:
  - count: 3
    attention: &latent {kind: mla, heads: 128, query_rank: 1536, key_rank: 512, head_dim: 128,
                        rope_dim: 64, value_dim: 128}
    mlp: {kind: dense, ffn: 18432}
  - count: 58
    attention: *latent
    mlp: {kind: moe, ffn: 2048, experts: 256, experts_per_token: 8, shared_ffn: 2048,
          router: sigmoid, router_dtype: fp32, router_groups: 8, router_groups_chosen: 4,
          router_scaling: 2.5, router_bias_correction: true}
mtp: 1
hidden: 7168
vocab: 129280
max_positions: 163840
norm_eps: 1e-6
rope_scaling: {type: yarn, factor: 40, original_positions: 4096, beta_fast: 32, beta_slow: 1,
               mscale: 1}
)";

TEST(AListOfLayers, IsTheNetworkThatGroupsDescribe) {
    Architecture listed = network(kDeepSeekV3);
    EXPECT_EQ(listed.mtp_layers, 1);
    const Architecture known = read_model("deepseek-v3");
    listed.mtp_layers = known.mtp_layers;
    listed.name = known.name;
    listed.source = known.source;
    EXPECT_EQ(listed, known);
}

/// Two of one and one of another kind, three times.
TEST(AListOfLayers, MayRepeatPatterns) {
    const Architecture a = network(R"({family: llama, hidden: 64, vocab: 100, max_positions: 64,
        layers: [{count: 3, pattern: [
            {count: 2, attention: {kind: gqa, heads: 4, kv_heads: 2, window: 16},
             mlp: {kind: dense, ffn: 128}},
            {attention: {kind: gqa, heads: 8, kv_heads: 8}, mlp: {kind: none}}]}]})");
    ASSERT_EQ(a.layers.count(), 9);
    for (int layer = 0; layer < 9; ++layer) {
        const auto* attention = a.layers[layer].as<Attention>();
        ASSERT_NE(attention, nullptr) << layer;
        EXPECT_EQ(attention->heads, layer % 3 == 2 ? 8 : 4) << layer;
        EXPECT_EQ(a.layers[layer].as<DenseMlp>() == nullptr, layer % 3 == 2) << layer;
    }
}

std::string with_layers(const std::string& layers) {
    return "{family: llama, hidden: 64, vocab: 100, max_positions: 64, heads: 4, layers: " +
           layers + "}";
}

TEST(AListOfLayers, HasKindsThatAreKnown) {
    EXPECT_THAT(mistake_of(with_layers("[{attention: {kind: sparse}, mlp: {kind: dense}}]")),
                HasSubstr("gated_delta_net or none, not 'sparse'"));
    EXPECT_THAT(mistake_of(with_layers("[{attention: {kind: mha}, mlp: {kind: wide}}]")),
                HasSubstr("dense, moe or none, not 'wide'"));
    EXPECT_THAT(mistake_of(with_layers("[{attention: {window: 4}, mlp: {kind: dense}}]")),
                HasSubstr("'attention' needs a 'kind'"));
    EXPECT_THAT(mistake_of(with_layers("[{mlp: {kind: moe, ffn: 8}}]")),
                HasSubstr("'experts' is required for kind moe"));
    EXPECT_THAT(mistake_of(with_layers("[{mlp: {kind: dense, experts: 8}}]")),
                HasSubstr("not allowed for kind dense"));
}

TEST(AListOfLayers, HasEachKeyOnceAndNoneThatIsUnknown) {
    EXPECT_THAT(mistake_of(with_layers("[{heads: 2, attention: {kind: mha, heads: 4}}]")),
                HasSubstr("'heads' is given twice"));
    EXPECT_THAT(mistake_of(with_layers("[{attention: {kind: mha, breadth: 4}}]")),
                HasSubstr("breadth"));
    EXPECT_THAT(mistake_of("{family: llama, hidden: 64, vocab: 100, max_positions: 64, heads: 4, "
                           "layers: [{count: 2}], layer_groups: [{count: 2}]}"),
                HasSubstr("cannot be combined with a list"));
    EXPECT_THAT(mistake_of(with_layers("[]")), HasSubstr("layer_groups"));
    EXPECT_THAT(mistake_of(with_layers("[{count: 0}]")), HasSubstr("count"));
    EXPECT_THAT(mistake_of(with_layers("[{count: 99999999999}]")), HasSubstr("count"));
    EXPECT_THAT(mistake_of(with_layers("[4, {count: 2}]")), HasSubstr("4"));
}

}  // namespace
}  // namespace debubble::models

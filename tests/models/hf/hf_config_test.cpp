#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/hf_config.h"
#include "tests/support/source_folder.h"
#include "text/document_readers.h"

namespace debubble::models {
namespace {

Architecture config(const std::string& text) {
    text::Mistakes mistakes;
    const text::NodePtr root = text::parse_json(text, "config.json");
    Architecture a = read_hf_config(root, mistakes);
    mistakes.throw_if_any();
    return a;
}

std::string mistakes_of(const std::string& text) {
    try {
        config(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

/// Name and source differ by nature.
void expect_same_network(Architecture a, Architecture b) {
    a.name = b.name;
    a.source = b.source;
    a.left_out.clear();
    b.left_out.clear();
    a.tower_parameters = b.tower_parameters = 0;
    EXPECT_EQ(a, b) << b.name;
}

TEST(HuggingFaceConfig, DescribesTheSameNetworksAsTheZoo) {
    expect_same_network(config(R"({"model_type": "gpt2", "n_layer": 48, "n_embd": 1600,
        "n_head": 25, "n_ctx": 1024, "vocab_size": 50257, "architectures": ["GPT2LMHeadModel"],
        "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}})"),
                        read_model("gpt2-xl"));
    expect_same_network(config(R"({"model_type": "llama", "hidden_size": 8192,
        "intermediate_size": 28672, "max_position_embeddings": 4096, "num_attention_heads": 64,
        "num_hidden_layers": 80, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
        "rope_scaling": null, "hidden_act": "silu", "vocab_size": 32000})"),
                        read_model("llama2-70b"));
    expect_same_network(config(R"({"model_type": "mixtral", "hidden_size": 6144,
        "intermediate_size": 16384, "max_position_embeddings": 65536, "num_attention_heads": 48,
        "num_hidden_layers": 56, "num_key_value_heads": 8, "num_local_experts": 8,
        "num_experts_per_tok": 2, "rms_norm_eps": 1e-05, "rope_theta": 1000000,
        "sliding_window": null, "vocab_size": 32000, "router_aux_loss_coef": 0.001})"),
                        read_model("mixtral-8x22b"));
    EXPECT_EQ(config(R"({"model_type": "mixtral", "sliding_window": 4096})")
                  .layers[31]
                  .as<Attention>()
                  ->window,
              4096);
}

TEST(HuggingFaceConfig, DescribesTheNetworksOfTodayAsTheZooDoes) {
    expect_same_network(config(R"({"model_type": "llama", "hidden_size": 4096,
        "intermediate_size": 14336, "max_position_embeddings": 131072, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
        "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
        "attention_bias": false, "mlp_bias": false, "vocab_size": 128256})"),
                        read_model("llama3.1-8b"));
    expect_same_network(config(R"({"model_type": "mistral", "hidden_size": 4096,
        "intermediate_size": 14336, "max_position_embeddings": 32768, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0, "sliding_window": 4096, "vocab_size": 32000})"),
                        read_model("mistral-7b"));
    expect_same_network(config(R"({"model_type": "qwen2", "hidden_size": 3584,
        "intermediate_size": 18944, "max_position_embeddings": 32768, "max_window_layers": 28,
        "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
        "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 131072,
        "tie_word_embeddings": false, "use_sliding_window": false, "vocab_size": 152064})"),
                        read_model("qwen2.5-7b"));
    expect_same_network(config(R"({"model_type": "qwen3", "attention_bias": false, "head_dim": 128,
        "hidden_size": 4096, "intermediate_size": 12288, "max_position_embeddings": 40960,
        "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8,
        "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000,
        "sliding_window": null, "use_sliding_window": false, "vocab_size": 151936})"),
                        read_model("qwen3-8b"));
    expect_same_network(config(R"({"model_type": "qwen3_moe", "attention_bias": false,
        "decoder_sparse_step": 1, "head_dim": 128, "hidden_size": 2048, "intermediate_size": 6144,
        "max_position_embeddings": 40960, "mlp_only_layers": [], "moe_intermediate_size": 768,
        "norm_topk_prob": true, "num_attention_heads": 32, "num_experts": 128,
        "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4,
        "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "vocab_size": 151936})"),
                        read_model("qwen3-30b-a3b"));
}

constexpr const char* kDeepseekV3 = R"({"model_type": "deepseek_v3", "attention_bias": false,
    "first_k_dense_replace": 3, "hidden_size": 7168, "intermediate_size": 18432,
    "kv_lora_rank": 512, "max_position_embeddings": 163840, "moe_intermediate_size": 2048,
    "moe_layer_freq": 1, "n_group": 8, "n_routed_experts": 256, "n_shared_experts": 1,
    "norm_topk_prob": true, "num_attention_heads": 128, "num_experts_per_tok": 8,
    "num_hidden_layers": 61, "num_key_value_heads": 128, "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06,
    "routed_scaling_factor": 2.5, "topk_group": 4, "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0,
    "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096, "type": "yarn"},
    "rope_theta": 10000, "scoring_func": "sigmoid", "topk_method": "noaux_tc",
    "v_head_dim": 128, "vocab_size": 129280})";

TEST(HuggingFaceConfig, DescribesLatentAttention) {
    const Architecture network = config(kDeepseekV3);
    expect_same_network(network, read_model("deepseek-v3"));
    EXPECT_NE(network.source.find("without multi-token prediction"), std::string::npos);
    expect_same_network(config(R"({"model_type": "deepseek_v2", "first_k_dense_replace": 1,
        "hidden_size": 2048, "intermediate_size": 10944, "kv_lora_rank": 512,
        "max_position_embeddings": 163840, "moe_intermediate_size": 1408, "moe_layer_freq": 1,
        "n_routed_experts": 64, "n_shared_experts": 2, "norm_topk_prob": false,
        "num_attention_heads": 16, "num_experts_per_tok": 6, "num_hidden_layers": 27,
        "num_key_value_heads": 16, "q_lora_rank": null, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "rms_norm_eps": 1e-06, "rope_scaling": {"beta_fast": 32,
        "beta_slow": 1, "factor": 40, "mscale": 0.707, "mscale_all_dim": 0.707,
        "original_max_position_embeddings": 4096, "type": "yarn"}, "rope_theta": 10000,
        "scoring_func": "softmax", "v_head_dim": 128, "vocab_size": 102400})"),
                        read_model("deepseek-v2-lite"));
}

constexpr const char* kNemotronNano = R"({"model_type": "nemotron_h", "attention_bias": false,
    "chunk_size": 128, "conv_kernel": 4, "expand": 2, "head_dim": 128, "hidden_size": 2688,
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    "intermediate_size": 1856, "layer_norm_epsilon": 1e-05, "mamba_head_dim": 64,
    "mamba_num_heads": 64, "mamba_proj_bias": false, "max_position_embeddings": 262144,
    "mlp_bias": false, "mlp_hidden_act": "relu2", "moe_intermediate_size": 1856,
    "moe_shared_expert_intermediate_size": 3712, "n_group": 1, "n_groups": 8,
    "n_routed_experts": 128, "n_shared_experts": 1, "norm_topk_prob": true,
    "num_attention_heads": 32, "num_experts_per_tok": 6, "num_hidden_layers": 52,
    "num_key_value_heads": 2, "routed_scaling_factor": 2.5, "ssm_state_size": 128,
    "tie_word_embeddings": false, "use_bias": false, "use_conv_bias": true,
    "vocab_size": 131072})";

TEST(HuggingFaceConfig, DescribesRecurrentLayers) {
    expect_same_network(config(R"({"model_type": "qwen3_next", "decoder_sparse_step": 1,
        "full_attention_interval": 4, "head_dim": 256, "hidden_act": "silu", "hidden_size": 2048,
        "intermediate_size": 5120, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128,
        "max_position_embeddings": 262144, "mlp_only_layers": [], "moe_intermediate_size": 512,
        "norm_topk_prob": true, "num_attention_heads": 16, "num_experts": 512,
        "num_experts_per_tok": 10, "num_hidden_layers": 48, "num_key_value_heads": 2,
        "partial_rotary_factor": 0.25, "rms_norm_eps": 1e-06, "rope_scaling": null,
        "rope_theta": 10000000, "shared_expert_intermediate_size": 512,
        "tie_word_embeddings": false, "use_sliding_window": false, "vocab_size": 151936})"),
                        read_model("qwen3-next-80b-a3b"));
    expect_same_network(config(kNemotronNano), read_model("nemotron-3-nano-30b-a3b"));
}

/// The sizes of Qwen3-Next's file, with as few layers as show each kind.
Architecture small_qwen3_next(const std::string& sparse) {
    return config(R"({"model_type": "qwen3_next", "head_dim": 16, "hidden_size": 64,
        "intermediate_size": 96, "linear_key_head_dim": 16, "linear_num_key_heads": 2,
        "linear_num_value_heads": 4, "linear_value_head_dim": 16, "max_position_embeddings": 128,
        "moe_intermediate_size": 32, "num_attention_heads": 4, "num_experts": 8,
        "num_experts_per_tok": 2, "num_hidden_layers": 4, "num_key_value_heads": 2,
        "shared_expert_intermediate_size": 32, "vocab_size": 256, )" +
                  sparse + "}");
}

TEST(HuggingFaceConfig, ReadsWhichRecurrentLayersHaveNoExperts) {
    const Architecture some =
        small_qwen3_next(R"("decoder_sparse_step": 2, "mlp_only_layers": [1])");
    for (int layer = 0; layer < 4; ++layer) {
        const bool sparse = layer == 3;
        EXPECT_EQ(some.layers[layer].as<Experts>() != nullptr, sparse) << layer;
        EXPECT_EQ(some.layers[layer].is_recurrent(), layer != 3) << layer;
    }
    const auto* dense = some.layers[0].as<DenseMlp>();
    ASSERT_NE(dense, nullptr);
    EXPECT_EQ(dense->ffn, 96);
}

TEST(HuggingFaceConfig, RefusesAFileThatNamesNoNetwork) {
    EXPECT_THAT(mistakes_of(R"({"model_type": null, "hidden_size": 64})"),
                testing::HasSubstr("unknown model_type"));
}

TEST(HuggingFaceConfig, ReadsTheWidthThatExpertsRead) {
    std::string text = kNemotronNano;
    const std::string group = R"("n_group": 1)";
    text.replace(text.find(group), group.size(), R"("moe_latent_size": 1024)");
    EXPECT_EQ(config(text).layers.first<Experts>()->latent, 1024);
}

TEST(HuggingFaceConfig, RefusesPatternsThatDoNotAddUp) {
    const auto with = [](const std::string& old, const std::string& now) {
        std::string text = kNemotronNano;
        return mistakes_of(text.replace(text.find(old), old.size(), now));
    };
    EXPECT_NE(with("MEMEM*EM", "MEMXM*EM").find("layers must be Mamba-2 (M), attention (*)"),
              std::string::npos);
    EXPECT_NE(with("MEMEM*EM", "MEM").find("47 layers are listed, but 'num_hidden_layers' is 52"),
              std::string::npos);
    EXPECT_NE(with(R"("mlp_bias": false)", R"("mlp_bias": true)").find("'mlp_bias'"),
              std::string::npos);
}

TEST(HuggingFaceConfig, OfOtherNetworksIsRefusedInASentence) {
    const auto with = [&](const std::string& key) {
        return mistakes_of(std::string(kDeepseekV3).insert(1, key + ", "));
    };
    EXPECT_NE(with(R"("index_topk": 2048)").find("'index_topk' is an unknown key"),
              std::string::npos);
    EXPECT_NE(mistakes_of(R"({"model_type": "qwen3"})").find("'hidden_size' is missing"),
              std::string::npos);
    for (const char* type : {"deepseek_v32", "glm_moe_dsa", "deepseek_v4"})
        EXPECT_NE(mistakes_of(fmt::format(R"({{"model_type": "{}"}})", type))
                      .find("'hidden_size' is missing"),
                  std::string::npos)
            << type;
}

TEST(HuggingFaceConfig, CountsTheClassesOfAViT) {
    const Architecture vit = config(R"({"model_type": "vit", "hidden_act": "gelu",
        "id2label": {"0": "rust", "1": "spot", "2": "healthy"}, "image_size": 224})");
    EXPECT_EQ(vit.vocab, 3);
    EXPECT_EQ(vit.max_positions, 197);
    EXPECT_EQ(parameter_count(vit), parameter_count(read_model("vit-base")) - 997 * 769);
}

TEST(HuggingFaceConfig, TheBaseOfTheAnglesMayStandInAMapOfItsOwn) {
    const std::string start = "{\"model_type\": \"llama\", \"rope_parameters\": ";
    EXPECT_EQ(config(start + R"({"rope_theta": 5e5, "rope_type": "default"}})")
                  .layers[0]
                  .as<Attention>()
                  ->rope_theta,
              5e5);
    EXPECT_NE(mistakes_of(start + R"({"rope_type": "spiral", "factor": 4}})")
                  .find("unknown rotary positions 'spiral'"),
              std::string::npos);
    EXPECT_NE(mistakes_of(start + R"({"rope_type": "longrope", "factor": 4}})")
                  .find("'short_factor' is missing"),
              std::string::npos);
    EXPECT_NE(mistakes_of(start + R"({"rope_type": "llama3"}})").find("'factor' is missing"),
              std::string::npos);
}

TEST(HuggingFaceConfig, WhatIsWrittenIsReadAsTheSameNetwork) {
    for (const char* name :
         {"gpt2", "gpt2-xl", "llama2-70b", "llama3-8b", "vit-large", "mixtral-8x7b", "mistral-7b",
          "qwen2.5-7b", "qwen3-8b", "qwen3-30b-a3b", "deepseek-v2-lite", "deepseek-v3"}) {
        const Architecture network = read_model(name);
        Architecture again = config(hf_config(network).text);
        again.dropout = network.dropout;  // is not read of the networks after GPT-2 and ViT
        expect_same_network(again, network);
    }
}

/// Configurations that transformers 5.24 wrote, and those that are written here of what they say.
TEST(HuggingFaceConfig, OfTransformersIsWrittenAgain) {
    for (const char* name :
         {"llama_scaled", "mistral", "qwen2", "qwen3", "qwen3_moe", "deepseek_v2", "deepseek_v3",
          "glm4_moe", "gpt_oss", "gemma2", "gemma3", "olmo2", "phi3", "nemotron", "gpt_neox"}) {
        const auto path =
            source_folder() / "tests/exec/goldens/hugging_face" / name / "config.json";
        const Architecture network = config(read_file(path));
        const HfConfig again = hf_config(network);
        expect_same_network(config(again.text), network);
        EXPECT_NE(read_file(path).find("\"model_type\": \"" + again.type + "\""), std::string::npos)
            << again.type;
    }
}

TEST(HuggingFaceConfig, RefusesWhatIsNotBuiltAndWhatCannotBe) {
    EXPECT_EQ(mistakes_of("{\"model_type\": \"gpt3\"}"),
              "config.json:1:16: error: unknown model_type 'gpt3'; did you mean 'gpt2'?\n"
              "  {\"model_type\": \"gpt3\"}\n                 ^\n");
    EXPECT_EQ(mistakes_of("{\"model_type\": \"gpt2\",\n \"n_head\": 7}"),
              "config.json:2:12: error: 7 heads do not divide the hidden size 768\n"
              "   \"n_head\": 7}\n"
              "             ^\n");
    EXPECT_EQ(mistakes_of("{\"model_type\": \"gpt2\",\n \"n_layer\": 99999999999999999999}"),
              "config.json:2:13: error: 'n_layer' must be at most 10000, not "
              "'99999999999999999999'\n   \"n_layer\": 99999999999999999999}\n              ^\n");
    EXPECT_NE(mistakes_of("{\"model_type\": \"llama\", \"rope_scaling\": {\"factor\": 8}}")
                  .find("'type' is missing"),
              std::string::npos);
    EXPECT_NE(mistakes_of("{\"model_type\": \"gpt2\", \"scale_attn_weights\": false}")
                  .find("attention scores without scaling are not supported"),
              std::string::npos);
    EXPECT_NE(mistakes_of("{\"model_type\": \"gpt2\", \"n_layer\": [1]}").find("not a list"),
              std::string::npos);
    EXPECT_NE(mistakes_of("{\"model_type\": \"gpt2\", \"n_layer\": -3}").find("at least 1, not -3"),
              std::string::npos);
}

}  // namespace
}  // namespace debubble::models

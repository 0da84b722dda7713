#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/hf_config.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/support/source_folder.h"
#include "text/document_readers.h"

/// Configurations of today's families: those of published networks are the zoo's, and those of
/// small ones, made by hand, count as closed forms say.
namespace debubble::models {
namespace {

Architecture family_config(const std::string& text) {
    text::Mistakes mistakes;
    Architecture a = read_hf_config(text::parse_json(text, "config.json"), mistakes);
    mistakes.throw_if_any();
    return a;
}

void expect_zoo(const std::string& text, const char* name) {
    Architecture read = family_config(text);
    const Architecture published = read_model(name);
    read.name = published.name;
    read.source = published.source;
    read.left_out.clear();
    read.tower_parameters = 0;
    EXPECT_EQ(read, published) << name;
}

std::string mistakes_of_family(const std::string& text) {
    try {
        family_config(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

constexpr const char* kGemma3 = R"({"head_dim": 128, "hidden_size": 5376,
    "intermediate_size": 21504, "model_type": "gemma3_text", "num_attention_heads": 32,
    "num_hidden_layers": 62, "num_key_value_heads": 16, "query_pre_attn_scalar": 168,
    "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024})";

TEST(HuggingFaceFamilies, OfPublishedNetworksAreTheZoos) {
    expect_zoo(R"({"model_type": "gemma2", "attn_logit_softcapping": 50.0,
        "final_logit_softcapping": 30.0, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
        "hidden_size": 3584, "intermediate_size": 14336, "max_position_embeddings": 8192,
        "num_attention_heads": 16, "num_hidden_layers": 42, "num_key_value_heads": 8,
        "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06, "rope_theta": 10000.0,
        "sliding_window": 4096, "vocab_size": 256000})",
               "gemma-2-9b");
    expect_zoo(kGemma3, "gemma-3-27b");
    expect_zoo(std::string(R"({"model_type": "gemma3", "vision_config": {"hidden_size": 1152},
        "text_config": )") +
                   kGemma3 + "}",
               "gemma-3-27b");
    expect_zoo(R"({"model_type": "gpt_oss", "attention_bias": true, "experts_per_token": 4,
        "head_dim": 64, "hidden_act": "silu", "hidden_size": 2880, "intermediate_size": 2880,
        "max_position_embeddings": 131072, "num_attention_heads": 64, "num_experts_per_tok": 4,
        "num_hidden_layers": 24, "num_key_value_heads": 8, "num_local_experts": 32,
        "rms_norm_eps": 1e-05, "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0,
        "original_max_position_embeddings": 4096, "rope_type": "yarn", "truncate": false},
        "rope_theta": 150000, "sliding_window": 128, "swiglu_limit": 7.0,
        "tie_word_embeddings": false, "vocab_size": 201088})",
               "gpt-oss-20b");
    expect_zoo(R"({"model_type": "glm4_moe", "attention_bias": true, "first_k_dense_replace": 1,
        "head_dim": 128, "hidden_size": 4096, "intermediate_size": 10944,
        "max_position_embeddings": 131072, "moe_intermediate_size": 1408, "n_group": 1,
        "n_routed_experts": 128, "n_shared_experts": 1, "norm_topk_prob": true,
        "num_attention_heads": 96, "num_experts_per_tok": 8, "num_hidden_layers": 46,
        "num_key_value_heads": 8, "num_nextn_predict_layers": 1, "partial_rotary_factor": 0.5,
        "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 1000000,
        "routed_scaling_factor": 1.0, "topk_group": 1, "use_qk_norm": false,
        "vocab_size": 151552})",
               "glm-4.5-air");
    expect_zoo(R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
        "attention_chunk_size": 8192, "head_dim": 128, "hidden_size": 5120,
        "interleave_moe_layer_step": 1, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "max_position_embeddings": 10485760, "no_rope_layers": [], "num_attention_heads": 40,
        "num_experts_per_tok": 1, "num_hidden_layers": 48, "num_key_value_heads": 8,
        "num_local_experts": 16, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 16.0,
        "high_freq_factor": 1.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
        "rope_type": "llama3"}, "rope_theta": 500000.0, "use_qk_norm": true,
        "vocab_size": 202048}})",
               "llama4-scout");
    expect_zoo(R"({"model_type": "llama4_text", "hidden_size": 5120,
        "interleave_moe_layer_step": 2, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "max_position_embeddings": 1048576, "num_attention_heads": 40, "num_hidden_layers": 48,
        "num_local_experts": 128, "rope_scaling": null, "use_qk_norm": false})",
               "llama4-maverick");
    expect_zoo(R"({"model_type": "nemotron", "hidden_act": "relu2", "hidden_size": 6144,
        "intermediate_size": 24576, "max_position_embeddings": 4096, "norm_eps": 1e-05,
        "num_attention_heads": 48, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "partial_rotary_factor": 0.5, "rope_theta": 10000, "vocab_size": 256000})",
               "nemotron4-15b");
    expect_zoo(R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008,
        "max_position_embeddings": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
        "num_key_value_heads": 32, "rms_norm_eps": 1e-06, "rope_theta": 500000,
        "vocab_size": 100352})",
               "olmo2-7b");
    expect_zoo(R"({"model_type": "gpt_neox", "hidden_act": "gelu_fast", "hidden_size": 6144,
        "intermediate_size": 24576, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048,
        "num_attention_heads": 64, "num_hidden_layers": 44, "rotary_emb_base": 10000,
        "rotary_pct": 0.25, "tie_word_embeddings": false, "use_parallel_residual": true,
        "vocab_size": 50432})",
               "gpt-neox-20b");
}

/// The published MPT-7B, without biases, has 6,649,286,656 parameters.
TEST(HuggingFaceFamilies, AnMptHasNoBiasesAndFallingScores) {
    const Architecture mpt = family_config(R"({"model_type": "mpt", "attn_config": {"alibi": true,
        "attn_impl": "torch", "clip_qkv": null, "softmax_scale": null}, "d_model": 4096,
        "expansion_ratio": 4, "max_seq_len": 2048, "n_heads": 32, "n_layers": 32, "no_bias": true,
        "vocab_size": 50432})");
    EXPECT_EQ(parameter_count(mpt), 6'649'286'656);
    EXPECT_TRUE(mpt.layers[0].as<Attention>()->alibi);
    EXPECT_NE(mistakes_of_family(R"({"model_type": "mpt", "attn_config": {"qk_ln": true}})")
                  .find("'qk_ln' are not supported"),
              std::string::npos);
}

/// Every other layer has experts, beside a gated shared one; the published Qwen1.5-MoE-A2.7B has
/// 14,315,784,192 parameters.
TEST(HuggingFaceFamilies, QwensMixturesHaveAGatedSharedExpert) {
    const std::string sizes = R"("model_type": "qwen2_moe", "hidden_size": 2048,
        "intermediate_size": 5632, "max_position_embeddings": 8192, "moe_intermediate_size": 1408,
        "num_attention_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
        "num_hidden_layers": 24, "num_key_value_heads": 16, "rms_norm_eps": 1e-06,
        "rope_theta": 1000000.0, "shared_expert_intermediate_size": 5632, "vocab_size": 151936)";
    EXPECT_EQ(parameter_count(family_config("{" + sizes + "}")), 14'315'784'192);
    const Architecture half = family_config("{" + sizes + R"(, "decoder_sparse_step": 2,
        "mlp_only_layers": [3]})");
    for (int layer = 0; layer < 24; ++layer)
        EXPECT_EQ(half.layers[layer].as<Experts>() != nullptr, layer % 2 == 1 && layer != 3)
            << layer;
    EXPECT_EQ(half.layers[0].as<DenseMlp>()->ffn, 5632);
}

/// Phi-3 mini: 3,821,079,552 parameters; its longer texts have a factor of each angle.
TEST(HuggingFaceFamilies, Phi3HasAFactorOfEachAngle) {
    std::string factors = "1.0";
    for (int i = 1; i < 48; ++i) factors += ", " + std::to_string(i);
    const Architecture phi = family_config(R"({"model_type": "phi3", "hidden_size": 3072,
        "intermediate_size": 8192, "max_position_embeddings": 131072, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_key_value_heads": 32,
        "original_max_position_embeddings": 4096, "rms_norm_eps": 1e-05, "rope_scaling": {
        "long_factor": [)" + factors + R"(], "short_factor": [)" +
                                           factors + R"(], "type": "su"},
        "rope_theta": 10000.0, "sliding_window": 262144, "vocab_size": 32064})");
    EXPECT_EQ(parameter_count(phi), 3'821'079'552);
    const RopeScaling& scaling = *phi.layers[0].as<Attention>()->rope_scaling;
    EXPECT_EQ(scaling.kind, RopeScaling::Kind::Longrope);
    EXPECT_EQ(scaling.factor, 32);
    EXPECT_EQ(scaling.long_factors.size(), 48u);
    EXPECT_EQ(scaling.original_positions, 4096);
}

TEST(HuggingFaceFamilies, EveryKindOfRotaryScalingIsRead) {
    using Kind = RopeScaling::Kind;
    const auto kind = [](const std::string& scaling) {
        return family_config(R"({"model_type": "llama", "rope_scaling": )" + scaling + "}")
            .layers[0]
            .as<Attention>()
            ->rope_scaling->kind;
    };
    EXPECT_EQ(kind(R"({"type": "linear", "factor": 2})"), Kind::Linear);
    EXPECT_EQ(kind(R"({"rope_type": "dynamic", "factor": 2})"), Kind::Dynamic);
    EXPECT_EQ(kind(R"({"rope_type": "llama3", "factor": 8})"), Kind::Llama3);
    EXPECT_EQ(kind(R"({"rope_type": "yarn", "factor": 4})"), Kind::Yarn);
    EXPECT_NE(mistakes_of_family(R"({"model_type": "llama", "rope_scaling": {"type": "longrope",
        "short_factor": [1], "long_factor": [1]}})")
                  .find("1 factors are not one for each of the 64 angles"),
              std::string::npos);
}

TEST(HuggingFaceFamilies, BiasesAreThoseOfTheFile) {
    const auto llama = [](const char* keys) {
        return family_config(std::string(R"({"model_type": "llama", "attention_bias": )") + keys +
                             "}");
    };
    const Architecture attends = llama("true");
    EXPECT_TRUE(attends.layers[0].as<Attention>()->qkv_bias);
    EXPECT_TRUE(attends.layers[0].as<Attention>()->output_bias);
    EXPECT_FALSE(attends.layers[0].as<DenseMlp>()->bias);
    const Architecture feeds = llama("false, \"mlp_bias\": true");
    EXPECT_FALSE(feeds.layers[0].as<Attention>()->qkv_bias);
    EXPECT_TRUE(feeds.layers[0].as<DenseMlp>()->bias);
}

TEST(HuggingFaceFamilies, WindowsOfQwenStandInItsLaterLayers) {
    const Architecture qwen = family_config(R"({"model_type": "qwen2", "hidden_size": 64,
        "max_position_embeddings": 4096, "max_window_layers": 2, "num_attention_heads": 4,
        "num_hidden_layers": 4, "sliding_window": 128, "use_sliding_window": true,
        "vocab_size": 100})");
    for (int layer = 0; layer < 4; ++layer)
        EXPECT_EQ(qwen.layers[layer].as<Attention>()->window.has_value(), layer >= 2);
    EXPECT_NE(mistakes_of_family(R"({"model_type": "gpt_oss", "hidden_size": 64, "head_dim": 16,
        "layer_types": ["linear_attention"], "max_position_embeddings": 4096,
        "num_attention_heads": 8, "num_hidden_layers": 1, "vocab_size": 100})")
                  .find("unknown layer type 'linear_attention'"),
              std::string::npos);
}

/// What changes no figure of a plan is a note; what does is a mistake at its place.
TEST(HuggingFaceFamilies, SayWhatTheyHaveBeyondWhatIsRead) {
    const auto llama = [](const std::string& more) {
        return R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
        "num_hidden_layers": 2, "vocab_size": 100, )" +
               more + "}";
    };
    const std::string plain = llama(R"("residual_multiplier": 1.0, "altup_num_inputs": 0,
        "clip_qkv": null, "bos_token_id": 1)");
    EXPECT_EQ(family_config(plain).source, "config.json");
    EXPECT_EQ(family_config(llama(R"("quantization_config": {"quant_method": "fp8"})")).source,
              "config.json, whose weights are stored quantized ('quantization_config')");
    const std::string mistake = mistakes_of_family(llama("\n  \"residual_multiplier\": 0.22"));
    EXPECT_THAT(
        mistake,
        testing::HasSubstr("config.json:3:26: error: scaled residual branches are not supported"));
}

/// The note at the end of the source, of a Llama with more keys.
std::string note_of(const std::string& more) {
    const std::string source =
        family_config(R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
        "num_hidden_layers": 2, "vocab_size": 100, )" +
                      more + "}")
            .source;
    return source.substr(std::string("config.json").size());
}

TEST(HuggingFaceFamilies, NameEveryKeyThatNoReaderAsksFor) {
    EXPECT_EQ(note_of(R"("attention_dropout": 0.0, "aux_loss_alpha": 0.001, "use_cache": true)"),
              "");
    EXPECT_EQ(note_of(R"("ngram_table": 8)"), ", with 'ngram_table', which is ignored");
    EXPECT_EQ(note_of(R"("a": null, "b": false, "c": {"d": 1})"),
              ", with 'a', 'b' and 'c', which are ignored");
    EXPECT_EQ(note_of(R"("attention_dropout": 0.1)"),
              ", with 'attention_dropout', which is ignored");
    EXPECT_EQ(note_of(R"("rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                         "sections": [1, 2]})"),
              ", with 'sections', which is ignored in 'rope_parameters'");
    EXPECT_EQ(note_of("\"" + std::string(100, 'k') + "\\u0007\": 1"),
              ", with '" + std::string(60, 'k') + "...', which is ignored");
    EXPECT_EQ(note_of(R"("bell\u0007": 1)"), ", with 'bell?', which is ignored");
    std::string many = R"("key0": 0)";
    for (int i = 1; i < 30; ++i) many += fmt::format(R"(, "key{}": 0)", i);
    EXPECT_THAT(note_of(many), testing::EndsWith("'key23' and 6 more, which are ignored"));
}

TEST(HuggingFaceFamilies, LocateWhatCannotBe) {
    const auto mistake = [](const std::string& more) {
        return mistakes_of_family(R"({"model_type": "mistral", "hidden_size": 64,
"num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100, "num_key_value_heads": 2,
"max_position_embeddings": 512,
)" + more + "}");
    };
    EXPECT_THAT(mistake(R"("sliding_window": 0)"),
                testing::HasSubstr("config.json:4:19: error: 'sliding_window'"));
    EXPECT_THAT(mistake(R"("rope_scaling": {"rope_type": "spiral", "factor": 2})"),
                testing::HasSubstr("config.json:4:31: error: unknown rotary positions 'spiral'"));
    EXPECT_THAT(mistake(R"("head_dim": 16, "num_key_value_heads": 3)"),
                testing::HasSubstr("config.json:"));
    EXPECT_THAT(
        mistakes_of_family(R"({"model_type": "llama", "hidden_size": 64,
"num_attention_heads": 5, "num_hidden_layers": 2, "vocab_size": 100})"),
        testing::HasSubstr("config.json:2:24: error: 5 heads do not divide the hidden size"));
}

/// Nothing is left over of what transformers writes of the families that are read.
TEST(HuggingFaceFamilies, ReadEveryKeyThatTheirClassesWrite) {
    int files = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(
             source_folder() / "tests/exec/goldens/hugging_face")) {
        if (file.path().filename() != "config.json") continue;
        EXPECT_THAT(read_model(file.path().string()).source,
                    testing::Not(testing::HasSubstr("not read")));
        ++files;
    }
    EXPECT_GE(files, 25);
}

TEST(HuggingFaceFamilies, AreChangedByTheKeysOfAModelThatBuildsOnThem) {
    const exec::ScratchFolder folder;
    write_file(folder.path() / "config.json", R"({"model_type": "glm4_moe", "hidden_size": 64,
        "head_dim": 16, "intermediate_size": 96, "max_position_embeddings": 512,
        "moe_intermediate_size": 32, "n_routed_experts": 8, "n_shared_experts": 1,
        "norm_topk_prob": true, "num_attention_heads": 4, "num_experts_per_tok": 2,
        "num_hidden_layers": 6, "num_key_value_heads": 4, "num_nextn_predict_layers": 1,
        "vocab_size": 256})");
    const auto with = [&](const std::string& keys) {
        write_file(folder.path() / "model.yaml",
                   "base: " + (folder.path() / "config.json").string() + "\n" + keys);
        return read_model((folder.path() / "model.yaml").string());
    };
    const Architecture whole = with("");
    EXPECT_THAT(whole.source,
                testing::HasSubstr("without multi-token prediction ('mtp_layers: 1' enables it)"));
    const Architecture changed =
        with("layers: 2\nkv_heads: 2\nvocab: 512\nmax_positions: 128\nexperts: 4\nmtp_layers: 1\n");
    EXPECT_EQ(changed.layers.count(), 2);
    EXPECT_EQ(changed.vocab, 512);
    EXPECT_EQ(changed.max_positions, 128);
    EXPECT_EQ(changed.mtp_layers, 1);
    EXPECT_EQ(changed.layers[1].as<Experts>()->count, 4);
    EXPECT_EQ(changed.layers[0].as<Attention>()->kv_heads, 2);
    EXPECT_EQ(changed.layers[0].as<Experts>(), nullptr);
    EXPECT_THROW(with("layers: 7\n"), InputError);
    EXPECT_THROW(with("kv_heads: 3\n"), InputError);
}

/// The same keys change a network of the zoo.
TEST(HuggingFaceFamilies, ChangeAsTheZooDoes) {
    const exec::ScratchFolder folder;
    write_file(folder.path() / "model.yaml",
               "base: gpt-oss-20b\nlayers: 4\nkv_heads: 16\nvocab: 1024\nmax_positions: 256\n"
               "experts: 8\nmtp_layers: 2\n");
    const Architecture changed = read_model((folder.path() / "model.yaml").string());
    EXPECT_EQ(changed.layers.count(), 4);
    EXPECT_EQ(changed.layers[3].as<Attention>()->kv_heads, 16);
    EXPECT_EQ(changed.layers[3].as<Experts>()->count, 8);
    EXPECT_EQ(changed.vocab, 1024);
    EXPECT_EQ(changed.mtp_layers, 2);
}

}  // namespace
}  // namespace debubble::models

#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/graph.h"
#include "models/hf_config_reader.h"
#include "models/hf_config_writer.h"
#include "text/json_document_reader.h"

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
    EXPECT_NE(mistakes_of(R"({"model_type": "mixtral", "sliding_window": 4096})")
                  .find("attention to the last 4096 of 131072 tokens is not supported"),
              std::string::npos);
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
    EXPECT_NE(mistakes_of(start + R"({"rope_type": "llama3"}})").find("of type 'llama3' are not"),
              std::string::npos);
}

TEST(HuggingFaceConfig, WhatIsWrittenIsReadAsTheSameNetwork) {
    for (const char* name : {"gpt2", "gpt2-xl", "llama2-70b", "llama3-8b", "vit-large"}) {
        const Architecture network = read_model(name);
        Architecture again = config(hf_config(network));
        if (network.family == Family::Llama) again.dropout = network.dropout;  // is not read
        expect_same_network(again, network);
    }
}

TEST(HuggingFaceConfig, RefusesWhatIsNotBuiltAndWhatCannotBe) {
    EXPECT_EQ(mistakes_of("{\"model_type\": \"gpt3\"}"),
              "config.json:1:16: error: unknown model_type 'gpt3'; did you mean 'gpt2'?\n"
              "  {\"model_type\": \"gpt3\"}\n                 ^\n");
    EXPECT_EQ(mistakes_of("{\"model_type\": \"gpt2\",\n \"n_head\": 7}"),
              "config.json:2:12: error: 7 heads do not divide the width of 768\n"
              "   \"n_head\": 7}\n             ^\n");
    EXPECT_EQ(mistakes_of("{\"model_type\": \"gpt2\",\n \"n_layer\": 99999999999999999999}"),
              "config.json:2:13: error: 'n_layer' must be at most 10000, not "
              "'99999999999999999999'\n   \"n_layer\": 99999999999999999999}\n              ^\n");
    EXPECT_NE(mistakes_of("{\"model_type\": \"llama\", \"rope_scaling\": {\"factor\": 8}}")
                  .find("scaled rotary positions are not supported"),
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

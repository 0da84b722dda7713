#include "models/hf_config_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "models/layer_keys.h"

namespace debubble::models {
namespace {

using Json = nlohmann::ordered_json;

/// The properties that a class of transformers requires and the network lacks.
struct Demands {
    std::vector<std::string> broken;

    void must(bool holds, const char* what) {
        if (!holds) broken.emplace_back(what);
    }
    void refuse(const Architecture& a, const char* class_name) const {
        if (broken.empty()) return;
        throw InputError(fmt::format("'{}' cannot be exported as {}, which needs {}", a.name,
                                     class_name, fmt::join(broken, ", ")));
    }
};

/// The demands that GPT-2 and ViT share.
Demands of_the_first_transformers(const Architecture& a) {
    const LayerKeys layer = keys_of(a.layers[0]);
    Demands demands;
    demands.must(a.layers.kinds().size() == 1, "layers that are alike");
    demands.must(a.norm == Norm::LayerNorm, "LayerNorm");
    demands.must(!is_gated(layer.activation), "an MLP without gates");
    demands.must(a.learned_positions, "learned positions");
    demands.must(layer.linear_bias, "biases");
    demands.must(layer.kv_heads == layer.heads, "as many key-value heads as heads");
    demands.must(layer.heads * layer.head_dim == a.hidden, "heads that make up the width");
    return demands;
}

std::string_view activation_word(Activation activation) {
    switch (activation) {
        case Activation::Gelu: return "gelu";
        case Activation::GeluTanh: return "gelu_new";
        case Activation::Relu: return "relu";
        case Activation::Swiglu: return "silu";
        case Activation::SquaredRelu: return "relu2";
        case Activation::Geglu: return "gelu";
        case Activation::GegluTanh: return "gelu_pytorch_tanh";
        case Activation::ClampedSwiglu: break;
    }
    return {};
}

Json start(const char* class_name, const char* type) {
    return {{"architectures", Json::array({class_name})}, {"model_type", type}};
}

Json gpt2(const Architecture& a) {
    const LayerKeys layer = keys_of(a.layers[0]);
    constexpr const char* kClass = "GPT2LMHeadModel";
    Demands demands = of_the_first_transformers(a);
    demands.must(a.causal, "causal attention");
    demands.refuse(a, kClass);
    Json json = start(kClass, "gpt2");
    json["activation_function"] = activation_word(layer.activation);
    for (const char* key : {"attn_pdrop", "embd_pdrop", "resid_pdrop"}) json[key] = a.dropout;
    // The id of GPT-2's <|endoftext|>, unless the vocabulary is another one.
    constexpr std::int64_t kEndOfText = 50256;
    for (const char* key : {"bos_token_id", "eos_token_id"})
        json[key] = a.vocab > kEndOfText ? Json(kEndOfText) : Json(nullptr);
    json["layer_norm_epsilon"] = a.norm_eps;
    json["n_embd"] = a.hidden;
    json["n_head"] = layer.heads;
    json["n_inner"] = layer.ffn == 4 * a.hidden ? Json(nullptr) : Json(layer.ffn);
    json["n_layer"] = a.layers.count();
    json["n_positions"] = a.max_positions;
    json["tie_word_embeddings"] = a.tied_embedding;
    json["vocab_size"] = a.vocab;
    return json;
}

/// Llama, or with experts Mixtral.
Json llama(const Architecture& a) {
    const LayerKeys layer = keys_of(a.layers[0]);
    const bool experts = layer.experts > 0;
    const char* const class_name = experts ? "MixtralForCausalLM" : "LlamaForCausalLM";
    Demands demands;
    demands.must(a.layers.kinds().size() == 1, "layers that are alike");
    demands.must(a.norm == Norm::RmsNorm, "RMSNorm");
    demands.must(is_gated(layer.activation), "SwiGLU");
    demands.must(layer.rotary, "rotary positions");
    demands.must(!layer.linear_bias, "no biases");
    demands.must(a.causal, "causal attention");
    demands.refuse(a, class_name);
    Json json = start(class_name, experts ? "mixtral" : "llama");
    if (!experts) json["attention_bias"] = false;
    json["attention_dropout"] = a.dropout;
    json["head_dim"] = layer.head_dim;
    json["hidden_act"] = activation_word(layer.activation);
    json["hidden_size"] = a.hidden;
    json["intermediate_size"] = layer.ffn;
    json["max_position_embeddings"] = a.max_positions;
    if (!experts) json["mlp_bias"] = false;
    json["num_attention_heads"] = layer.heads;
    if (experts) json["num_experts_per_tok"] = layer.experts_per_token;
    json["num_hidden_layers"] = a.layers.count();
    json["num_key_value_heads"] = layer.kv_heads;
    if (experts) json["num_local_experts"] = layer.experts;
    json["rms_norm_eps"] = a.norm_eps;
    if (!experts) json["rope_scaling"] = nullptr;
    json["rope_theta"] = layer.rope_theta;
    if (experts) json["sliding_window"] = nullptr;
    json["tie_word_embeddings"] = a.tied_embedding;
    json["vocab_size"] = a.vocab;
    return json;
}

Json vit(const Architecture& a) {
    const LayerKeys layer = keys_of(a.layers[0]);
    constexpr const char* kClass = "ViTForImageClassification";
    Demands demands = of_the_first_transformers(a);
    demands.must(!a.causal, "attention without a mask");
    demands.must(!a.tied_embedding, "a classifier of its own");
    demands.refuse(a, kClass);
    Json json = start(kClass, "vit");
    for (const char* key : {"attention_probs_dropout_prob", "hidden_dropout_prob"})
        json[key] = a.dropout;
    json["hidden_act"] = activation_word(layer.activation);
    json["hidden_size"] = a.hidden;
    for (std::int64_t i = 0; i < a.vocab; ++i) {
        json["id2label"][std::to_string(i)] = fmt::format("LABEL_{}", i);
        json["label2id"][fmt::format("LABEL_{}", i)] = i;
    }
    json["image_size"] = a.image_size.value_or(224);
    json["intermediate_size"] = layer.ffn;
    json["layer_norm_eps"] = a.norm_eps;
    json["num_attention_heads"] = layer.heads;
    json["num_channels"] = a.channels.value_or(3);
    json["num_hidden_layers"] = a.layers.count();
    json["patch_size"] = a.patch_size.value_or(16);
    json["qkv_bias"] = true;
    return json;
}

}  // namespace

std::string hf_config(const Architecture& a, std::string_view torch_type) {
    const auto text = [&](Json json) {
        json["torch_dtype"] = torch_type;
        return json.dump(2) + "\n";
    };
    switch (a.family) {
        case Family::Gpt2: return text(gpt2(a));
        case Family::Llama: return text(llama(a));
        case Family::Deepseek:
            throw InputError(fmt::format(
                "'{}' cannot be exported: networks of the family deepseek are planned only",
                a.name));
        case Family::Vit: return text(vit(a));
    }
    return {};
}

}  // namespace debubble::models

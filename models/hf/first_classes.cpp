#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "models/hf/classes.h"

/// Configurations of the first transformers, GPT-2 and ViT, whose classes build fewer networks than
/// their families have.
namespace debubble::models {
namespace {

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
    demands.must(a.layers.kinds().size() == 1, "identical layers");
    demands.must(a.norm == Norm::LayerNorm, "LayerNorm");
    demands.must(!is_gated(layer.activation), "an MLP without a gate");
    demands.must(a.learned_positions, "learned positions");
    demands.must(layer.linear_bias, "biases");
    demands.must(layer.kv_heads == layer.heads, "as many key-value heads as heads");
    demands.must(layer.heads * layer.head_dim == a.hidden,
                 "heads that together have the hidden size");
    return demands;
}

}  // namespace

HfJson gpt2_config(const Architecture& a) {
    const LayerKeys layer = keys_of(a.layers[0]);
    constexpr const char* kClass = "GPT2LMHeadModel";
    Demands demands = of_the_first_transformers(a);
    demands.must(a.causal, "causal attention");
    demands.refuse(a, kClass);
    HfJson json;
    json["activation_function"] = hf_activation(layer.activation);
    for (const char* key : {"attn_pdrop", "embd_pdrop", "resid_pdrop"}) json[key] = a.dropout;
    // The id of GPT-2's <|endoftext|>, unless the vocabulary is another one.
    constexpr std::int64_t kEndOfText = 50256;
    for (const char* key : {"bos_token_id", "eos_token_id"})
        json[key] = a.vocab > kEndOfText ? HfJson(kEndOfText) : HfJson(nullptr);
    json["layer_norm_epsilon"] = a.norm_eps;
    json["n_embd"] = a.hidden;
    json["n_head"] = layer.heads;
    json["n_inner"] = layer.ffn == 4 * a.hidden ? HfJson(nullptr) : HfJson(layer.ffn);
    json["n_layer"] = a.layers.count();
    json["n_positions"] = a.max_positions;
    json["tie_word_embeddings"] = a.tied_embedding;
    json["vocab_size"] = a.vocab;
    return json;
}

HfJson vit_config(const Architecture& a) {
    const LayerKeys layer = keys_of(a.layers[0]);
    constexpr const char* kClass = "ViTForImageClassification";
    Demands demands = of_the_first_transformers(a);
    demands.must(!a.causal, "attention without a causal mask");
    demands.must(!a.tied_embedding, "an untied classifier");
    demands.refuse(a, kClass);
    HfJson json;
    for (const char* key : {"attention_probs_dropout_prob", "hidden_dropout_prob"})
        json[key] = a.dropout;
    json["hidden_act"] = hf_activation(layer.activation);
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

}  // namespace debubble::models

#include "models/hf/classes.h"

namespace debubble::models {

std::span<const HfClass> hf_classes(Family family) {
    static constexpr HfClass kGpt2[] = {{"GPT2LMHeadModel", "gpt2", gpt2_config}};
    static constexpr HfClass kLlama[] = {{"LlamaForCausalLM", "llama", llama_config},
                                         {"MixtralForCausalLM", "mixtral", mixtral_config},
                                         {"MistralForCausalLM", "mistral", mistral_config},
                                         {"Qwen2ForCausalLM", "qwen2", qwen2_config},
                                         {"Gemma2ForCausalLM", "gemma2", gemma2_config},
                                         {"Gemma3ForCausalLM", "gemma3_text", gemma3_config},
                                         {"Olmo2ForCausalLM", "olmo2", olmo2_config},
                                         {"NemotronForCausalLM", "nemotron", nemotron_config}};
    static constexpr HfClass kDeepseek[] = {
        {"Qwen3ForCausalLM", "qwen3", qwen3_config},
        {"Qwen3MoeForCausalLM", "qwen3_moe", qwen3_moe_config},
        {"DeepseekV3ForCausalLM", "deepseek_v3", deepseek_v3_config},
        {"DeepseekV2ForCausalLM", "deepseek_v2", deepseek_v2_config},
        {"Glm4MoeForCausalLM", "glm4_moe", glm4_moe_config}};
    static constexpr HfClass kGptNeox[] = {{"GPTNeoXForCausalLM", "gpt_neox", gpt_neox_config}};
    static constexpr HfClass kGptOss[] = {{"GptOssForCausalLM", "gpt_oss", gpt_oss_config}};
    static constexpr HfClass kPhi3[] = {{"Phi3ForCausalLM", "phi3", phi3_config}};
    static constexpr HfClass kMpt[] = {{"MptForCausalLM", "mpt", mpt_config}};
    static constexpr HfClass kLlama4[] = {{"Llama4ForCausalLM", "llama4_text", llama4_config}};
    static constexpr HfClass kQwen3Next[] = {
        {"Qwen2MoeForCausalLM", "qwen2_moe", qwen2_moe_config},
        {"Qwen3NextForCausalLM", "qwen3_next", qwen3_next_config}};
    static constexpr HfClass kVit[] = {{"ViTForImageClassification", "vit", vit_config}};
    switch (family) {
        case Family::Gpt2: return kGpt2;
        case Family::GptNeox: return kGptNeox;
        case Family::Llama: return kLlama;
        case Family::Phi3: return kPhi3;
        case Family::Deepseek: return kDeepseek;
        case Family::GptOss: return kGptOss;
        case Family::Mpt: return kMpt;
        case Family::Llama4: return kLlama4;
        case Family::Qwen3Next: return kQwen3Next;
        case Family::Planned:
        case Family::NemotronH: break;  // planned only
        case Family::Vit: return kVit;
    }
    return {};
}

std::string_view hf_activation(Activation activation) {
    switch (activation) {
        case Activation::Gelu: return "gelu";
        case Activation::GeluTanh: return "gelu_new";
        case Activation::Relu: return "relu";
        case Activation::Swiglu: return "silu";
        case Activation::SquaredRelu: return "relu2";
        case Activation::Geglu: return "gelu";
        case Activation::GegluTanh: return "gelu_pytorch_tanh";
        case Activation::Xielu:
        case Activation::Situ:
        case Activation::ClampedSwiglu: break;
    }
    return {};
}

LayerKeys hf_layer(const Architecture& a) {
    for (const Layer& layer : a.layers.kinds())
        if (layer.as<Experts>() != nullptr) return keys_of(layer);
    return keys_of(a.layers[0]);
}

void add_sizes(HfJson& json, const Architecture& a) {
    const LayerKeys layer = hf_layer(a);
    json["hidden_size"] = a.hidden;
    json["max_position_embeddings"] = a.max_positions;
    json["num_attention_heads"] = layer.heads;
    json["num_hidden_layers"] = a.layers.count();
    json["num_key_value_heads"] = layer.kv_heads;
    json["tie_word_embeddings"] = a.tied_embedding;
    json["vocab_size"] = a.vocab;
}

void add_rope(HfJson& json, const LayerKeys& layer) {
    json["rope_scaling"] = nullptr;
    json["rope_theta"] = layer.rope_theta;
    if (!layer.rope_scaling) return;
    const RopeScaling& scaling = *layer.rope_scaling;
    HfJson& map = json["rope_scaling"] = HfJson::object();
    map["factor"] = scaling.factor;
    const auto original = [&] {
        map["original_max_position_embeddings"] = scaling.original_positions;
    };
    switch (scaling.kind) {
        case RopeScaling::Kind::Linear: map["rope_type"] = "linear"; break;
        case RopeScaling::Kind::Dynamic:
            map["rope_type"] = "dynamic";
            original();
            break;
        case RopeScaling::Kind::Llama3:
            map["rope_type"] = "llama3";
            original();
            map["low_freq_factor"] = scaling.low_frequency_factor;
            map["high_freq_factor"] = scaling.high_frequency_factor;
            break;
        case RopeScaling::Kind::Yarn:
            map["rope_type"] = "yarn";
            original();
            map["beta_fast"] = scaling.beta_fast;
            map["beta_slow"] = scaling.beta_slow;
            if (scaling.mscale) map["mscale"] = map["mscale_all_dim"] = *scaling.mscale;
            if (!scaling.truncate) map["truncate"] = false;
            break;
        case RopeScaling::Kind::Longrope:
            map["rope_type"] = "longrope";
            original();
            map["short_factor"] = scaling.short_factors;
            map["long_factor"] = scaling.long_factors;
            break;
    }
}

void add_windows(HfJson& json, const Architecture& a) {
    const auto window = [](const Attention& attention) { return attention.window.value_or(0); };
    const std::int64_t widest = a.layers.most<Attention>(window);
    json["sliding_window"] = widest > 0 ? HfJson(widest) : HfJson(nullptr);
    if (widest == 0) return;
    for (int i = 0; i < a.layers.count(); ++i)
        json["layer_types"].push_back(keys_of(a.layers[i]).window ? "sliding_attention"
                                                                  : "full_attention");
}

}  // namespace debubble::models

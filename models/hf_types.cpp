#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/spelling.h"
#include "models/hf_config.h"

/// The names by which config.json calls kinds of networks (`model_type`), each with its reader. A
/// network that also sees or hears names its text model in a map inside, often by another word.
namespace debubble::models {
namespace {

constexpr HfType kTypes[] = {{"gpt2", read_gpt2},
                             {"gpt_neox", read_gpt_neox},
                             {"mpt", read_mpt},
                             {"llama", read_llama},
                             {"mistral", read_mistral},
                             {"mixtral", read_mixtral},
                             {"qwen2", read_qwen2},
                             {"qwen2_moe", read_qwen2_moe},
                             {"qwen3", read_qwen3},
                             {"qwen3_moe", read_qwen3_moe},
                             {"qwen3_next", read_qwen3_next},
                             {"nemotron_h", read_nemotron_h},
                             {"deepseek_v2", read_deepseek_v2},
                             {"deepseek_v3", read_deepseek_v3},
                             {"kimi_k2", read_deepseek_v3},
                             {"glm4_moe", read_glm4_moe},
                             {"gemma2", read_gemma2},
                             {"gemma3_text", read_gemma3},
                             {"gemma3", read_gemma3},
                             {"gpt_oss", read_gpt_oss},
                             {"llama4_text", read_llama4},
                             {"llama4", read_llama4},
                             {"nemotron", read_nemotron},
                             {"phi3", read_phi3},
                             {"olmo2", read_olmo2},
                             {"kimi_k25", read_deepseek_v3},
                             {"gemma", read_gemma},
                             {"seed_oss", read_seed_oss},
                             {"smollm3", read_smollm3},
                             {"internlm3", read_internlm3},
                             {"mimo", read_mimo},
                             {"olmo3", read_olmo3},
                             {"olmoe", read_olmoe},
                             {"ministral", read_mistral},
                             {"ministral3", read_mistral},
                             {"mistral3", read_mistral},
                             {"qwen2_vl", read_qwen2},
                             {"qwen2_vl_text", read_qwen2},
                             {"qwen2_5_vl", read_qwen2},
                             {"qwen2_5_vl_text", read_qwen2},
                             {"qwen3_vl", read_qwen3},
                             {"qwen3_vl_text", read_qwen3},
                             {"qwen3_vl_moe", read_qwen3_moe},
                             {"qwen3_vl_moe_text", read_qwen3_moe},
                             {"qwen3_5", read_qwen3_5},
                             {"qwen3_5_text", read_qwen3_5},
                             {"qwen3_5_moe", read_qwen3_5_moe},
                             {"qwen3_5_moe_text", read_qwen3_5_moe},
                             {"dots1", read_dots1},
                             {"minimax_m2", read_minimax_m2},
                             {"ernie4_5", read_ernie4_5},
                             {"ernie4_5_moe", read_ernie4_5_moe},
                             {"hunyuan_v1_dense", read_hunyuan_dense},
                             {"hunyuan_v1_moe", read_hunyuan_moe},
                             {"glm", read_glm},
                             {"glm4", read_glm4},
                             {"glm4v_text", read_glm4},
                             {"glm4v_moe_text", read_glm4v_moe},
                             {"glm4_moe_lite", read_glm4_moe_lite},
                             {"exaone4", read_exaone4},
                             {"arcee", read_arcee},
                             {"granite", read_granite},
                             {"mimo_v2_flash", read_mimo_v2},
                             {"mimo_v2", read_mimo_v2},
                             {"step3p5", read_step3},
                             {"step3p7", read_step3},
                             {"step3p7_text", read_step3},
                             {"gemma4", read_gemma4},
                             {"gemma4_text", read_gemma4},
                             {"nemotron-nas", read_searched},
                             {"deepseek_v32", read_deepseek_v32},
                             {"glm_moe_dsa", read_deepseek_v32},
                             {"minimax_m3", read_minimax_m3},
                             {"minimax_m3_vl", read_minimax_m3},
                             {"minimax_m3_vl_text", read_minimax_m3},
                             {"deepseek_v4", read_deepseek_v4},
                             {"deepseek_ref", read_deepseek_v4},
                             {"kimi_linear", read_kimi_linear},
                             {"kimi_k3", read_kimi_linear},
                             {"granitemoehybrid", read_granite_hybrid},
                             {"cwm", read_cwm},
                             {"exaone", read_exaone},
                             {"helium", read_exaone},
                             {"iquestcoder", read_exaone},
                             {"hyperclovax", read_hyperclovax},
                             {"jais2", read_jais2},
                             {"starcoder2", read_starcoder2},
                             {"stablelm", read_stablelm},
                             {"apertus", read_apertus},
                             {"youtu", read_youtu},
                             {"mistral4", read_mistral4},
                             {"solar_open", read_solar_open},
                             {"exaone_moe", read_exaone_moe},
                             {"hy_v3", read_hy_v3},
                             {"flex_olmo", read_flex_olmo},
                             {"laguna", read_laguna},
                             {"mellum", read_mellum},
                             {"afmoe", read_afmoe},
                             {"granitemoe", read_granite_moe},
                             {"granitemoeshared", read_granite_moe},
                             {"sarvam_moe", read_sarvam_moe},
                             {"sarvam_mla", read_sarvam_mla},
                             {"vit", read_vit}};

}  // namespace

std::span<const HfType> hf_types() {
    return kTypes;
}

const HfType* hf_type(std::string_view name) {
    const auto* found = std::ranges::find(kTypes, name, &HfType::name);
    return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace debubble::models

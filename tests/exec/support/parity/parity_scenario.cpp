#include <map>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "base/file.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/csv/csv.h"
#include "schedule/generators/generators.h"
#include "tests/exec/support/parity/parity_job.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/schedule/with_offload.h"

namespace debubble::exec::parity {
namespace {

const std::map<std::string, std::string> kModels{
    {"gpt2",
     "{name: tiny, family: gpt2, layers: 8, hidden: 16, heads: 4, vocab: 27, "
     "max_positions: 8, dropout: 0}"},
    {"gpt2-dropout",
     "{name: tiny, family: gpt2, layers: 8, hidden: 16, heads: 4, vocab: 27, "
     "max_positions: 8, dropout: 0.2}"},
    {"gpt2-wide",
     "{name: wide, family: gpt2, layers: 8, hidden: 64, heads: 4, vocab: 203, "
     "max_positions: 64, dropout: 0}"},
    {"llama-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64}"},
    {"llama-vocabulary",
     "{name: wide, family: llama, layers: 4, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 3001, max_positions: 64}"},
    {"llama",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8}"},
    // Kinds of attention and MLPs that have no parameters of their own, or of their heads alone.
    {"heads",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, head_dim: 6, "
     "ffn: 24, vocab: 22, max_positions: 8, scaled_embedding: true, qkv_bias: true, "
     "qk_norm: heads, layer_groups: [{count: 2, pattern: [{window: 3, rope_theta: 100}, "
     "{chunk: 3, positions: none, query_temperature: {floor: 2, scale: 0.5}}, "
     "{head_dim: 8, rotary_dim: 4, activation: geglu_tanh, score_softcap: 2, "
     "rope_scaling: {type: llama3, factor: 4, original_positions: 8}}, "
     "{qk_norm: none, activation: squared_relu, "
     "rope_scaling: {type: yarn, factor: 4, original_positions: 8}}]}]}"},
    // Norms and parts at other places, and what caps scores and logits or takes part in a softmax.
    {"places",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, head_dim: 6, "
     "ffn: 24, vocab: 22, max_positions: 8, logit_softcap: 3, zero_centred_norms: true, "
     "layer_groups: "
     "[{count: 2, pattern: [{sinks: true, window: 3}, {norm_position: both}, "
     "{norm_position: after, qk_norm: width}, {parallel_residual: true, qk_norm: l2}]}]}"},
    {"heads-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, qkv_bias: true, qk_norm: heads, window: 17, rotary_dim: 8, "
     "activation: geglu}"},
    {"sinks-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, sinks: true, window: 17}"},
    {"norms-both-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, norm_position: both}"},
    {"norms-after-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, norm_position: after, qk_norm: width}"},
    {"parallel-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, parallel_residual: true, qk_norm: l2}"},
    {"latent-wide",
     "{name: wide, family: deepseek, layers: 8, hidden: 64, heads: 4, ffn: 160, vocab: 203, "
     "max_positions: 64, latent_attention: {query_rank: 24, key_rank: 16, head_dim: 16, "
     "rope_dim: 8, value_dim: 12}}"},
    {"latent",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, ffn: 24, vocab: 22, "
     "max_positions: 8, rope_scaling: {type: yarn, factor: 4, original_positions: 8, mscale: 1}, "
     "latent_attention: {query_rank: 6, key_rank: 5, head_dim: 4, rope_dim: 2, value_dim: 3}, "
     "layer_groups: [{count: 4}, {count: 4, latent_attention: "
     "{key_rank: 6, head_dim: 2, rope_dim: 4, value_dim: 5}}]}"},
    {"mixtral",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2}"},
    {"mixtral-odd",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8, experts: 5, experts_per_token: 3}"},
    {"mixtral-many",
     "{name: wide, family: llama, layers: 8, hidden: 32, heads: 4, kv_heads: 2, ffn: 16, "
     "vocab: 203, max_positions: 64, experts: 128, experts_per_token: 2}"},
    {"mixtral-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 96, "
     "vocab: 203, max_positions: 64, experts: 4, experts_per_token: 2}"},
    // A dense layer of another width first, then experts beside which every token has one more.
    {"shared-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, shared_ffn: 20, "
     "layer_groups: [{count: 1, experts: 0, ffn: 40}, {count: 7}]}"},
    {"shared-experts-wide",
     "{name: wide, family: deepseek, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 48, "
     "vocab: 203, max_positions: 64, experts: 4, experts_per_token: 2, shared_ffn: 80, "
     "layer_groups: [{count: 2, experts: 0, ffn: 160}, {count: 6}]}"},
    // DeepSeek-V3's router: sigmoids, groups, a correction of the choice.
    {"sigmoid-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 8, experts_per_token: 2, shared_ffn: 20, "
     "router: sigmoid, router_groups: 4, router_groups_chosen: 2, router_scaling: 2.5, "
     "router_bias_correction: true, router_dtype: fp32, "
     "layer_groups: [{count: 1, experts: 0, ffn: 40}, {count: 7}]}"},
    {"sigmoid-experts-wide",
     "{name: wide, family: deepseek, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 48, "
     "vocab: 203, max_positions: 64, experts: 8, experts_per_token: 2, shared_ffn: 80, "
     "router: sigmoid, router_groups: 4, router_groups_chosen: 2, router_scaling: 2.5, "
     "router_bias_correction: true, router_dtype: fp32, "
     "layer_groups: [{count: 1, experts: 0, ffn: 160}, {count: 7}]}"},
    // Qwen3-Next's experts beside common attention.
    {"gated-shared-experts",
     "{name: tiny, family: qwen3_next, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 6, experts_per_token: 3, shared_ffn: 12, "
     "shared_gate: true}"},
    // Qwen3-Next's attention, MPT's, and Llama 4's experts and layers without positions.
    {"gated-attention",
     "{name: tiny, family: qwen3_next, layers: 8, hidden: 16, heads: 4, kv_heads: 2, head_dim: 6, "
     "ffn: 24, vocab: 22, max_positions: 8, qk_norm: heads, rotary_dim: 4, output_gate: true}"},
    {"gated-attention-wide",
     "{name: wide, family: qwen3_next, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, qk_norm: heads, rotary_dim: 8, output_gate: true}"},
    {"alibi",
     "{name: tiny, family: mpt, layers: 8, hidden: 24, heads: 6, vocab: 27, max_positions: 8, "
     "dropout: 0, activation: gelu, positions: alibi, linear_bias: false, norm_bias: false}"},
    {"weighed-experts",
     "{name: tiny, family: llama4, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, shared_ffn: 12, "
     "router: sigmoid, router_renormalises: false, weighs_experts_input: true, layer_groups: "
     "[{count: 4, pattern: [{qk_norm: l2, chunk: 5}, {positions: none, query_temperature: "
     "{floor: 2, scale: 0.5}}]}]}"},
    {"weighed-experts-wide",
     "{name: wide, family: llama4, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 48, "
     "vocab: 203, max_positions: 64, experts: 4, experts_per_token: 2, shared_ffn: 80, "
     "router: sigmoid, router_renormalises: false, weighs_experts_input: true}"},
    // Experts that are not gated, and gpt-oss's gates and biases.
    {"squared-relu-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, shared_ffn: 20, "
     "activation: squared_relu}"},
    {"clamped-experts",
     "{name: tiny, family: gpt_oss, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, activation: clamped_swiglu, "
     "linear_bias: true, router_bias: true}"},
    // DeepSeek-V2's: the softmax of all logits, groups by their best expert.
    {"pre-softmax-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 6, experts_per_token: 2, shared_ffn: 20, "
     "router: pre_softmax, router_groups: 3, router_groups_chosen: 2, router_scaling: 4}"},
    // Multi-token prediction beside experts, and beside one table of embeddings and head.
    {"predicting-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, shared_ffn: 20, "
     "mtp_layers: 2, layer_groups: [{count: 1, experts: 0, ffn: 40}, {count: 7}]}"},
    {"predicting",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8, tied_embedding: true, mtp_layers: 2}"},
    {"predicting-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, mtp_layers: 2}"},
    {"predicting-untied",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8, scaled_embedding: true, logit_softcap: 3, mtp_layers: 1}"},
    {"vit",
     "{name: tiny, family: vit, layers: 8, hidden: 16, heads: 4, vocab: 5, image_size: 4, "
     "patch_size: 2}"}};

scenarios::Scenario read(const Case& c, const char* precision, const std::string& schedule) {
    return scenarios::parse_scenario(
        fmt::format(R"(
model: {}
cluster: dgx-a100-40gb
parallel: {}
schedule: {}
framework:
  {{base: debubble, library_workspace: 0 B, allocator: exact, vocabulary_multiple: {}{}}}
training:
  global_batch: {}
  micro_batch: {}
  seq_length: {}
  precision: {}
  seed: 5
  optimizer: {}
  {}
)",
                    kModels.at(c.model), c.parallel, schedule, c.vocabulary_multiple, c.framework,
                    c.micro_batches * c.micro_batch, c.micro_batch,
                    c.model == "vit" ? 5 : c.seq_length, precision, c.optimizer, c.training),
        "parity.yaml");
}

/// The text of the case's schedule with OFFLOAD and RELOAD, written to a file once.
std::string offloading_schedule(const Case& c) {
    static const ScratchFolder folder;
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    const std::lock_guard lock(mutex);
    std::string& text = known[fmt::format("{} {} {}", c.model, c.parallel, c.schedule)];
    if (!text.empty()) return text;
    const scenarios::Scenario whole = read(c, "fp32", c.schedule);
    const auto file = folder.path() / fmt::format("{}.csv", known.size());
    write_file(file, write_csv(with_offload(scenarios::make_plan(whole).program)));
    const Generator* generator = find_generator(whole.schedule.name);
    text = fmt::format("{{csv: {}, placement: {}, stages_per_rank: {}, slices: {}}}", file.string(),
                       generator->stages_per_rank == 2 ? "v" : "loop",
                       whole.parallel.stages_per_rank, whole.schedule.slices);
    return text;
}

}  // namespace

Case offloaded(Case c) {
    c.offloads = true;
    return c;
}

/// Megatron-Core refuses pairs of experts in fp32, in which trainings are compared here.
scenarios::Scenario scenario_of(const Case& c) {
    if (c.offloads) return read(c, "fp32", offloading_schedule(c));
    if (c.schedule.find("combined-") == std::string::npos) return read(c, "fp32", c.schedule);
    Case plain;
    plain.parallel = "{data: 1}";
    scenarios::Scenario scenario = read(c, "bf16", c.schedule);
    scenario.training.precision = read(plain, "fp32", "1f1b").training.precision;
    return scenario;
}

}  // namespace debubble::exec::parity

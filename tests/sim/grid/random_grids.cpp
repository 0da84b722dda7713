#include "tests/sim/grid/random_grids.h"

#include <random>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace debubble::sim {
namespace {

/// A key that a grid may sweep, with the values that are drawn.
struct SweptKey {
    std::string_view key;
    std::vector<std::string_view> values;
};

const std::vector<SweptKey>& keys_of_all() {
    static const std::vector<SweptKey> kKeys{
        {"training.precision",
         {"bf16", "fp8-delayed", "fp8-current", "fp8-blockwise", "mxfp8", "nvfp4",
          "{recipe: fp8-current, param_gather: fp8, grads: bf16}",
          "{recipe: mxfp8, bf16_layers: {first: 1, last: 1}}",
          "{recipe: fp8-delayed, attention: fp8}",
          "{grads: bf16, moments: bf16, main_grads: none}"}},
        {"training.recompute",
         {"none", "full", "selective", "{modules: [core_attn, layernorm]}", "{modules: [mlp]}",
          "{layers: 1, method: block}", "{layers: 2, method: uniform}"}},
        {"training.offload",
         {"{modules: [core_attn, attn_proj]}", "{modules: [mlp_norm, qkv_linear]}", "{layers: 1}"}},
        {"training.optimizer", {"adamw", "muon", "sgd"}},
        {"training.micro_batch", {"1", "2", "4"}},
        {"parallel.tensor", {"1", "2", "4"}},
        {"parallel.context", {"1", "2", "4"}},
        {"parallel.zero_stage", {"0", "1", "2", "3"}},
        {"parallel.shard", {"2", "4"}},
        {"parallel.partition", {"uniform", "balanced"}},
        {"schedule",
         {"1f1b", "gpipe", "zb-h1", "zb-h2", "{name: interleaved-1f1b, stages_per_rank: 2}",
          "{name: zb-v, stages_per_rank: 2}", "v-half", "v-min", "zb-auto", "1f1b-v", "dualpipe-v",
          "chimera", "eager-1f1b", "looped-bfs"}},
        {"framework",
         {"megatron-2024", "megatron-2026", "pytorch-fsdp2", "pytorch-compile", "deepspeed",
          "primus-2026"}},
        {"framework.attention_kernel", {"cudnn", "flash-2", "flash-3", "unfused"}},
        {"framework.tensor_overlap", {"true", "false"}},
        {"framework.cuda_graphs", {"none", "full_iteration", "[attn, mlp]", "[layer]"}},
        {"framework.context_communication", {"p2p", "all-gather", "all-to-all", "a2a+p2p"}},
        {"framework.grad_reduce_dtype", {"bf16", "fp32"}},
        {"framework.stage3_prefetch_bucket_size", {"0", "50000000", "1000000000"}},
        {"framework.stage3_max_live_parameters", {"0", "300000000", "3000000000"}},
        {"framework.stage3_max_reuse_distance", {"0", "500000000", "100000000000"}},
        {"framework.stage3_param_persistence_threshold", {"0", "20000", "100000000"}},
        {"cluster.gpu.memory", {"6 GiB", "12 GiB", "24 GiB", "192 GiB"}},
    };
    return kKeys;
}

const std::vector<SweptKey>& keys_of_experts() {
    static const std::vector<SweptKey> kKeys{
        {"training.recompute",
         {"none", "{modules: [moe_act]}", "{modules: [moe]}", "{modules: [shared_experts]}",
          "{modules: [layernorm, moe_act]}"}},
        {"training.offload", {"{modules: [expert_fc1, moe_act]}", "{modules: [moe_act]}"}},
        {"training.router", {"balanced", "{load: 1.4}"}},
        {"parallel.expert", {"1", "2", "4", "8"}},
        {"parallel.expert_tensor", {"1", "2"}},
        {"framework.dispatcher", {"alltoall", "allgather", "deepep", "hybridep"}},
        {"framework.capacity_factor", {"1.0", "1.5"}},
        {"framework.moe_dispatch_fwd_dtype", {"bf16", "fp8", "mxfp8"}},
        {"framework.moe_combine_bwd_dtype", {"bf16", "fp8"}},
        {"framework.cuda_graphs",
         {"none", "[attn, moe_router]", "[attn, moe_router, moe_preprocess]"}},
        {"framework",
         {"{base: megatron-2026, cuda_graphs: [attn, moe], capacity_factor: 1.5}",
          "{base: megatron-2026, cuda_graphs: [moe_router]}"}},
        {"schedule",
         {"{name: combined-1f1b, stages_per_rank: 2}",
          "{name: combined-1f1b, stages_per_rank: 2, delay_wgrad: true}",
          "{name: interleaved-1f1b, stages_per_rank: 2}"}},
        {"parallel.layout", {"'Ett|t*3|t*2|tL'", "'Et|(tt|)*2t*3L'", "'E|t*4|t*3|tL'"}},
    };
    return kKeys;
}

class GridWriter {
public:
    explicit GridWriter(std::uint32_t seed) : random_(seed) {}

    std::string write() {
        const bool experts = below(2) == 0;
        const std::vector<std::string_view> models =
            experts ? std::vector<std::string_view>{"{base: deepseek-v2-lite, layers: 8}",
                                                    "{base: qwen3-30b-a3b, layers: 8}",
                                                    "{base: gpt-oss-20b, layers: 8}"}
                    : std::vector<std::string_view>{
                          "{base: llama3-8b, layers: 8}", "{base: qwen3-8b, layers: 8}",
                          "{base: nemotron-h-8b, layers: 8}", "{base: gpt-neox-20b, layers: 8}"};
        std::string text = fmt::format(
            "model: {}\ncluster: {}\ngpus: 16\n"
            "parallel: {{pipeline: {}, data: auto, zero_stage: {}{}}}\n"
            "training: {{global_batch: {}, seq_length: 1024}}\n{}sweep:\n",
            one_of(models),
            one_of(std::vector<std::string_view>{"hgx-h100", "hgx-b200", "nvl72-gb200",
                                                 "dgx-a100-80gb"}),
            one_of(std::vector<std::string_view>{"1", "2", "2", "4"}),
            one_of(std::vector<std::string_view>{"1", "1", "2", "3"}),
            below(2) == 0 ? ", sequence: true" : "",
            one_of(std::vector<std::string_view>{"16", "64", "64"}),
            one_of(std::vector<std::string_view>{"", "", "framework: deepspeed\n"}));
        std::vector<std::string_view> taken;
        const int wanted = 2 + below(2);
        while (static_cast<int>(taken.size()) < wanted) {
            const SweptKey& key =
                one_of(experts && below(2) == 0 ? keys_of_experts() : keys_of_all());
            if (clashes(taken, key.key)) continue;
            taken.push_back(key.key);
            text += fmt::format("  {}: [{}]\n", key.key, fmt::join(some_of(key.values), ", "));
        }
        return text;
    }

private:
    int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
    template <class T>
    const T& one_of(const std::vector<T>& all) {
        return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
    }
    /// Two or three values, in the order of the list.
    std::vector<std::string_view> some_of(std::vector<std::string_view> values) {
        while (values.size() > 3 || (values.size() == 3 && below(2) == 0))
            values.erase(values.begin() + below(static_cast<int>(values.size())));
        return values;
    }
    /// A key is swept once, and a profile is not swept beside its parts.
    static bool clashes(std::span<const std::string_view> taken, std::string_view key) {
        for (const std::string_view other : taken)
            if (key == other || key.starts_with(fmt::format("{}.", other)) ||
                other.starts_with(fmt::format("{}.", key)))
                return true;
        return false;
    }

    std::mt19937 random_;
};

}  // namespace

std::string random_grid(std::uint32_t seed) {
    return GridWriter(seed).write();
}

std::vector<std::string> keys_of_random_grids() {
    std::vector<std::string> keys;
    for (const auto* list : {&keys_of_all(), &keys_of_experts()})
        for (const SweptKey& key : *list) keys.emplace_back(key.key);
    return keys;
}

}  // namespace debubble::sim

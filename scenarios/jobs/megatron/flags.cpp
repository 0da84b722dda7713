#include "scenarios/jobs/megatron/flags.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/check.h"

namespace debubble::jobs {
namespace {

using Table = std::map<std::string_view, FlagFact, std::less<>>;

void add_names(const FlagGroup& group, Table& table) {
    for (std::string_view rest = group.names; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        const bool is_new =
            table.emplace(rest.substr(0, end), FlagFact{group.fate, group.reason}).second;
        DEBUBBLE_CHECK(is_new, "a flag of Megatron-LM must be in one list");
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

const Table& table() {
    static const Table kTable = [] {
        Table made;
        for (const auto groups :
             {planned_flags(), harmless_flags(), noted_flags(), refused_flags()})
            for (const FlagGroup& group : groups) add_names(group, made);
        return made;
    }();
    return kTable;
}

/// Defaults of noted settings that a file may write out; false, null and 0 are those of the rest.
constexpr std::pair<std::string_view, std::string_view> kDefaults[] = {
    {"activation_offload_fraction", "1.0"},
    {"batch_p2p_comm", "true"},
    {"batch_p2p_sync", "true"},
    {"cpu_offloading_activations", "true"},
    {"decoupled_weight_decay", "true"},
    {"fp8_quantizer_factory", ""},
    {"gdp_num_chunk_states_to_recompute", "2"},
    {"kitchen_attention_backend", "sdpa"},
    {"megatron_fsdp_grad_comm_dtype", "auto"},
    {"megatron_fsdp_main_grads_dtype", "auto"},
    {"megatron_fsdp_main_params_dtype", "fp32"},
    {"megatron_fsdp_version", "1"},
    {"mlp_chunks_for_training", "1"},
    {"moe_combine_bwd_dtype", "bf16"},
    {"moe_dispatch_fwd_dtype", "bf16"},
    {"moe_hybridep_num_sms_preprocessing", "108"},
    {"moe_upcycling_granularity", "1"},
    {"muon_num_ns_steps", "5"},
    {"muon_scalar_optimizer", "adam"},
    {"muon_tp_mode", "duplicated"},
    {"optimizer_offload_fraction", "1.0"},
    {"outer_dp_sharding_strategy", "no_shard"},
    {"output_logit_dtype", "fp32"},
    {"use_mamba_mem_eff_path", "true"}};

/// Words of layers that a plan has or has not. A flag that nobody knows and that has one of them is
/// not left out in silence.
constexpr std::array<std::string_view, 20> kNetworkWords{
    "attention", "linear",   "mamba",   "dsa",     "expert", "experts",      "mtp",
    "encoder",   "encoders", "decoder", "vision",  "gate",   "gated",        "gates",
    "latent",    "hyper",    "ssm",     "indexer", "retro",  "heterogeneous"};

}  // namespace

std::optional<FlagFact> flag_fact(std::string_view name) {
    const auto found = table().find(name);
    return found == table().end() ? std::nullopt : std::optional(found->second);
}

bool is_default_of_flag(std::string_view name, std::string_view value) {
    for (const std::string_view off : {"false", "False", "None", "null", "0", "0.0", "[]", "~"})
        if (value == off) return true;
    const auto* const found =
        std::ranges::find(kDefaults, name, [](const auto& row) { return row.first; });
    if (found == std::end(kDefaults)) return false;
    return found->second == value || (found->second == "true" && value == "True") ||
           (found->second == "1.0" && value == "1");
}

std::string_view network_word_in(std::string_view name) {
    while (!name.empty()) {
        const std::size_t end = std::min(name.find_first_of("_-."), name.size());
        const std::string_view part = name.substr(0, end);
        if (std::ranges::find(kNetworkWords, part) != kNetworkWords.end()) return part;
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return {};
}

}  // namespace debubble::jobs

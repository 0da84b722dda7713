#include "sim/explain/explain.h"

#include <algorithm>

namespace debubble::sim {

bool is_read(const scenarios::Scenario& scenario, std::string_view constant) {
    const scenarios::Training& training = scenario.training;
    const int gpus = scenario.parallel.gpus();
    const bool wide = training.precision.compute == models::DataType::Fp32;
    if (constant == "gpu.fp16_flops") return !wide;
    if (constant == "gpu.fp32_flops") return wide;
    const models::Recipe recipe = training.precision.recipe;
    const bool fp4 = recipe == models::Recipe::NvFp4;
    if (constant == "gpu.fp8_flops" || constant == "gpu.fp8_gemm_efficiency")
        return recipe != models::Recipe::None && !fp4;
    if (constant == "gpu.fp4_flops" || constant == "gpu.fp4_gemm_efficiency") return fp4;
    if (constant == "gpu.bf16") return training.precision.compute == models::DataType::Bf16;
    if (constant.starts_with("gpu.attention_"))
        return training.attention == models::AttentionKernel::Flash;
    if (constant == "gpu.host_link") return training.offload_optimizer || training.offload.any();
    if (constant == "host_adam_parameters_per_s") return training.offload_optimizer;
    if (constant.starts_with("node_link.")) return gpus > 1 && scenario.cluster.gpus_per_node > 1;
    if (constant.starts_with("network.")) return gpus > scenario.cluster.gpus_per_node;
    return true;
}

namespace {

/// An indexer chooses single keys or entries in some layer.
bool chooses_keys(const models::Architecture& model) {
    return std::ranges::any_of(model.layers.kinds(), [](const models::Layer& layer) {
        const auto* attention = layer.as<models::Attention>();
        if (attention == nullptr) return false;
        const auto& sparse = attention->sparse;
        const auto& keys = attention->compressed;
        return (sparse && sparse->indexer && sparse->block == 1) || (keys && keys->indexer);
    });
}

/// Columns of some layer decay one by one (Mamba-1).
bool scans_columns(const models::Architecture& model) {
    return std::ranges::any_of(model.layers.kinds(), [](const models::Layer& layer) {
        const models::Mamba* part = layer.state_space();
        return part != nullptr && part->step_rank;
    });
}

}  // namespace

bool reads_law(const scenarios::Scenario& scenario, std::string_view constant) {
    const scenarios::Framework& framework = scenario.framework;
    const models::Recipe recipe = scenario.training.precision.recipe;
    const scenarios::Gpu& gpu = scenario.cluster.gpu;
    const bool experts = scenario.model.has_experts();
    const bool exchanges = experts && scenario.parallel.expert > 1;
    const bool through_network = scenario.parallel.gpus() > scenario.cluster.gpus_per_node;
    const bool adam = !framework.optimizer_bytes_per_parameter;
    const auto dispatched = [&](models::Dispatcher by) {
        return exchanges && framework.kernels.dispatcher == by;
    };
    const auto stepped = [&](scenarios::OptimizerKind by) {
        return adam && framework.optimizer == by;
    };
    if (constant.starts_with("fp8_scaled_"))
        return models::operands_of(recipe) == models::Narrow::MxFp8 ||
               models::operands_of(recipe) == models::Narrow::Fp8Blockwise;
    if (constant == "tensor_cast") return models::operands_of(recipe) == models::Narrow::Fp8;
    if (constant == "nvfp4_cast") return recipe == models::Recipe::NvFp4;
    if (constant == "block_cast" || constant == "amax_pass") return recipe != models::Recipe::None;
    if (constant.starts_with("expert_rows") || constant == "tf32_time") return experts;
    if (constant.starts_with("attention_") || constant.starts_with("narrow_heads") ||
        constant == "older_attention")
        return is_read(scenario, "gpu.attention_rates");
    if (constant.starts_with("chosen_")) return chooses_keys(scenario.model);
    if (constant == "exponentials") return scans_columns(scenario.model);
    if (constant == "clockless_power") return gpu.power_limit.has_value();
    if (constant == "least_clock") return gpu.clock_spread > 0;
    if (constant == "host_norm") return !gpu.threads;
    if (constant == "exchange_stretch" || constant == "nccl_sms")
        return scenario.parallel.gpus() > 1 && !gpu.threads;
    if (constant == "pieces_of_reduction") return framework.tensor_overlap;
    if (constant.starts_with("waiting_")) return exchanges;
    if (constant.starts_with("deepep_")) return dispatched(models::Dispatcher::DeepEp);
    if (constant.starts_with("hybridep_")) return dispatched(models::Dispatcher::HybridEp);
    if (constant == "tree_bandwidth" || constant == "nccl_protocols") return through_network;
    if (constant == "fused_adam_bytes") return stepped(scenarios::OptimizerKind::FusedAdam);
    if (constant == "foreach_adam_bytes") return stepped(scenarios::OptimizerKind::ForeachAdam);
    if (constant == "per_tensor_adam_bytes")
        return stepped(scenarios::OptimizerKind::PerTensorAdam);
    return true;
}

}  // namespace debubble::sim

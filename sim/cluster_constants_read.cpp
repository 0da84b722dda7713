#include "sim/cluster_constants_read.h"

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

}  // namespace debubble::sim

#include "exec/core/stage/as_executed.h"

namespace debubble::exec {

scenarios::Scenario as_executed(scenarios::Scenario scenario) {
    scenarios::Training& training = scenario.training;
    training.attention = models::AttentionKernel::Flash;
    if (training.recompute == models::Recompute::Selective)
        training.recompute = models::Recompute::None;

    scenarios::Framework& framework = scenario.framework;
    models::KernelOptions& kernels = framework.kernels;
    kernels.gradient_accumulation_fusion = true;
    kernels.fused_bias_activation = true;
    kernels.fused_bias_dropout_add = true;
    kernels.fused_rope = true;
    kernels.fused_norm = true;
    kernels.dropout_masks_always = false;
    kernels.replayed_dropout = true;
    kernels.embedding_gradient_tensor = false;
    kernels.activation_gradient_in_place = true;
    kernels.fp32_query_gradient = false;
    kernels.attention_mask_tensor = false;
    kernels.attention_copies = false;
    kernels.packed_attention = true;
    kernels.keeps_gathered = false;
    kernels.context_communication = models::ContextCommunication::AllGather;
    kernels.context_output_copy = false;
    kernels.weighted_experts_activation = false;
    kernels.dummy_weight_gradients = false;
    if (kernels.loss != models::LossKernel::Chunked)
        kernels.loss = models::LossKernel::TransformerEngine;  // in place
    framework.rollback_copies = true;
    framework.main_grad_buffer = true;
    framework.ddp_buckets = false;
    framework.library_workspace = Bytes{};
    if (framework.offload_buffer == Bytes{}) framework.offload_buffer = Bytes{48 << 20};
    framework.allocator = scenarios::AllocatorModel::Arena;
    return scenario;
}

}  // namespace debubble::exec

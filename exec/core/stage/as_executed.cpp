#include "exec/core/stage/as_executed.h"

namespace debubble::exec {

scenarios::Scenario as_executed(scenarios::Scenario scenario) {
    scenarios::Training& training = scenario.training;
    training.attention = models::AttentionKernel::Flash;
    if (training.recompute == models::Recompute::Selective)
        training.recompute = models::Recompute::None;

    scenarios::Framework& framework = scenario.framework;
    framework.gradient_accumulation_fusion = true;
    framework.fused_bias_activation = true;
    framework.fused_bias_dropout_add = true;
    framework.fused_rope = true;
    framework.fused_norm = true;
    framework.dropout_masks_always = false;
    framework.replayed_dropout = true;
    framework.embedding_gradient_tensor = false;
    framework.activation_gradient_in_place = true;
    framework.fp32_query_gradient = false;
    framework.attention_mask_tensor = false;
    framework.attention_copies = false;
    framework.packed_attention = true;
    framework.keeps_gathered = false;
    framework.context_communication = models::ContextCommunication::AllGather;
    framework.context_output_copy = false;
    framework.weighted_experts_activation = false;
    framework.dummy_weight_gradients = false;
    if (framework.loss != models::LossKernel::Chunked)
        framework.loss = models::LossKernel::TransformerEngine;  // in place
    framework.rollback_copies = true;
    framework.main_grad_buffer = true;
    framework.ddp_buckets = false;
    framework.library_workspace = Bytes{};
    if (framework.offload_buffer == Bytes{}) framework.offload_buffer = Bytes{48 << 20};
    framework.allocator = scenarios::AllocatorModel::Arena;
    return scenario;
}

}  // namespace debubble::exec

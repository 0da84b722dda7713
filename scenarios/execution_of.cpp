#include "scenarios/execution_of.h"

namespace debubble::scenarios {

models::Execution execution_of(const Scenario& scenario) {
    const Training& training = scenario.training;
    const Parallel& parallel = scenario.parallel;
    const Framework& framework = scenario.framework;
    const double dropout = training.dropout.value_or(scenario.model.dropout);

    models::Execution execution;
    execution.micro_batch = training.micro_batch;
    execution.seq_length = training.seq_length;
    execution.slices = scenario.schedule.slices;
    execution.tensor = parallel.tensor;
    execution.context = parallel.context;
    execution.sequence_parallel = parallel.sequence && parallel.tensor > 1;
    execution.expert = parallel.expert;
    execution.expert_tensor = parallel.expert_tensor;
    execution.expert_load = training.expert_load;
    execution.compute = training.precision.compute;
    execution.gradients = training.precision.grads;
    execution.split_backward = scenario.schedule.splits_backward;
    execution.recompute = training.recompute;
    execution.attention = training.attention;
    execution.loss = framework.loss;
    execution.vocabulary_multiple = framework.vocabulary_multiple;
    execution.gradient_accumulation_fusion = framework.gradient_accumulation_fusion;
    execution.fused_bias_activation = framework.fused_bias_activation;
    execution.fused_bias_dropout_add = framework.fused_bias_dropout_add;
    execution.fused_rope = framework.fused_rope;
    execution.fused_norm = framework.fused_norm;
    execution.hidden_dropout = dropout > 0;
    execution.attention_dropout = dropout > 0;
    execution.dropout_masks_always = framework.dropout_masks_always;
    execution.replayed_dropout = framework.replayed_dropout;
    execution.embedding_gradient_tensor = framework.embedding_gradient_tensor;
    execution.activation_gradient_in_place = framework.activation_gradient_in_place;
    execution.fp32_query_gradient = framework.fp32_query_gradient;
    execution.attention_mask_tensor = framework.attention_mask_tensor;
    execution.attention_copies = framework.attention_copies;
    execution.packed_attention = framework.packed_attention;
    execution.keeps_gathered = framework.keeps_gathered;
    execution.context_communication = framework.context_communication;
    execution.context_output_copy = framework.context_output_copy;
    execution.weighted_experts_activation = framework.weighted_experts_activation;
    execution.dummy_weight_gradients = framework.dummy_weight_gradients;
    return execution;
}

}  // namespace debubble::scenarios

#pragma once

#include "models/read/layer_keys.h"
#include "scenarios/plan/scenario.h"
#include "tests/sim/machines.h"

/// Small jobs to price: a GPT of the Megatron papers on DGX A100 nodes.
namespace debubble::sim {

inline scenarios::Scenario gpt_job(int tensor, int data, int pipeline, int layers = 24) {
    scenarios::Scenario scenario;
    models::LayerKeys keys;
    keys.heads = keys.kv_heads = 32;
    keys.head_dim = 128;
    keys.ffn = 4 * 4096;
    scenario.model.layers = {layer_of(keys), layers};
    scenario.model.hidden = 4096;
    scenario.model.vocab = 51200;
    scenario.model.max_positions = 2048;
    scenario.model.dropout = 0.1;
    scenario.cluster = dgx_a100();
    scenario.parallel.tensor = tensor;
    scenario.parallel.data = data;
    scenario.parallel.pipeline = pipeline;
    scenario.gpus = tensor * data * pipeline;
    scenario.training.seq_length = 2048;
    scenario.training.micro_batches = 8;
    scenario.training.global_batch = 8 * data;
    scenario.training.attention = models::AttentionKernel::Unfused;
    return scenario;
}

}  // namespace debubble::sim

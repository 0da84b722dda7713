#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"

/// Public jobs of Megatron-LM and its relatives, reduced to their values, with what is true of
/// each: how many of them come out right, and that none is another network without a word.
namespace debubble::jobs {
namespace {

struct PublicJob {
    const char* file;
    const char* gpus;
    const char* text;
    std::int64_t parameters;  ///< of the network; 0: it is not planned
    const char* said;         ///< part of a note, or of the refusal; empty: there is none to say
    const char* source;
};

constexpr PublicJob kJobs[] = {
    {"qwen3.5-27B.sh", "8",
     "MODEL_ARGS=(--spec \"slime_plugins.models.qwen3_5\" \"get_qwen3_5_spec\" "
     "--disable-bias-linear --qk-layernorm --group-query-attention --num-attention-heads 24 "
     "--num-query-groups 4 --kv-channels 256 --num-layers 64 --hidden-size 5120 "
     "--ffn-hidden-size 17408 --use-gated-attention --normalization RMSNorm --apply-layernorm-1p "
     "--position-embedding-type rope --norm-epsilon 1e-6 --rotary-percent 0.25 --swiglu "
     "--untie-embeddings-and-output-weights --vocab-size 248320 --rotary-base 10000000 "
     "--attention-output-gate)\ntorchrun --nproc_per_node 8 pretrain_gpt.py ${MODEL_ARGS[@]} "
     "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size "
     "256 --bf16 --attention-dropout 0 --hidden-dropout 0 --use-distributed-optimizer\n",
     0, "--spec: how many heads do the gated delta nets", "THUDM/slime scripts/models"},
    {"t5-220m.sh", "8",
     "torchrun --nproc_per_node 8 pretrain_t5.py --encoder-num-layers 12 --decoder-num-layers 12 "
     "--hidden-size 768 --num-attention-heads 12 --kv-channels 64 --ffn-hidden-size 3072 "
     "--encoder-seq-length 512 --decoder-seq-length 128 --max-position-embeddings 512 "
     "--micro-batch-size 64 --global-batch-size 512 --bf16 --vocab-size 29184\n",
     0, "pretrain_t5.py: this program trains T5",
     "NVIDIA/Megatron-LM examples/t5/train_t5_220m_distributed.sh"},
    {"glm45-air.sh", "64",
     "torchrun --nnodes 8 --nproc_per_node 8 pretrain_gpt.py --num-layers 46 --hidden-size 4096 "
     "--ffn-hidden-size 10944 --num-attention-heads 96 --group-query-attention --num-query-groups "
     "8 --kv-channels 128 --add-qkv-bias --disable-bias-linear --normalization RMSNorm "
     "--position-embedding-type rope --rotary-percent 0.5 --swiglu "
     "--untie-embeddings-and-output-weights --vocab-size 151552 --seq-length 4096 "
     "--max-position-embeddings 131072 --moe-ffn-hidden-size 1408 "
     "--moe-shared-expert-intermediate-size 1408 --moe-router-score-function sigmoid "
     "--moe-router-enable-expert-bias --moe-router-load-balancing-type seq_aux_loss "
     "--moe-token-dispatcher-type alltoall --moe-router-topk 8 --moe-layer-freq \"[0]*1+[1]*45\" "
     "--num-experts 128 --moe-grouped-gemm --tensor-model-parallel-size 8 "
     "--pipeline-model-parallel-size 4 --expert-model-parallel-size 16 "
     "--expert-tensor-parallel-size 1 --sequence-parallel --micro-batch-size 2 "
     "--global-batch-size 16 --bf16 --hidden-dropout 0 --attention-dropout 0\n",
     106'852'245'504, "46 layers are not a multiple of 4 pipeline ranks",
     "modelscope/ms-swift issue 5737"},
    {"pp6-m3.sh", "48",
     "torchrun --nnodes 6 --nproc_per_node 8 pretrain_gpt.py --num-layers 48 --hidden-size 5120 "
     "--num-attention-heads 40 --seq-length 4096 --max-position-embeddings 4096 "
     "--tensor-model-parallel-size 8 --pipeline-model-parallel-size 6 "
     "--num-layers-per-virtual-pipeline-stage 4 "
     "--microbatch-group-size-per-virtual-pipeline-stage 3 --micro-batch-size 1 "
     "--global-batch-size 3 --bf16 --vocab-size 51200\n",
     0, "interleaving needs at least as many microbatches as pipeline ranks, but 3 are fewer",
     "NVIDIA-NeMo/Speech issue 14288"},
    {"mamba_370M.yaml", "8",
     "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n"
     "    model: mamba_370M.yaml\n    overrides: {micro_batch_size: 52, global_batch_size: 416, "
     "seq_length: 2048, max_position_embeddings: 2048, spec: "
     "[megatron.core.models.mamba.mamba_layer_specs, mamba_stack_spec]}\n---\n"
     "model_type: mamba\nvocab_size: 50257\nnum_layers: 48\nhidden_size: 1024\n"
     "num_attention_heads: 16\nffn_hidden_size: null\nmamba_state_dim: 16\nmamba_head_dim: 64\n"
     "mamba_num_groups: 8\ntensor_model_parallel_size: 1\n---\nbf16: true\n",
     // 48 layers of 6'602'080 by hand, 50257 rows of 1024 and a last norm.
     48 * 6'602'080 + 50257 * 1024 + 2 * 1024, "",
     "AMD-AGI/Primus fd1eeabb mamba_370M-pretrain.yaml"}};

/// True if the network is planned with the right count, or refused where it is not planned, and
/// what is to be said is said.
bool comes_out_right(const PublicJob& job, std::string& why) {
    try {
        const Imported read =
            import_text(job.text, job.file, "", {{"cluster", "hgx-h100"}, {"gpus", job.gpus}});
        const scenarios::Scenario s = scenarios::parse_scenario(read.text, "plan.yaml");
        const std::int64_t count = models::parameter_count(s.model);
        why = std::to_string(count) + "\n" + read.text;
        const bool counts = job.parameters == 0 || count == job.parameters;
        return counts && read.text.find(job.said) != std::string::npos;
    } catch (const InputError& error) {
        why = error.what();
        return job.parameters == 0 && why.find(job.said) != std::string::npos;
    }
}

TEST(MegatronCases, ComeOutRight) {
    for (const PublicJob& job : kJobs) {
        std::string why;
        EXPECT_TRUE(comes_out_right(job, why)) << job.file << ", " << job.source << "\n" << why;
    }
}

}  // namespace
}  // namespace debubble::jobs

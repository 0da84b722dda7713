#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"

/// Settings that change a plan arrive in it or are named with their line, in scripts and files as
/// people write them.
namespace debubble::jobs {
namespace {

using scenarios::Override;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSmallJob =
    "--num-layers 16 --hidden-size 1024 --num-attention-heads 16 --seq-length 2048 "
    "--max-position-embeddings 2048 --micro-batch-size 2 --global-batch-size 64 --bf16 "
    "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 ";

const std::vector<Override> kGiven{{"cluster", "hgx-h100"}, {"gpus", "64"}, {"vocab", "32000"}};

Imported script(const std::string& text) {
    return import_text(text, "train.sh", "megatron", kGiven);
}

Imported flags(const std::string& more) {
    return script("torchrun pretrain_gpt.py " + std::string(kSmallJob) + more + "\n");
}

TEST(StringsOfArguments, AreCutAtTheirBlanksThoughAPartIsKnownOnlyInTheRun) {
    const Imported job = script(
        "DATA=$1\n"
        "ARGS=\" --data-path $DATA --vocab-file ${2}/vocab.json " +
        std::string(kSmallJob) +
        "\"\n"
        "GPUS=$(python -c 'import torch; print(torch.cuda.device_count())')\n"
        "cmd=\"torchrun --nproc_per_node $GPUS pretrain_gpt.py ${ARGS} --swiglu\"\n"
        "echo ${cmd}\n"
        "eval ${cmd}\n");
    EXPECT_THAT(job.text, HasSubstr("layers: 16  # train.sh:2 --num-layers"));
    EXPECT_THAT(job.text, HasSubstr("micro_batch: 2"));
    EXPECT_THAT(job.text, HasSubstr("pipeline: 4"));
}

TEST(StringsOfArguments, ThatComeFromOutsideAreNamed) {
    const Imported job = script("torchrun pretrain_gpt.py " + std::string(kSmallJob) +
                                "--swiglu ${MOE_ARGS} --lr 1e-4 $MORE $@\n");
    EXPECT_THAT(job.notes,
                Contains(HasSubstr("line 1: the value of $MOE_ARGS is known only when")));
    EXPECT_THAT(job.notes, Contains(HasSubstr("line 1: the value of $MORE is known only when")));
    EXPECT_THAT(job.text, HasSubstr("lr: 0.0001"));
    // "--bf16 $NOBODY": a flag without a value stays one.
    EXPECT_THAT(flags("--swiglu $NOBODY").text, HasSubstr("activation: swiglu"));
}

TEST(MegatronFlags, ThatChangeAPlanAreInItOrNamed) {
    const std::string interleaved = "--num-layers-per-virtual-pipeline-stage 2 ";
    EXPECT_THAT(flags(interleaved + "--no-overlap-p2p-communication").text,
                HasSubstr("point_to_point_blocks: whole-backward"));
    EXPECT_THAT(flags(interleaved).text, Not(HasSubstr("point_to_point_blocks")));
    EXPECT_THAT(flags("--transformer-impl local").text,
                HasSubstr("attention: unfused  # train.sh:1 --transformer-impl"));
    EXPECT_THAT(flags("--transformer-impl transformer_engine").text, HasSubstr("attention: flash"));
    EXPECT_THAT(flags("--checkpoint-activations").text, HasSubstr("recompute: full"));
    EXPECT_THAT(flags("--deepspeed --zero-stage 1 --deepspeed-activation-checkpointing").text,
                HasSubstr("zero_stage: 1  # train.sh:1 --zero-stage"));
    EXPECT_THROW(flags("--deepspeed --zero-stage 2"), InputError);  // with a pipeline
    for (const char* flag :
         {"--deterministic-mode", "--fp16-lm-cross-entropy", "--delay-wgrad-compute"})
        EXPECT_THAT(flags(flag).notes, Contains(HasSubstr(flag))) << flag;
    EXPECT_THROW(flags("--experimental-attention-variant dsa"), InputError);
    EXPECT_THAT(flags("--no-check-for-nan-in-loss-and-grad").notes,
                Not(Contains(HasSubstr("nan-in-loss"))));
}

TEST(MegatronFlags, OfTwoLevelsOfContextNameTheirRanks) {
    const std::string levels = "--context-parallel-size 8 --cp-comm-type a2a+p2p ";
    const Imported job = flags(levels + "--hierarchical-context-parallel-sizes 4 2");
    EXPECT_THAT(job.text, HasSubstr("context_communication: a2a+p2p"));
    EXPECT_THAT(job.text, HasSubstr("hierarchical_context_parallel_sizes: [4, 2]"));
    EXPECT_THROW(flags(levels), InputError);
    EXPECT_THROW(flags(levels + "--hierarchical-context-parallel-sizes 4 3"), InputError);
    EXPECT_THROW(flags(levels + "--hierarchical-context-parallel-sizes 4 two"), InputError);
}

TEST(MegatronFlags, OfExpertsAndPrecisionsArriveToo) {
    const std::string experts =
        "--num-experts 8 --moe-shared-expert-intermediate-size 512 --moe-shared-expert-overlap "
        "--moe-token-dispatcher-type alltoall --sequence-parallel ";
    EXPECT_THAT(flags(experts + "--expert-model-parallel-size 2").text,
                HasSubstr("moe_shared_expert_overlap: true"));
    EXPECT_THAT(flags(experts).notes, Contains(HasSubstr("it has no effect without shared")));
    EXPECT_THAT(flags("--use-precision-aware-optimizer --main-grads-dtype bf16").text,
                HasSubstr("grads: bf16, main_grads: none"));
    EXPECT_THAT(flags("--use-precision-aware-optimizer").text, Not(HasSubstr("grads: bf16")));
    const std::string fp8 = "--fp8-format hybrid --fp8-recipe tensorwise ";
    EXPECT_THAT(flags(fp8 + "--fp8-multi-head-attention").text, HasSubstr("attention: fp8"));
    EXPECT_THAT(flags("--overlap-grad-reduce --ddp-num-buckets 8").notes,
                Contains(HasSubstr("--ddp-num-buckets")));
}

TEST(ColossalArguments, ThatChangeAPlanAreNamed) {
    const Imported job = import_text(
        "plugin = HybridParallelPlugin(tp_size=2, pp_size=2, microbatch_size=1, precision='bf16',\n"
        "    gradient_checkpoint_config=Config(gradient_checkpointing_ratio=0.5),\n"
        "    fp8_communication=True, overlap_p2p=False, custom_policy=None)\n"
        "model.gradient_checkpointing_enable()\n",
        "train.py", "colossalai",
        {{"cluster", "hgx-h100"},
         {"gpus", "8"},
         {"model", "llama3-8b"},
         {"training.global_batch", "16"},
         {"training.seq_length", "2048"}});
    for (const char* name : {"train.py:2 gradient_checkpoint_config",
                             "train.py:3 fp8_communication", "train.py:3 overlap_p2p"})
        EXPECT_THAT(job.notes, Contains(HasSubstr(name)));
    EXPECT_THAT(job.notes, Not(Contains(HasSubstr("custom_policy"))));
}

TEST(BridgeSections, ThatChangeAPlanAreReadAndOthersNamed) {
    const std::string config =
        "model:\n"
        "  num_layers: 16\n"
        "  hidden_size: 1024\n"
        "  num_attention_heads: 16\n"
        "  seq_length: 2048\n"
        "  pipeline_model_parallel_size: 4\n"
        "train: {micro_batch_size: 1, global_batch_size: 64}\n";
    const auto read = [&](const std::string& more) {
        return import_text(config + more, "run_config.yaml", "bridge", kGiven);
    };
    EXPECT_THAT(read("peft: {_target_: megatron.bridge.peft.lora.LoRA, dim: 16}\n").text,
                HasSubstr("lora: {rank: 16, targets: [linear_qkv, linear_proj, linear_fc1, "
                          "linear_fc2]}"));
    EXPECT_THAT(read("peft: {_target_: megatron.bridge.peft.lora.LoRA, target_modules: "
                     "[linear_qkv]}\n")
                    .text,
                HasSubstr("lora: {rank: 32, targets: [linear_qkv]}"));
    EXPECT_THROW(read("peft: {_target_: megatron.bridge.peft.dora.DoRA, dim: 32}\n"), InputError);
    EXPECT_THROW(read("peft: {_target_: a.LoRA, target_modules: ['*_proj']}\n"), InputError);
    EXPECT_THROW(read("peft: {_target_: a.LoRA, dim: many}\n"), InputError);
    EXPECT_THROW(read("peft: {_target_: a.LoRA, target_modules: linear_qkv}\n"), InputError);
    EXPECT_THROW(
        read("peft: {_target_: a.LoRA, target_modules: [], exclude_modules: [linear_qkv]}\n"),
        InputError);
    EXPECT_THROW(read("peft: {_target_: a.LoRA, exclude_modules: [linear_qkv]}\n"), InputError);
    EXPECT_NO_THROW(read("peft: {_target_: a.LoRA, exclude_modules: []}\n"));
    EXPECT_THROW(read("peft: lora\n"), InputError);
    EXPECT_NO_THROW(read("peft: null\nprofiling: {use_nsys_profiler: true}\n"));
    EXPECT_THAT(read("dist: {use_tp_pp_dp_mapping: true}\n").text, HasSubstr("tp-cp-ep-pp-dp"));
    EXPECT_THAT(read("distillation: {teacher: x}\n").notes,
                Contains(HasSubstr("run_config.yaml:8 distillation is not a known setting")));
}

TEST(TorchtitanConverters, ThatConvertExpertsAloneSaySo) {
    const std::string config =
        "[model]\nname = \"deepseek_v3\"\nflavor = \"671B\"\nconverters = "
        "[\"quantize.grouped_mm.float8\"]\n[training]\nlocal_batch_size = 4\nseq_len = 4096\n";
    const Imported job =
        import_text(config, "ds.toml", "torchtitan", {{"cluster", "hgx-h100"}, {"gpus", "64"}});
    EXPECT_THAT(job.notes, Contains(HasSubstr("only the experts' GEMMs are in 8 bits")));
}

}  // namespace
}  // namespace debubble::jobs

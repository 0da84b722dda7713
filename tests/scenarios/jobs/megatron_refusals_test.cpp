#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"

/// What Megatron-LM's own checks say of a job, at import: the plan goes on.
namespace debubble::jobs {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSoundJob =
    "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 1024 "
    "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --bf16 "
    "--vocab-size 32000 --micro-batch-size 1 --global-batch-size 64 "
    "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --use-distributed-optimizer "
    "--sequence-parallel "
    "--train-iters 100 --lr 0.001 ";

Imported job_of(const std::string& flags) {
    return import_text(kSoundJob + flags + "\n", "train.sh", "", {{"cluster", "hgx-b200"}});
}

struct Broken {
    const char* flags;
    const char* sentence;
    const char* place;
};

constexpr Broken kBroken[] = {
    {"--num-layers 18", "18 layers are not a multiple of 4 pipeline ranks", "arguments.py"},
    {"--num-virtual-stages-per-pipeline-rank 2 --global-batch-size 6",
     "at least as many microbatches as pipeline ranks, but 3 are fewer than 4", "schedules.py"},
    {"--num-virtual-stages-per-pipeline-rank 2 --global-batch-size 12", "the last of 6 has 2",
     "schedules.py"},
    {"--num-virtual-stages-per-pipeline-rank 2 --microbatch-group-size-per-virtual-pipeline-stage "
     "3",
     "groups of 3 microbatches are not between", "schedules.py"},
    {"--num-virtual-stages-per-pipeline-rank 2 --num-layers-per-virtual-pipeline-stage 2",
     "one of --num-layers-per-virtual-pipeline-stage", "arguments.py"},
    {"--decoder-first-pipeline-num-layers 2 --num-layers-per-virtual-pipeline-stage 2 "
     "--decoder-last-pipeline-num-layers 2",
     "it needs --num-virtual-stages-per-pipeline-rank", "arguments.py"},
    {"--seq-length 4096 --position-embedding-type rope", "exceeds the model's 2048 positions",
     "arguments.py"},
    {"--recompute-granularity full", "full needs --recompute-method", "transformer_config.py"},
    {"--recompute-granularity selective --recompute-num-layers 2",
     "selective does not take a number of layers", "transformer_config.py"},
    {"--fp16", "it cannot be combined with --bf16", "arguments.py"},
    {"--exp-avg-dtype bf16", "it needs --use-precision-aware-optimizer", "optimizer_config.py"},
    {"--optimizer-cpu-offload", "it needs --use-precision-aware-optimizer", "arguments.py"},
    {"--overlap-param-gather", "needs --overlap-grad-reduce", "arguments.py"},
    {"--train-samples 100", "it cannot be combined with --train-iters", "arguments.py"},
    {"--min-lr 0.01", "it is larger than --lr", "arguments.py"},
    {"--moe-ffn-hidden-size 512", "it needs --num-experts", "transformer_config.py"},
    {"--cross-entropy-loss-fusion --cross-entropy-fusion-impl te",
     "the fused loss must be native, not te", "arguments.py"},
    {"--delay-wgrad-compute", "it needs --overlap-moe-expert-parallel-comm",
     "transformer_config.py"},
    {"--num-experts 8 --moe-grouped-gemm --moe-router-topk 1",
     "a router of one expert needs --moe-router-pre-softmax", "transformer_config.py"},
    {"--num-experts 8 --moe-grouped-gemm --moe-enable-deepep",
     "it needs --moe-token-dispatcher-type flex", "transformer_config.py"},
    {"--num-experts 8 --moe-grouped-gemm", "experts with biases do not support",
     "transformer_config.py"},
    {"--model-parallel-size 2", "it has been renamed to --tensor-model-parallel-size",
     "arguments.py"}};

TEST(MegatronRefusals, AreSaidFirstAndWithTheirPlace) {
    for (const Broken& broken : kBroken) {
        SCOPED_TRACE(broken.flags);
        const Imported job = job_of(broken.flags);
        EXPECT_THAT(job.notes,
                    Contains(AllOf(HasSubstr("Megatron-LM would refuse this: "),
                                   HasSubstr(broken.sentence), HasSubstr(broken.place))));
        EXPECT_THAT(job.notes.front(), HasSubstr("would refuse this"));
        EXPECT_THAT(job.text, HasSubstr("would refuse this"));
    }
}

TEST(MegatronRefusals, OfTheEnvironmentStandBesideTheFlags) {
    const auto notes_with = [](const std::string& variables, const std::string& flags,
                               const char* cluster) {
        return import_text(variables + kSoundJob + flags + "\n", "train.sh", "",
                           {{"cluster", cluster}})
            .notes;
    };
    const std::string one = "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    EXPECT_THAT(notes_with(one, "--use-megatron-fsdp", "hgx-b200"),
                Contains(HasSubstr("it needs CUDA_DEVICE_MAX_CONNECTIONS other than 1")));
    EXPECT_THAT(notes_with("export CUDA_DEVICE_MAX_CONNECTIONS=8\n", "", "hgx-h100"),
                Contains(HasSubstr("before Blackwell it needs CUDA_DEVICE_MAX_CONNECTIONS 1")));
    EXPECT_THAT(notes_with(one, "", "hgx-h100"), Each(Not(HasSubstr("would refuse"))));
    EXPECT_THAT(notes_with("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n",
                           "--cuda-graph-impl transformer_engine", "hgx-b200"),
                Contains(HasSubstr("need NCCL_GRAPH_REGISTER=0")));
}

TEST(MegatronRefusals, AreNotSaidOfSoundJobs) {
    for (const std::string flags :
         {"", "--num-virtual-stages-per-pipeline-rank 2",
          "--num-virtual-stages-per-pipeline-rank 2 --global-batch-size 20 "
          "--microbatch-group-size-per-virtual-pipeline-stage 5",
          "--overlap-grad-reduce --overlap-param-gather", "--lr-warmup-samples 0",
          "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
          "--num-layers 18 --decoder-first-pipeline-num-layers 6 "
          "--decoder-last-pipeline-num-layers 4",
          "--num-layers 14 --account-for-embedding-in-pipeline-split "
          "--account-for-loss-in-pipeline-split",
          "--disable-bias-linear --num-experts 8 --moe-grouped-gemm --moe-router-topk 1 "
          "--moe-router-load-balancing-type sinkhorn"})
        EXPECT_THAT(job_of(flags).notes, Each(Not(HasSubstr("would refuse")))) << flags;
}

TEST(MegatronRefusals, OfDeepSpeedAreItsOwn) {
    EXPECT_THAT(job_of("--deepspeed --checkpoint-activations --train-samples 10").notes,
                Each(Not(HasSubstr("would refuse this: it is"))));
}

TEST(MegatronNotes, AreOrderedByHarm) {
    const std::vector<std::string> notes =
        job_of(
            "--use-rope-scaling --position-embedding-type rope --frobnicate --deterministic-mode "
            "--num-layers 18")
            .notes;
    ASSERT_EQ(notes.size(), 5U);
    EXPECT_THAT(notes[0], HasSubstr("would refuse this"));
    EXPECT_THAT(notes[1], HasSubstr("--frobnicate is not a known setting"));
    EXPECT_THAT(notes[2], HasSubstr("--deterministic-mode"));
    EXPECT_THAT(notes[3], HasSubstr("it is given twice; 18 counts"));
    EXPECT_THAT(notes[4], HasSubstr("--use-rope-scaling"));
}

TEST(MegatronNotes, AreNotOfTheFrameworksOwnDefaults) {
    EXPECT_THAT(
        job_of("--mlp-chunks-for-training 1 --muon-num-ns-steps 5 "
               "--empty-unused-memory-level 0 --moe-dispatch-fwd-dtype bf16 "
               "--outer-dp-sharding-strategy no_shard --decrease-batch-size-if-needed false")
            .notes,
        testing::IsEmpty());
    EXPECT_THAT(job_of("--mlp-chunks-for-training 2").notes,
                Contains(HasSubstr("--mlp-chunks-for-training")));
}

}  // namespace
}  // namespace debubble::jobs

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "tests/scenarios/jobs/round_trip.h"

namespace debubble::jobs {
namespace {

using scenarios::Scenario;

TEST(ExportedJob, OfAPlanWithinMegatronsMeansLeavesNothingOut) {
    const Scenario plan = scenarios::parse_scenario(
        "model: {family: llama, layers: 16, hidden: 1024, heads: 16, kv_heads: 8, ffn: 4096, "
        "vocab: "
        "128256, max_positions: 4096}\n"
        "cluster: hgx-h100\n"
        "parallel: {tensor: 2, pipeline: 4, data: 2, context: 2, sequence: true, zero_stage: 1}\n"
        "schedule: {name: interleaved-1f1b, stages_per_rank: 2}\n"
        "training: {global_batch: 64, micro_batch: 1, seq_length: 4096, precision: fp8-current, "
        "recompute: {modules: [core_attn, mlp]}}\n"
        "framework: {base: megatron-2026, tensor_overlap: true, cuda_graphs: [attn]}\n",
        "plan.yaml");
    for (const char* format : {"megatron", "bridge"})
        EXPECT_THAT(keys_of(export_job(plan, format)), testing::IsEmpty())
            << export_job(plan, format).text;
}

/// Only Megatron-Core, and GPT-NeoX, leave norms and biases out of weight decay by themselves.
TEST(ExportedJob, SaysWhereAnOptimizerWouldDecayNormsToo) {
    const auto unsaid = [](const char* decayed, const std::string& format) {
        const Scenario plan = scenarios::parse_scenario(
            fmt::format(
                "model: llama3-8b\ncluster: hgx-h100\nparallel: {{data: 8, zero_stage: 1}}\n"
                "training: {{micro_batch: 1, micro_batches: 2, seq_length: 4096, "
                "optimizer: {{name: adamw, weight_decay_of: {}}}}}\n",
                decayed),
            "plan.yaml");
        return keys_of(export_job(plan, format)).contains("training.optimizer.weight_decay_of");
    };
    for (const std::string& format : export_formats()) {
        const bool megatrons = format != "torchtitan" && format != "deepspeed" &&
                               format != "colossalai" && format != "nanotron" &&
                               format != "automodel";
        EXPECT_EQ(unsaid("matrices", format), !megatrons) << format;
        EXPECT_FALSE(unsaid("all", format)) << format;
    }
}

TEST(ExportedJob, HasRoutersInFp32WhereThePlanHas) {
    const Scenario plan = scenarios::parse_scenario(
        "model: {base: mixtral-8x7b, router_dtype: fp32}\ncluster: hgx-h100\n"
        "parallel: {data: 8, expert: 8, zero_stage: 1}\n"
        "training: {micro_batch: 1, micro_batches: 2, seq_length: 4096}\n"
        "framework: megatron-2026\n",
        "plan.yaml");
    EXPECT_THAT(export_job(plan, "megatron").text, testing::HasSubstr("--moe-router-dtype fp32"));
    EXPECT_THAT(export_job(plan, "bridge").text, testing::HasSubstr("model.moe_router_dtype=fp32"));
}

/// Megatron-FSDP does not support a pipeline there; a job that asks for it is refused.
TEST(ExportedJob, OfPairsInAPipelineHasTheDistributedOptimizer) {
    const Scenario plan = scenarios::parse_scenario(
        "model: mixtral-8x7b\ncluster: hgx-h100\nnodes: 2\n"
        "parallel: {pipeline: 2, stages_per_rank: 2, expert: 8, zero_stage: 2}\n"
        "schedule: combined-1f1b\n"
        "training: {micro_batch: 1, micro_batches: 4, seq_length: 4096}\n"
        "framework: megatron-2026\n",
        "plan.yaml");
    const Exported job = export_job(plan, "megatron");
    EXPECT_THAT(job.text, testing::HasSubstr("--use-distributed-optimizer"));
    EXPECT_THAT(job.text, testing::Not(testing::HasSubstr("--use-megatron-fsdp")));
    EXPECT_TRUE(keys_of(job).contains("parallel.zero_stage"));
    std::string asked = job.text;
    asked.replace(asked.find("--use-distributed-optimizer"), 27, "--use-megatron-fsdp");
    try {
        import_text(asked, "job.sh", "megatron", {{"cluster", "hgx-h100"}});
        ADD_FAILURE() << "it was read";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("Megatron-FSDP does not support a pipeline"));
        EXPECT_THAT(error.what(), testing::HasSubstr("job.sh:"));
    }
}

TEST(ExportedJob, OfTwoLevelsOfContextNamesTheirRanks) {
    const Scenario plan = scenarios::parse_scenario(
        "model: {base: llama3-8b, layers: 4}\ncluster: hgx-h100\nnodes: 2\n"
        "parallel: {context: 16}\ntraining: {seq_length: 32768}\n"
        "framework: {base: megatron-2026, context_communication: a2a+p2p}\n",
        "plan.yaml");
    EXPECT_THAT(export_job(plan, "megatron").text,
                testing::HasSubstr("--hierarchical-context-parallel-sizes 8 2"));
    for (const char* format : {"megatron", "bridge", "colossalai"}) expect_round_trip(plan, format);
}

TEST(ExportedJob, OfDynamicContextParallelismHasMegatronsFlags) {
    const std::string plan =
        "model: {base: llama3-8b, layers: 4}\ncluster: hgx-h100\nnodes: 2\n"
        "parallel: {context: 4, dynamic_context_parallel: true, max_seqlen_per_dp_cp_rank: 4096, "
        "min_dynamic_context_parallel_size: 2}\n"
        "training: {global_batch: 32, micro_batch: 1, seq_length: 32768}\n"
        "framework: megatron-2026\n";
    for (const char* packing : {"true", "false"}) {
        const Scenario packed = scenarios::parse_scenario(
            plan +
                fmt::format("imbalance: {{sequence: {{mean: 2048, global_batch_packing: {}}}}}\n",
                            packing),
            "plan.yaml");
        const std::string text = export_job(packed, "megatron").text;
        for (const char* flag :
             {"--dynamic-context-parallel\n", "--min-dynamic-context-parallel-size 2\n",
              "--max-seqlen-per-dp-cp-rank 4096\n", "--calculate-per-token-loss\n",
              "--sequence-packing-scheduler default_dynamic_cp\n"})
            EXPECT_THAT(text, testing::HasSubstr(flag));
        EXPECT_THAT(export_job(packed, "bridge").text,
                    testing::HasSubstr("model.max_seqlen_per_dp_cp_rank=4096"));
        for (const char* format : {"megatron", "bridge"}) expect_round_trip(packed, format);
    }
    const Scenario equal = scenarios::parse_scenario(
        "model: {base: llama3-8b, layers: 4}\ncluster: hgx-h100\n"
        "parallel: {context: 4}\ntraining: {global_batch: 32, micro_batch: 1, seq_length: 32768}\n"
        "imbalance: {sequence: {mean: 2048, global_batch_packing: true}}\n",
        "plan.yaml");
    EXPECT_THAT(export_job(equal, "megatron").text,
                testing::HasSubstr("--sequence-packing-scheduler dp_balanced\n"));
    expect_round_trip(equal, "megatron");
}

TEST(ExportedJob, NamesDocumentsWhoseLengthsItDoesNotSay) {
    const std::string plan =
        "model: {base: llama3-8b, layers: 4}\ncluster: hgx-h100\n"
        "training: {global_batch: 32, micro_batch: 1, seq_length: 8192}\n"
        "imbalance: {sequence: {mean: 2048, spread: 2, shortest: 96, longest: 8000";
    const Scenario packed_before = scenarios::parse_scenario(plan + "}}\n", "plan.yaml");
    const Scenario packed_in_step =
        scenarios::parse_scenario(plan + ", global_batch_packing: true}}\n", "plan.yaml");
    for (const std::string& format : export_formats()) {
        const Exported before = export_job(packed_before, format);
        EXPECT_THAT(keys_of(before), testing::Contains("imbalance.sequence")) << format;
        EXPECT_THAT(before.text,
                    testing::HasSubstr("(mean 2048, spread 2, shortest 96, longest 8000)"));
        const auto named = keys_of(export_job(packed_in_step, format));
        EXPECT_EQ(named.contains("imbalance.sequence"), format != "megatron") << format;
        EXPECT_FALSE(keys_of(export_job(scenarios::parse_scenario(
                                            "{model: llama3-8b, cluster: hgx-h100}", "plan.yaml"),
                                        format))
                         .contains("imbalance.sequence"));
    }
    expect_round_trip(packed_before, "megatron");
}

TEST(ExportedJob, NamesUnevenLoadsWhichNoJobSays) {
    const Scenario plan = scenarios::parse_scenario(
        "model: {base: mixtral-8x7b, layers: 4}\ncluster: hgx-h100\nparallel: {expert: 8}\n"
        "training: {global_batch: 32, micro_batch: 1, seq_length: 4096}\n"
        "imbalance: {router: {spread: 0.2}, ranks: {0: 1.5}, jitter: 0.1}\n",
        "plan.yaml");
    for (const std::string& format : export_formats())
        EXPECT_THAT(
            keys_of(export_job(plan, format)),
            testing::IsSupersetOf({std::string("imbalance.router"), std::string("imbalance.ranks"),
                                   std::string("imbalance.jitter")}))
            << format;
}

TEST(ExportedJob, OfDeepspeedHasItsLimitsOfGatheredParameters) {
    const Scenario plan = scenarios::parse_scenario(
        "model: llama3-8b\ncluster: hgx-h100\nparallel: {zero_stage: 3}\n"
        "training: {global_batch: 64, micro_batch: 2, seq_length: 4096}\n"
        "framework: {base: deepspeed, stage3_prefetch_bucket_size: 7000000, "
        "stage3_model_persistence_threshold: 500000}\n",
        "plan.yaml");
    const Exported job = export_job(plan, "deepspeed");
    EXPECT_THAT(job.text, testing::HasSubstr("\"stage3_prefetch_bucket_size\": 7000000"));
    EXPECT_THAT(job.text, testing::HasSubstr("\"stage3_model_persistence_threshold\": 500000"));
    EXPECT_THAT(job.text, testing::HasSubstr("\"stage3_max_live_parameters\": 1000000000"));
    for (const std::string& key : keys_of(job))
        EXPECT_THAT(key, testing::Not(testing::HasSubstr("stage3")));
    expect_round_trip(plan, "deepspeed");
}

TEST(ExportedJob, OfDeepspeedOverlapsAtStageThreeAsThePlanDoes) {
    for (const int stage : {1, 3}) {
        const Scenario plan = scenarios::parse_scenario(
            fmt::format("model: llama3-8b\ncluster: hgx-h100\nparallel: {{zero_stage: {}}}\n"
                        "training: {{global_batch: 64, micro_batch: 2, seq_length: 4096}}\n"
                        "framework: deepspeed\n",
                        stage),
            "plan.yaml");
        const Exported job = export_job(plan, "deepspeed");
        EXPECT_THAT(job.text, testing::HasSubstr(fmt::format("\"overlap_comm\": {},", stage == 3)));
        EXPECT_THAT(keys_of(job), testing::Not(testing::Contains("framework.overlap_grad_reduce")));
        expect_round_trip(plan, "deepspeed");
    }
}

TEST(ExportedJob, SaysWhatTheFrameworkCannotDo) {
    const Scenario plan = scenarios::read_scenario("gpt2-xl-zb-h1");
    EXPECT_THAT(export_job(plan, "megatron").text, testing::HasSubstr("not zb-h1"));
    EXPECT_THAT(export_job(plan, "torchtitan").text, testing::HasSubstr("PipelineScheduleMulti"));
    EXPECT_THAT(export_job(plan, "deepspeed").text,
                testing::HasSubstr("DeepSpeed pipelines are 1F1B"));
}

TEST(ExportedJob, HasAnUnevenCutAsALayout) {
    const Scenario plan =
        scenarios::read_scenario("gpt2-xl-1f1b", {{"parallel.partition", "[12, 13, 13, 10]"}});
    EXPECT_THAT(export_job(plan, "megatron").text,
                testing::HasSubstr("--pipeline-model-parallel-layout 'Et*12|(t*13|)*2t*10L'"));
}

TEST(ExportedJob, RefusesFormatsThatAreNone) {
    EXPECT_THROW(export_job(scenarios::read_scenario("gpt2-xl"), "megatorn"), InputError);
}

}  // namespace
}  // namespace debubble::jobs

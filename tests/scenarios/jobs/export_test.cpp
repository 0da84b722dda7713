#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"
#include "scenarios/jobs/write/exported.h"
#include "scenarios/jobs/write/job_writer.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::jobs {
namespace {

using scenarios::Scenario;

std::set<std::string> keys_of(const Exported& exported) {
    std::set<std::string> keys;
    for (const Unsaid& one : exported.unsaid) {
        for (std::size_t at = 0; at < one.key.size();) {
            const std::size_t end = std::min(one.key.find(", ", at), one.key.size());
            keys.insert(one.key.substr(at, end - at));
            at = end + 2;
        }
    }
    return keys;
}

std::vector<Scenario> shipped_plans() {
    std::vector<Scenario> plans;
    for (const std::string& name : scenarios::shipped_scenarios()) {
        Scenario scenario = scenarios::read_scenario(name);
        if (scenario.model.sees_images() || scenario.model.tower) continue;  // they are refused
        plans.push_back(std::move(scenario));
    }
    return plans;
}

/// A plan of few layers, of everything that is drawn; nothing if its numbers do not agree.
std::optional<Scenario> random_plan(std::mt19937& random) {
    const auto pick = [&](std::initializer_list<const char*> words) {
        return std::string(*(words.begin() + random() % words.size()));
    };
    const auto number = [&](std::initializer_list<int> numbers) {
        return *(numbers.begin() + random() % numbers.size());
    };
    const bool llama = random() % 3 != 0;
    const bool experts = llama && random() % 4 == 0;
    const int pipeline = number({1, 2, 4});
    const int chunks = pipeline > 1 ? number({1, 1, 2}) : 1;
    const int tensor = number({1, 2, 4});
    const int data = number({1, 2, 4});
    std::string text = fmt::format(
        "model: {{family: {}, layers: {}, hidden: 1024, heads: 16{}, ffn: {}, vocab: {}, "
        "max_positions: 4096{}}}\n",
        llama ? "llama" : "gpt2", number({8, 12, 16}), llama ? pick({"", ", kv_heads: 8"}) : "",
        number({2048, 4096}), number({32000, 50257}),
        experts ? ", experts: 8, experts_per_token: " + pick({"1", "2"})
        : llama ? pick({"", ", tied_embedding: true", ", rope_theta: 500000"})
                : "");
    const bool sequence = tensor > 1 && (experts || random() % 2 == 0);
    text += "cluster: " + pick({"hgx-h100", "hgx-b200"}) + "\n";
    text += fmt::format(
        "parallel: {{tensor: {}, pipeline: {}, data: {}, context: {}, sequence: {}, "
        "zero_stage: {}{}}}\n",
        tensor, pipeline, data, number({1, 1, 2}), sequence, number({0, 1, 1, 3}),
        experts ? ", expert: 2, expert_tensor: 1" : "");
    text += chunks > 1
                ? fmt::format("schedule: {{name: interleaved-1f1b, stages_per_rank: {}}}\n", chunks)
                : "schedule: " + pick({"1f1b", "1f1b", "gpipe", "zb-h1"}) + "\n";
    text += fmt::format(
        "training: {{global_batch: {}, micro_batch: {}, seq_length: {}, precision: {}, recompute: "
        "{}, attention: {}, dropout: {}}}\n",
        data * 8 * number({1, 2}), number({1, 2}), number({2048, 4096}),
        pick({"bf16", "bf16", "fp16", "fp8-current", "{base: bf16, grads: bf16}", "fp32"}),
        pick({"none", "selective", "full", "{method: block, layers: 1}"}),
        pick({"flash", "flash", "unfused"}), pick({"0", "0", "0.1"}));
    text += fmt::format(
        "framework: {{base: {}, overlap_grad_reduce: {}, overlap_param_gather: {}, "
        "loss: {}{}}}\n",
        pick({"megatron-2026", "megatron-2026", "pytorch-fsdp2", "deepspeed"}),
        pick({"true", "false"}), pick({"true", "false"}),
        pick({"unfused", "megatron-fused", "transformer-engine"}),
        pick({"", ", cuda_graphs: [attn, mlp]", ", vocabulary_multiple: 64"}));
    try {
        return scenarios::parse_scenario(text, "random.yaml");
    } catch (const InputError&) {
        return {};
    }
}

/// Reads a job back with what it was said to leave out, and lays the plans beside each other.
void expect_round_trip(const Scenario& plan, const std::string& format) {
    const Exported exported = export_job(plan, format);
    const std::set<std::string> unsaid = keys_of(exported);
    ASSERT_FALSE(unsaid.contains("plan")) << format << " " << plan.name << ": " << exported.text;
    std::vector<scenarios::Override> given{
        {"cluster", plan.cluster.gpus_per_tray
                        ? plan.cluster.name
                        : fmt::format("{{base: {}, gpus_per_node: {}}}", plan.cluster.name,
                                      plan.cluster.gpus_per_node)},
        {"gpus", std::to_string(plan.gpus)}};
    if (unsaid.contains("model")) return;  // export_job has compared the rest
    if (unsaid.contains("training.seq_length"))
        given.emplace_back("seq_length", std::to_string(plan.training.seq_length));
    if (unsaid.contains("training.global_batch"))
        given.emplace_back("global_batch", std::to_string(plan.training.global_batch));
    if (unsaid.contains("parallel.context"))
        given.emplace_back("parallel.context", std::to_string(plan.parallel.context));
    if (unsaid.contains("imbalance.sequence"))
        given.emplace_back("imbalance.sequence",
                           fmt::format("{{mean: 4096, global_batch_packing: {}}}",
                                       plan.imbalance.documents->global_batch_packing));
    if (unsaid.contains("parallel.sequence"))
        given.emplace_back("parallel.sequence", plan.parallel.sequence ? "true" : "false");
    const Imported back =
        import_text(exported.text, fmt::format("job{}", export_ending(format)), "", given);
    EXPECT_EQ(back.format, format);
    const auto wanted = plan_keys(plan);
    const auto got = plan_keys(scenarios::parse_scenario(back.text, "back.yaml"));
    for (const auto& [key, value] : wanted) {
        if (key == "model" || unsaid.contains(key)) continue;
        const auto found = got.find(key);
        EXPECT_EQ(found == got.end() ? "nothing" : found->second, value)
            << key << " of " << plan.name << " as " << format << "\n"
            << exported.text;
    }
}

TEST(ExportedJob, ReadsBackAsThePlanForEveryShippedScenario) {
    for (const Scenario& plan : shipped_plans())
        for (const std::string& format : export_formats()) expect_round_trip(plan, format);
}

TEST(ExportedJob, ReadsBackAsThePlanForThreeHundredRandomPlans) {
    std::mt19937 random(24);
    int plans = 0;
    for (int tries = 0; plans < 300 && tries < 5000; ++tries) {
        const std::optional<Scenario> plan = random_plan(random);
        if (!plan) continue;
        const std::vector<std::string> formats = export_formats();
        const std::size_t other = 1 + static_cast<std::size_t>(plans++) % (formats.size() - 1);
        expect_round_trip(*plan, formats.front());
        expect_round_trip(*plan, formats[other]);
    }
    EXPECT_EQ(plans, 300);
}

/// Keys that a framework has whatever the plan is, which a job therefore never leaves out.
const std::map<std::string, std::vector<std::string>> kAlwaysSaid{
    {"megatron",
     {"model", "parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "parallel.zero_stage", "parallel.expert", "parallel.stages_per_rank",
      "training.global_batch", "training.micro_batch", "training.seq_length", "training.attention",
      "training.dropout", "framework.overlap_grad_reduce", "framework.overlap_param_gather",
      "framework.cuda_graphs"}},
    {"bridge",
     {"model", "parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "parallel.zero_stage", "parallel.expert", "parallel.stages_per_rank",
      "training.global_batch", "training.micro_batch", "training.seq_length", "training.attention",
      "training.dropout"}},
    {"torchtitan",
     {"parallel.tensor", "parallel.pipeline", "parallel.context", "training.seq_length",
      "training.global_batch", "training.micro_batch"}},
    {"deepspeed",
     {"training.micro_batch", "training.global_batch", "parallel.data",
      "framework.overlap_grad_reduce"}},
    {"colossalai",
     {"parallel.tensor", "parallel.pipeline", "parallel.data", "training.micro_batch",
      "training.attention"}},
    {"automodel",
     {"parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "training.global_batch", "training.micro_batch", "training.seq_length"}},
    {"primus",
     {"model", "parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "parallel.zero_stage", "parallel.expert", "parallel.stages_per_rank",
      "training.global_batch", "training.micro_batch", "training.seq_length", "training.attention",
      "training.dropout", "framework.overlap_grad_reduce", "framework.overlap_param_gather"}},
    {"ms-swift",
     {"parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "parallel.zero_stage", "parallel.expert", "training.global_batch",
      "training.micro_batch", "training.seq_length", "training.attention"}},
    {"nanotron",
     {"parallel.tensor", "parallel.pipeline", "parallel.context", "parallel.data",
      "parallel.sequence", "training.global_batch", "training.micro_batch", "training.seq_length"}},
    {"gpt-neox",
     {"parallel.tensor", "parallel.pipeline", "parallel.data", "parallel.sequence",
      "training.global_batch", "training.micro_batch", "training.seq_length", "training.attention",
      "training.dropout"}}};

TEST(ExportedJob, NeverLeavesOutWhatItsFrameworkHas) {
    std::mt19937 random(2024);
    std::vector<Scenario> plans;
    for (int tries = 0; plans.size() < 300 && tries < 5000; ++tries)
        if (std::optional<Scenario> plan = random_plan(random)) plans.push_back(std::move(*plan));
    for (const Scenario& plan : plans)
        for (const std::string& format : export_formats()) {
            const std::set<std::string> unsaid = keys_of(export_job(plan, format));
            for (const std::string& key : kAlwaysSaid.at(format))
                EXPECT_FALSE(unsaid.contains(key)) << key << " of " << plan.name << ", " << format;
        }
}

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

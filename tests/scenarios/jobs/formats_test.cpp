#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/hf/hf_config.h"
#include "scenarios/jobs/job.h"
#include "scenarios/jobs/torchtitan/torchtitan.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::jobs {
namespace {

using scenarios::Override;
using scenarios::Scenario;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Scenario read_as(const std::string& text, const std::string& file,
                 const std::vector<Override>& given) {
    return scenarios::parse_scenario(import_text(text, file, "", given).text, "back.yaml");
}

std::string refusal_of(const std::string& text, const std::string& file,
                       const std::string& format = "") {
    try {
        import_text(text, file, format, {{"cluster", "hgx-h100"}, {"gpus", "8"}});
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

constexpr const char* kTitan =
    "[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"quantize.linear.float8\"]\n"
    "[training]\nlocal_batch_size = 8\nseq_len = 4096\n"
    "[parallelism]\ndata_parallel_shard_degree = 4\npipeline_parallel_degree = 2\n"
    "pipeline_parallel_schedule = \"Interleaved1F1B\"\npipeline_parallel_microbatch_size = 2\n"
    "[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"op\"\n";

TEST(TorchtitanJob, IsReadFromItsToml) {
    const Scenario s = read_as(kTitan, "llama.toml", {{"cluster", "hgx-h100"}});
    EXPECT_EQ(s.gpus, 8);
    EXPECT_EQ(s.parallel.zero_stage, 3);
    EXPECT_EQ(s.parallel.wrap, scenarios::Wrap::Stage);
    EXPECT_FALSE(s.parallel.reshard);
    EXPECT_EQ(s.schedule.name, "interleaved-1f1b");
    EXPECT_EQ(s.training.micro_batch, 2);
    EXPECT_EQ(s.training.micro_batches, 4);
    EXPECT_EQ(s.training.recompute, models::Recompute::Products);
    EXPECT_EQ(s.training.precision.recipe, models::Recipe::Fp8Current);
    // 32 layers, and embedding and head as one each: 34 over 4 stages.
    EXPECT_THAT(s.parallel.layers_per_stage, ElementsAre(8, 9, 8, 7));
}

TEST(TorchtitanJob, CountsEmbeddingAndHeadAsLayers) {
    EXPECT_THAT(titan_partition(6, 4, 1, 1), ElementsAre(1, 2, 2, 1));
    EXPECT_THAT(titan_partition(2, 8, 3, 1), testing::IsEmpty());
}

TEST(TorchtitanJob, SaysWhereItsTomlIsWrong) {
    EXPECT_THAT(refusal_of("[model\nname = 1\n", "a.toml"), HasSubstr("a.toml:1:"));
    EXPECT_THAT(refusal_of("[training]\nseq_len = \"long\"\n", "a.toml"),
                HasSubstr("a.toml:2:1: error: training.seq_len takes a whole number"));
    EXPECT_THAT(refusal_of("a = " + std::string(200, '[') + std::string(200, ']'), "a.toml"),
                HasSubstr("a.toml:"));
}

constexpr const char* kDeepspeed =
    "{ // a comment\n  \"train_batch_size\": 64, # another\n"
    "  \"train_micro_batch_size_per_gpu\": 2,\n  \"bf16\": {\"enabled\": true},\n"
    "  \"zero_optimization\": {\"stage\": 3, \"reduce_bucket_size\": 5e8,},\n}\n";
const std::vector<Override> kDeepspeedGiven{
    {"cluster", "hgx-h100"}, {"gpus", "8"}, {"model", "llama3-8b"}, {"seq_length", "4096"}};

TEST(DeepspeedJob, IsReadWithCommentsAndDefaults) {
    const Scenario s = read_as(kDeepspeed, "ds.json", kDeepspeedGiven);
    EXPECT_EQ(s.parallel.zero_stage, 3);
    EXPECT_EQ(s.training.micro_batches, 4);
    EXPECT_EQ(s.training.precision.grads, models::DataType::Bf16);
    EXPECT_TRUE(s.framework.overlap_grad_reduce);
    EXPECT_EQ(s.framework.grad_bucket.count, 1'000'000'000);
}

/// A job of ZeRO-3 with these settings beside its stage.
std::string stage3(const std::string& settings) {
    return "{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2, \"bf16\": "
           "{\"enabled\": true}, \"zero_optimization\": {\"stage\": 3" +
           settings + "}}";
}

TEST(DeepspeedJob, GivesItsLimitsOfGatheredParameters) {
    const Scenario s = read_as(stage3(", \"stage3_max_live_parameters\": 1e8, "
                                      "\"stage3_prefetch_bucket_size\": 0, "
                                      "\"stage3_max_reuse_distance\": 3e8, "
                                      "\"stage3_param_persistence_threshold\": 12345, "
                                      "\"stage3_model_persistence_threshold\": "
                                      "9223372036854775807, \"sub_group_size\": 1e9"),
                               "ds.json", kDeepspeedGiven);
    const auto limits = scenarios::gather_limits(s);
    ASSERT_TRUE(limits);
    EXPECT_EQ(*limits,
              (scenarios::GatherLimits{0, 100'000'000, 300'000'000, 12345, 1'000'000'000'000'000}));
    EXPECT_EQ(scenarios::gather_limits(read_as(stage3(""), "ds.json", kDeepspeedGiven)),
              scenarios::GatherLimits{})
        << "DeepSpeed's defaults";
}

/// As transformers fills them in, where the model's width is known: from a config.json, a name, a
/// name with other keys, or keys alone.
TEST(DeepspeedJob, ReadsAutomaticSizesAsTransformersFillsThemIn) {
    const std::string job = stage3(
        ", \"stage3_prefetch_bucket_size\": \"auto\", \"reduce_bucket_size\": \"auto\", "
        "\"stage3_param_persistence_threshold\": \"auto\"");
    const std::filesystem::path config =
        std::filesystem::path(testing::TempDir()) / "deepspeed_limits_config.json";
    std::ofstream(config)
        << models::hf_config(
               scenarios::parse_scenario("{model: llama3-8b, cluster: hgx-h100}", "m.yaml").model)
               .text;
    std::vector<Override> given = kDeepspeedGiven;
    const auto expect_width = [&](std::int64_t hidden) {
        EXPECT_THAT(import_text(job, "ds.json", "deepspeed", given).notes,
                    testing::Not(Contains(HasSubstr("stage3_"))));
        const Scenario s = read_as(job, "ds.json", given);
        const auto limits = scenarios::gather_limits(s);
        ASSERT_TRUE(limits);
        EXPECT_EQ(limits->prefetch, 9 * hidden * hidden / 10);
        EXPECT_EQ(limits->parameter, 10 * hidden);
        EXPECT_EQ(s.framework.grad_bucket.count, 2 * hidden * hidden);
    };
    given[2] = {"model", config.string()};
    expect_width(4096);
    given[2] = {"model", "llama2-13b"};
    expect_width(5120);
    given.emplace_back("model.layers", "4");
    expect_width(5120);
    given.pop_back();
    given[2] = {"model",
                "{family: llama, layers: 4, hidden: 1024, heads: 8, ffn: 2048, vocab: "
                "32000, max_positions: 4096}"};
    expect_width(1024);
}

TEST(DeepspeedJob, SaysWhereALimitIsNoNumberOfElements) {
    EXPECT_THAT(refusal_of(stage3(", \"stage3_max_live_parameters\": -1"), "ds.json"),
                HasSubstr("ds.json:1:"));
    EXPECT_THAT(refusal_of(stage3(", \"stage3_prefetch_bucket_size\": \"all\""), "ds.json"),
                HasSubstr("takes a whole number"));
    EXPECT_THAT(
        refusal_of(stage3(",\n\"stage3_prefetch_bucket_size\": {\"a\": 1}"), "ds.json"),
        testing::AllOf(HasSubstr("ds.json:2:"),
                       HasSubstr("stage3_prefetch_bucket_size takes one value, not a map")));
    EXPECT_THAT(
        refusal_of(stage3(",\n\"stage3_prefetch_bucket_size\": {}"), "ds.json"),
        testing::AllOf(HasSubstr("ds.json:2:"), HasSubstr("takes a whole number, not a map")));
}

TEST(DeepspeedJob, NamesSettingsThatItDoesNotKnowOrPlan) {
    const auto notes = [](const std::string& settings) {
        return import_text(stage3(settings), "ds.json", "deepspeed", kDeepspeedGiven).notes;
    };
    EXPECT_THAT(notes(",\n\"stage3_prefetch_bucket_sise\": 7"),
                Contains(testing::AllOf(
                    HasSubstr("ds.json:2 zero_optimization.stage3_prefetch_bucket_sise"),
                    HasSubstr("did you mean 'zero_optimization.stage3_prefetch_bucket_size'"))));
    for (const char* setting :
         {"\"zero_hpz_partition_size\": 8", "\"mics_hierarchical_params_gather\": true",
          "\"stage3_anything\": 1", "\"offload_optimizer\": {\"device\": \"cpu\", \"ratios\": 1}"})
        EXPECT_THAT(notes(std::string(",\n") + setting),
                    Contains(testing::AllOf(HasSubstr("ds.json:2 "), HasSubstr("it is ignored"))))
            << setting;
    EXPECT_THAT(
        notes(", \"zero_hpz_partition_size\": 1, \"contiguous_gradients\": true, "
              "\"stage3_gather_16bit_weights_on_model_save\": true, \"sub_group_size\": 1e9, "
              "\"offload_optimizer\": {\"device\": \"cpu\", \"pin_memory\": true}"),
        testing::Not(Contains(HasSubstr("it is ignored"))));
}

TEST(DeepspeedJob, NamesFirstWordsThatItDoesNotKnow) {
    const auto job = [](const std::string& settings) {
        return import_text(
            "{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2,\n" + settings + "}",
            "ds.json", "deepspeed", kDeepspeedGiven);
    };
    EXPECT_THAT(job("\"zero_optimisation\": {\"stage\": 3}").notes,
                Contains(testing::AllOf(HasSubstr("ds.json:2 zero_optimisation.stage"),
                                        HasSubstr("did you mean 'zero_optimization'"))));
    const auto usual =
        job("\"steps_per_print\": 10, \"wall_clock_breakdown\": false, \"scheduler\": {\"type\": "
            "\"WarmupLR\"}, \"gradient_clipping\": 1.0");
    EXPECT_THAT(usual.notes, testing::Not(Contains(HasSubstr("it is ignored"))));
    EXPECT_GE(usual.silent, 3);
    const auto beside = import_text(
        "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_processes: 8\n"
        "mixed_precision: bf16\ndeepspeed_config:\n  zero_stage: 2\n",
        "a.yaml", "accelerate",
        {{"cluster", "hgx-h100"},
         {"model", "llama3-8b"},
         {"seq_length", "4096"},
         {"micro_batch", "1"}});
    EXPECT_THAT(beside.notes, testing::Not(Contains(HasSubstr("setting of DeepSpeed"))))
        << "accelerate's own settings stand beside DeepSpeed's";
}

TEST(DeepspeedJob, SaysThatNobodyFillsInAutomaticBounds) {
    for (const char* name : {"stage3_max_live_parameters", "stage3_max_reuse_distance",
                             "stage3_model_persistence_threshold"})
        EXPECT_THAT(
            import_text(stage3(fmt::format(",\n\"{}\": \"auto\"", name)), "ds.json", "deepspeed",
                        kDeepspeedGiven)
                .notes,
            Contains(testing::AllOf(HasSubstr(fmt::format("ds.json:2 zero_optimization.{}", name)),
                                    HasSubstr("DeepSpeed's default is planned"))));
}

TEST(DeepspeedJob, RefusesWhatItCannotPlan) {
    const std::string nvme =
        "{\"train_batch_size\": 8, \"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": "
        "{\"device\": \"nvme\"}}}";
    EXPECT_THAT(refusal_of(nvme, "ds.json"), HasSubstr("NVMe"));
    EXPECT_THAT(refusal_of("{\"a\": 1, \"a\": 2}", "ds.json", "deepspeed"),
                HasSubstr("key 'a' is written twice"));
    EXPECT_THAT(refusal_of("{\"train_batch_size\": ", "ds.json"), HasSubstr("ds.json:1:"));
}

TEST(ColossalJob, IsReadFromTheCallOfItsPlugin) {
    const std::string text =
        "config = LlamaConfig(hidden_size=4096, num_hidden_layers=32, num_attention_heads=32)\n"
        "plugin = HybridParallelPlugin(  # the cut\n    tp_size=2, pp_size=2,\n"
        "    num_microbatches=4, zero_stage=1, precision='bf16', enable_flash_attention=True,\n)\n"
        "loader = plugin.prepare_dataloader(data, batch_size=8)\n";
    const Scenario s = read_as(text, "train.py",
                               {{"cluster", "hgx-h100"}, {"gpus", "16"}, {"seq_length", "2048"}});
    EXPECT_EQ(s.parallel.data, 4);
    EXPECT_EQ(s.training.global_batch, 32);
    EXPECT_EQ(s.training.micro_batch, 2);
    EXPECT_EQ(s.parallel.zero_stage, 1);
    EXPECT_EQ(s.framework.kernels.vocabulary_multiple, 64);
    EXPECT_EQ(s.training.recompute, models::Recompute::None);
}

TEST(ColossalJob, SaysWhereABracketHasNoEnd) {
    EXPECT_THAT(refusal_of("plugin = HybridParallelPlugin(tp_size=2,\n", "train.py"),
                HasSubstr("train.py:1:10: error: the bracket of this call is not closed"));
    EXPECT_THAT(refusal_of("x = 'open\nHybridParallelPlugin()", "train.py"),
                HasSubstr("this string is not terminated"));
    EXPECT_THAT(refusal_of("HybridParallelPlugin(tp_size=args.tp)", "train.py"),
                HasSubstr("known only when the job starts"));
}

TEST(ColossalJob, IsReadFromPairsToo) {
    const Scenario s = read_as("tp_size=2\npp_size=1\nbatch_size=4\nprecision=bf16\n", "job.txt",
                               {{"cluster", "hgx-h100"},
                                {"gpus", "8"},
                                {"model", "llama3-8b"},
                                {"seq_length", "4096"},
                                {"vocab", "128256"}});
    EXPECT_EQ(s.parallel.tensor, 2);
}

constexpr const char* kBridge =
    "_target_: megatron.bridge.training.config.ConfigContainer\n"
    "model:\n  vocab_size: 32000\n  seq_length: 2048\n  share_embeddings_and_output_weights: true\n"
    "  num_layers: 8\n  hidden_size: 512\n  num_attention_heads: 8\n  ffn_hidden_size: 2048\n"
    "  gated_linear_unit: true\n  activation_func: {_target_: torch.nn.functional.silu}\n"
    "  add_bias_linear: false\n  normalization: RMSNorm\n  position_embedding_type: rope\n"
    "  tensor_model_parallel_size: 2\n  attention_backend: {_target_: x.AttnBackend, _args_: [5]}\n"
    "train: {micro_batch_size: 1, global_batch_size: 16}\n"
    "ddp: {use_distributed_optimizer: true, grad_reduce_in_fp32: true}\n"
    "mixed_precision: {bf16: true, fp8: hybrid, grad_reduce_in_fp32: false}\n";

TEST(BridgeJob, LetsLaterSectionsWin) {
    const Scenario s =
        read_as(kBridge, "run_config.yaml", {{"cluster", "hgx-h100"}, {"gpus", "8"}});
    EXPECT_EQ(s.model.family, models::Family::Llama);
    EXPECT_TRUE(s.model.tied_embedding);
    EXPECT_EQ(s.training.precision.recipe, models::Recipe::Fp8Current);
    EXPECT_EQ(s.training.precision.grads, models::DataType::Bf16);
    EXPECT_EQ(s.framework.grad_bucket.count, 256 << 20);
    EXPECT_TRUE(s.framework.overlap_grad_reduce);
}

TEST(PrimusJob, SaysWhichFileIsMissing) {
    const std::string text =
        "modules:\n  pre_trainer:\n    config: pre_trainer.yaml\n    model: llama.yaml\n"
        "    overrides: {micro_batch_size: 1}\n";
    EXPECT_THAT(refusal_of(text, "/nonexistent/job.yaml"),
                HasSubstr("model 'llama.yaml' names a missing file"));
}

TEST(AccelerateJob, KnowsTheWordsOfFsdp) {
    const std::string text =
        "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\n"
        "fsdp_config:\n  fsdp_version: 2\n  fsdp_activation_checkpointing: true\n";
    const std::vector<Override> given{{"cluster", "hgx-h100"},
                                      {"model", "llama3-8b"},
                                      {"seq_length", "4096"},
                                      {"micro_batch", "1"}};
    const Scenario s = read_as(text, "accelerate.yaml", given);
    EXPECT_EQ(s.gpus, 8);
    EXPECT_EQ(s.parallel.zero_stage, 3);
    EXPECT_EQ(s.training.recompute, models::Recompute::Full);
    EXPECT_EQ(s.framework.name, "pytorch-fsdp2");
    EXPECT_EQ(read_as("distributed_type: FSDP\nnum_processes: 8\nfsdp_config: "
                      "{fsdp_sharding_strategy: SHARD_GRAD_OP}\n",
                      "a.yaml", given)
                  .parallel.zero_stage,
              2);
}

TEST(AccelerateJob, TakesAbsentMegatronSettingsAsAccelerateDoes) {
    const std::string text =
        "distributed_type: MEGATRON_LM\nmixed_precision: bf16\nnum_processes: 8\n"
        "megatron_lm_config: {megatron_lm_tp_degree: 2}\n";
    const Imported imported = import_text(text, "a.yaml", "",
                                          {{"cluster", "hgx-h100"},
                                           {"model", "llama3-8b"},
                                           {"seq_length", "4096"},
                                           {"micro_batch", "1"}});
    EXPECT_THAT(imported.notes, Contains(HasSubstr("so accelerate uses 2")));
    EXPECT_THAT(imported.text, HasSubstr("context: 2"));
}

TEST(Jobs, AreRecognised) {
    EXPECT_EQ(recognised_format("a: 1", "x.toml"), "torchtitan");
    EXPECT_EQ(recognised_format("distributed_type: FSDP\n", "x.yaml"), "accelerate");
    EXPECT_EQ(recognised_format("{\"zero_optimization\": {}}", "x.json"), "deepspeed");
    EXPECT_EQ(recognised_format("--num-layers 4", "args"), "megatron");
    EXPECT_EQ(recognised_format("MODEL_ARGS:\n  --bf16: true\n", "c.yaml"), "megatron");
    EXPECT_THAT(refusal_of("model: gpt2\ncluster: x\n", "scenario.yaml"),
                HasSubstr("unrecognized job format"));
}

}  // namespace
}  // namespace debubble::jobs

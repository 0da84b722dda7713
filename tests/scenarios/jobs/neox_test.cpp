#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"

/// Made-up configurations of GPT-NeoX, of the shape of its examples.
namespace debubble::jobs {
namespace {

using scenarios::Override;
using scenarios::Scenario;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNeoxNetwork =
    "  # parallelism\n"
    "  \"pipe_parallel_size\": 2,\n  \"model_parallel_size\": 2,\n"
    "  \"num_layers\": 12,\n  \"hidden_size\": 1024,\n  \"num_attention_heads\": 16,\n"
    "  \"seq_length\": 2048,\n  \"max_position_embeddings\": 2048,\n  \"pos_emb\": \"rotary\",\n"
    "  \"rotary_pct\": 0.25,\n  \"no_weight_tying\": true,\n";
constexpr const char* kNeoxTraining =
    "  \"optimizer\": {\"type\": \"Adam\", \"params\": {\"lr\": 0.0006, \"betas\": [0.9, 0.95]}},\n"
    "  \"zero_optimization\": {\"stage\": 1, \"overlap_comm\": True, \"reduce_bucket_size\": "
    "500000000,},\n"
    "  \"train_micro_batch_size_per_gpu\": 4,\n  \"gradient_accumulation_steps\": 8,\n"
    "  \"checkpoint_activations\": true,\n  \"fp16\": {\"enabled\": true, \"loss_scale\": 0},\n";

std::string neox_job(const std::string& more) {
    return "{\n" + std::string(kNeoxNetwork) + kNeoxTraining + more + "}\n";
}

const std::vector<Override> kNeoxGiven{{"cluster", "dgx-a100-80gb"}, {"gpus", "16"}};

Scenario planned_neox(const std::string& text) {
    return scenarios::parse_scenario(import_text(text, "job.yml", "", kNeoxGiven).text,
                                     "back.yaml");
}

std::string refused_neox(const std::string& text) {
    try {
        planned_neox(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(NeoxJob, IsReadWithDefaultsOfGptNeox) {
    const Scenario s = planned_neox(neox_job("  \"gpt_j_residual\": true,\n"));
    EXPECT_EQ(s.parallel.tensor, 2);
    EXPECT_EQ(s.parallel.pipeline, 2);
    EXPECT_EQ(s.parallel.data, 4);
    EXPECT_EQ(s.training.global_batch, 128);  // 4 samples x 8 steps x 4 replicas
    EXPECT_EQ(s.parallel.zero_stage, 1);
    EXPECT_EQ(s.training.recompute, models::Recompute::Full);
    EXPECT_EQ(s.training.precision.compute, models::DataType::Fp16);
    EXPECT_EQ(s.training.dropout, 0);
    EXPECT_TRUE(s.framework.overlap_grad_reduce);
    EXPECT_EQ(s.training.attention, models::AttentionKernel::Unfused);
    // Layers with biases: q, k, v and o, two products of 4096, two norms; two tables of GPT-2's
    // tokens; a norm.
    EXPECT_EQ(models::parameter_count(s.model),
              12LL * (4 * 1024 * 1024 + 4 * 1024 + 8 * 1024 * 1024 + 4096 + 1024 + 4 * 1024) +
                  2LL * 50257 * 1024 + 2 * 1024);
}

/// Two functions beside the layers have "transformer" in their names: 14 items for 2 ranks.
TEST(NeoxJob, CutsByTypesOfLayers) {
    EXPECT_THAT(planned_neox(neox_job("")).parallel.layers_per_stage, ElementsAre(6, 6));
    std::string job = neox_job("");
    job.replace(job.find("\"pipe_parallel_size\": 2"), 23, "\"pipe_parallel_size\": 4");
    EXPECT_THAT(planned_neox(job).parallel.layers_per_stage, testing::SizeIs(4));
}

TEST(NeoxJob, KnowsNamesWithDashesAndHalvesGatedMlps) {
    const Scenario s = planned_neox(
        "{\"pipe-parallel-size\": 0, \"model-parallel-size\": 1, \"num-layers\": 2, "
        "\"hidden-size\": 256,\n \"num-attention-heads\": 4, \"num-kv-heads\": 2, "
        "\"seq-length\": 512, \"max-position-embeddings\": 512,\n \"pos-emb\": \"rotary\", "
        "\"norm\": \"rmsnorm\", \"activation\": \"swiglu\", \"intermediate-size\": 2048,\n"
        " \"mlp-multiple-of\": 256, \"use-bias-in-attn-linear\": false, \"use-bias-in-mlp\": "
        "false,\n \"no-weight-tying\": true, \"attention-config\": [[[\"flash\"], \"all\"]],\n"
        " \"train-micro-batch-size-per-gpu\": 1, \"vocab-size\": 1000, \"precision\": "
        "\"bfloat16\"}\n");
    EXPECT_EQ(s.training.attention, models::AttentionKernel::Flash);
    EXPECT_EQ(s.training.precision.compute, models::DataType::Bf16);
    // 2048 x 2 / 3 / 2 = 682, up to 768 columns
    EXPECT_EQ(
        models::parameter_count(s.model),
        2LL * (2 * 256 * 256 + 2 * 256 * 128 + 3 * 256 * 768 + 2 * 256) + 2 * 1000 * 256 + 256);
}

TEST(NeoxJob, RefusesOtherNetworksByName) {
    for (const char* kind : {"sparse_fixed", "local", "gmlp", "amlp", "rwkv", "mamba", "bigbird"})
        EXPECT_THAT(refused_neox(neox_job("  \"attention_config\": [[[\"" + std::string(kind) +
                                          "\"], 12]],\n")),
                    AllOf(HasSubstr("job.yml:"),
                          HasSubstr("layers of the kind '" + std::string(kind) + "'")));
    EXPECT_THAT(refused_neox(neox_job("  \"moe_num_experts\": 8,\n")),
                HasSubstr("GPT-NeoX's mixtures of experts"));
    EXPECT_THAT(refused_neox(neox_job("  \"num_unique_layers\": 6,\n")),
                HasSubstr("layers with shared parameters"));
    EXPECT_THAT(refused_neox(neox_job("  \"norm\": \"scalenorm\",\n")),
                HasSubstr("norms of the kind 'scalenorm'"));
    EXPECT_THAT(refused_neox(neox_job("  \"train_impl\": \"dpo\",\n")),
                HasSubstr("the training 'dpo'"));
    EXPECT_THAT(refused_neox(neox_job("  \"latent_size\": 6,\n")),
                HasSubstr("'latent' in its name suggests another network"));
}

TEST(NeoxJob, SaysWhatIsWrongAtItsPlace) {
    EXPECT_THAT(refused_neox(neox_job("  \"attention_config\": [[[\"flash\"], 5]],\n")),
                HasSubstr("attention_config has 5 layers, but the model has 12"));
    EXPECT_THAT(refused_neox(neox_job("  \"attention_config\": \"flash\",\n")),
                HasSubstr("must be a list of [[kinds of attention], layers of each]"));
    EXPECT_THAT(refused_neox(neox_job("  \"rotary_emb_base\": \"big\",\n")),
                HasSubstr("rotary_emb_base takes a number, not 'big'"));
    EXPECT_THAT(refused_neox(neox_job("  \"num-layers\": 24,\n")),
                HasSubstr("num-layers is also given in line 5 of 'job.yml'"));
}

TEST(NeoxJob, NotesWhatThePlanLacks) {
    const Imported job =
        import_text(neox_job("  \"partition_activations\": true,\n  \"use_bnb_optimizer\": true,\n"
                             "  \"fancy_speed\": 3,\n"),
                    "job.yml", "gpt-neox", kNeoxGiven);
    EXPECT_THAT(job.notes, Contains(HasSubstr("distributed over tensor ranks")));
    EXPECT_THAT(job.notes, Contains(HasSubstr("8-bit moments")));
    EXPECT_THAT(job.notes, Contains(HasSubstr("fancy_speed is not a known setting")));
}

TEST(NeoxJob, CallsNoSettingUnknownThatItPlans) {
    const Imported job =
        import_text(neox_job("  \"data_types\": {\"grad_accum_dtype\": \"fp32\"},\n"
                             "  \"pipe_partition_method\": \"type:transformer\",\n"
                             "  \"fp32_allreduce\": true,\n"),
                    "job.yml", "gpt-neox", kNeoxGiven);
    EXPECT_THAT(job.notes, Not(Contains(HasSubstr("not a known setting"))));
}

}  // namespace
}  // namespace debubble::jobs

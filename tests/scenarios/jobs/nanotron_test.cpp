#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"

/// Made-up jobs of nanotron, of the shape of its examples.
namespace debubble::jobs {
namespace {

using scenarios::Override;
using scenarios::Scenario;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// A job whose network and cut are given.
std::string nanotron_job(const std::string& network, const std::string& cut) {
    return "general: {project: tales, run: one}\n"
           "model:\n"
           "  dtype: bfloat16\n"
           "  init_method: {std: 0.02}\n"
           "  model_config:\n"
           "    hidden_size: 1024\n    num_hidden_layers: 8\n    num_attention_heads: 16\n"
           "    intermediate_size: 2816\n    vocab_size: 32000\n"
           "    max_position_embeddings: 2048\n" +
           network +
           "optimizer:\n"
           "  accumulate_grad_in_fp32: true\n  clip_grad: 1.0\n  zero_stage: 1\n"
           "  optimizer_factory: {name: adamW, torch_adam_is_fused: true, adam_eps: 1e-8}\n"
           "parallelism:\n" +
           cut +
           "tokens: {sequence_length: 2048, micro_batch_size: 2, "
           "batch_accumulation_per_replica: 4, train_steps: 10}\n";
}

constexpr const char* kNanotronCut =
    "  dp: 2\n  pp: 2\n  tp: 2\n  pp_engine: 1f1b\n  tp_mode: REDUCE_SCATTER\n"
    "  tp_linear_async_communication: true\n";

Scenario planned_nanotron(const std::string& network, const std::string& cut = kNanotronCut) {
    return scenarios::parse_scenario(
        import_text(nanotron_job(network, cut), "job.yaml", "", {{"cluster", "hgx-h100"}}).text,
        "back.yaml");
}

std::string refused_nanotron(const std::string& network, const std::string& cut = kNanotronCut) {
    try {
        planned_nanotron(network, cut);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(NanotronJob, IsReadWithItsGpusAndDefaults) {
    const Scenario s = planned_nanotron("    is_llama_config: true\n    num_key_value_heads: 4\n");
    EXPECT_EQ(s.gpus, 8);
    EXPECT_EQ(s.parallel.tensor, 2);
    EXPECT_TRUE(s.parallel.sequence);
    EXPECT_EQ(s.parallel.zero_stage, 1);
    EXPECT_EQ(s.training.global_batch, 16);  // 2 samples x 4 steps x 2 replicas
    EXPECT_EQ(s.training.micro_batches, 4);
    EXPECT_EQ(s.schedule.name, "1f1b");
    EXPECT_EQ(s.framework.grad_bucket.count, 25 << 20);
    // 8 layers of 2 norms, q and o, k and v of 4 heads of 64, and 3 products; two tables; a norm
    EXPECT_EQ(models::parameter_count(s.model),
              8LL * (2 * 1024 + 2 * 1024 * 1024 + 2 * 1024 * 256 + 3 * 1024 * 2816) +
                  2LL * 32000 * 1024 + 1024);
}

/// models/base.py: a layer costs 4 h h + 3 h f = 12.8e6, and the head 32.8e6, 2.55 layers.
TEST(NanotronJob, DealsBlocksByTheirCost) {
    EXPECT_THAT(planned_nanotron("    is_llama_config: true\n").parallel.layers_per_stage,
                ElementsAre(6, 2));
    EXPECT_THAT(import_text(nanotron_job("    is_llama_config: true\n",
                                         "  dp: 1\n  pp: 8\n  tp: 1\n  pp_engine: 1f1b\n"),
                            "job.yaml", "", {{"cluster", "hgx-h100"}})
                    .notes,
                Contains(HasSubstr("leaves some of 8 ranks without any")));
}

TEST(NanotronJob, TakesAfabAndAllReduceWhereNothingIsSaid) {
    const Scenario s =
        planned_nanotron("    is_llama_config: true\n", "  dp: 4\n  pp: 2\n  tp: 2\n");
    EXPECT_EQ(s.schedule.name, "gpipe");
    EXPECT_FALSE(s.parallel.sequence);
}

TEST(NanotronJob, HasExpertsWindowsAndLayersWithoutPositionsOfQwen2) {
    const Scenario s = planned_nanotron(
        "    is_qwen2_config: true\n    attention_bias: true\n    tie_word_embeddings: true\n"
        "    moe_config: null\n    no_rope_layer: 4\n    sliding_window_size: 256\n"
        "    moe_config: {num_experts: 8, top_k: 2, moe_intermediate_size: 512, layers: [6, 7]}\n",
        "  dp: 4\n  pp: 1\n  tp: 2\n  tp_mode: REDUCE_SCATTER\n");
    EXPECT_EQ(models::parameter_count(s.model),
              8LL * (2 * 1024 + 4 * 1024 * 1024 + 3 * 1024) + 6LL * 3 * 1024 * 2816 +
                  2LL * (8 * 3 * 1024 * 512 + 1024 * 8) + 32000LL * 1024 + 1024);
    const auto& kinds = s.model.layers.kinds();
    EXPECT_EQ(kinds.size(), 4U);  // with and without positions, with and without experts
}

TEST(NanotronJob, RefusesOtherNetworksByName) {
    EXPECT_THAT(refused_nanotron("    is_mamba_config: true\n"),
                AllOf(HasSubstr("job.yaml:12:"), HasSubstr("is_mamba_config"),
                      HasSubstr("nanotron's own networks are llama, qwen2")));
    EXPECT_THAT(refused_nanotron("    is_llama_config: true\n    moe_num_experts: 4\n"),
                HasSubstr("moe_num_experts: nanotron's networks do not have it"));
    EXPECT_THAT(refused_nanotron("    is_llama_config: true\n    hidden_act: relu2\n"),
                HasSubstr("the activation 'relu2' is not supported"));
}

TEST(NanotronJob, SaysWhatIsWrongAtItsPlace) {
    EXPECT_THAT(refused_nanotron("    is_llama_config: true\n", "  dp: 2\n  pp: 2\n"),
                HasSubstr("the job does not give parallelism.tp"));
    EXPECT_THAT(refused_nanotron("    is_llama_config: true\n",
                                 "  dp: two\n  pp: 2\n  tp: 2\n  tp_mode: SOME\n"),
                AllOf(HasSubstr("parallelism.dp takes a whole number, not 'two'"),
                      HasSubstr("'SOME' is not a mode")));
    EXPECT_THAT(refused_nanotron("    is_llama_config: true\n    num_hidden_layers: [1, 2]\n"),
                HasSubstr("takes a whole number, not a list"));
}

TEST(NanotronJob, NamesWhatNanotronWouldRefuseAndWhatNobodyKnows) {
    const Imported job = import_text(
        nanotron_job("    is_llama_config: true\n    num_hidden_layers: 4\n",
                     "  dp: 2\n  pp: 1\n  tp: 2\n  expert_parallel_size: 1\n  fancy_mode: 2\n"),
        "job.yaml", "nanotron", {{"cluster", "hgx-h100"}});
    EXPECT_THAT(job.notes, Contains(HasSubstr("num_hidden_layers is given twice")));
    EXPECT_THAT(job.notes, Contains(HasSubstr("parallelism.fancy_mode is not a known setting")));
}

}  // namespace
}  // namespace debubble::jobs

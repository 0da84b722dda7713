#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"

/// The network that a job of Megatron-LM trains: planned as what it is, or refused by name. Counts
/// are those of the published checkpoints, by transformers 5.24, where a comment says nothing else.
namespace debubble::jobs {
namespace {

using models::Attention;
using models::DeltaNet;
using models::Experts;
using models::Mamba;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

/// What is the same in all of these jobs.
constexpr const char* kRecipe =
    " --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 "
    "--bf16 --hidden-dropout 0 --attention-dropout 0 ";
constexpr const char* kModern =
    "--normalization RMSNorm --disable-bias-linear --swiglu --position-embedding-type rope "
    "--untie-embeddings-and-output-weights ";

std::string launch(const std::string& program, const std::string& flags) {
    return "torchrun --nproc_per_node 8 --nnodes 8 " + program + kRecipe + flags + "\n";
}

scenarios::Scenario network_of(const std::string& program, const std::string& flags,
                               std::vector<scenarios::Override> given = {}) {
    given.emplace_back("cluster", "hgx-h100");
    return scenarios::parse_scenario(
        import_text(launch(program, flags), "train.sh", "", given).text, "train.yaml");
}

std::int64_t count_of(const std::string& flags, std::vector<scenarios::Override> given = {}) {
    return models::parameter_count(network_of("pretrain_gpt.py", flags, std::move(given)).model);
}

std::string answer_to(const std::string& program, const std::string& flags,
                      const std::vector<std::string>& allow = {}) {
    try {
        const Imported job = import_text(launch(program, flags), "train.sh", "",
                                         {{"cluster", "hgx-h100"}}, {}, {.allow = allow});
        return "planned: " + (job.notes.empty() ? std::string() : job.notes.front());
    } catch (const InputError& error) {
        return error.what();
    }
}

constexpr const char* kSmall =
    "--num-layers 4 --hidden-size 512 --num-attention-heads 8 --vocab-size 32000 ";

/// NVIDIA-Nemotron-Nano-9B-v2 by the flags of Megatron-LM's examples/post_training/modelopt/conf.
constexpr const char* kNanoHybrid =
    "--normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights "
    "--position-embedding-type none --squared-relu --hidden-size 4480 --ffn-hidden-size 15680 "
    "--num-attention-heads 40 --kv-channels 128 --group-query-attention --num-query-groups 8 "
    "--mamba-head-dim 80 --mamba-num-heads 128 --mamba-num-groups 8 --mamba-state-dim 128 "
    "--vocab-size 131072 --make-vocab-size-divisible-by 1 ";

TEST(MegatronNetwork, HasTheLayersOfItsPattern) {
    const scenarios::Scenario s = network_of(
        "pretrain_hybrid.py", std::string(kNanoHybrid) +
                                  "--num-layers 99 --hybrid-layer-pattern "
                                  "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-");
    EXPECT_EQ(models::parameter_count(s.model), 8'888'227'328);
    EXPECT_EQ(s.model.layers.count(), 56);  // the pattern's, and not --num-layers
    const std::int64_t mixers = s.model.layers.most<Mamba>([](const Mamba&) { return 1; });
    EXPECT_EQ(mixers, 1);
}

TEST(MegatronNetwork, IsCutWhereItsPatternSays) {
    const scenarios::Scenario s =
        network_of("pretrain_hybrid.py",
                   std::string(kNanoHybrid) +
                       "--pipeline-model-parallel-size 2 --hybrid-layer-pattern 'M-M|M*-|M-|M*M-'");
    EXPECT_THAT(s.parallel.layers_per_stage, testing::ElementsAre(3, 3, 2, 4));
    EXPECT_EQ(s.parallel.stages_per_rank, 2);
    EXPECT_EQ(s.schedule.name, "interleaved-1f1b");
}

/// AMD-AGI/Primus fd1eeabb, mamba_370M: 48 layers of Mamba-2, 368 million parameters.
TEST(MegatronNetwork, OfMambaWithoutPatternIsMambaAlone) {
    const std::string flags =
        "--num-layers 48 --hidden-size 1024 --num-attention-heads 16 --vocab-size 50304 "
        "--mamba-state-dim 16 --mamba-head-dim 64 --mamba-num-groups 8 --normalization RMSNorm "
        "--position-embedding-type none --disable-bias-linear ";
    const std::string spec = "--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec";
    for (const auto& [program, more] :
         {std::pair<const char*, std::string>{"pretrain_mamba.py", ""},
          {"train.py", spec},
          {"train.py", "--is-hybrid-model"}}) {
        const scenarios::Scenario s = network_of(program, flags + more);
        EXPECT_EQ(models::parameter_count(s.model), 368'363'008) << program;
        EXPECT_EQ(s.model.layers.first<Attention>(), nullptr);
    }
}

/// Ratios spread attention and MLPs as Megatron-Core's pattern_from_ratios() does: its example of
/// 8 layers and a quarter of attention is MM*MM*MM.
TEST(MegatronNetwork, OfRatiosHasThePatternThatTheyMean) {
    const auto pattern = [](const char* ratios) {
        const scenarios::Scenario s = network_of(
            "pretrain_mamba.py", fmt::format("--num-layers 8 --hidden-size 512 "
                                             "--num-attention-heads 8 --vocab-size 32000 {}",
                                             ratios));
        std::string letters;
        for (int i = 0; i < s.model.layers.count(); ++i) {
            const models::Layer& layer = s.model.layers[i];
            letters += layer.as<Mamba>() != nullptr       ? 'M'
                       : layer.as<Attention>() != nullptr ? '*'
                                                          : '-';
        }
        return letters;
    };
    EXPECT_EQ(pattern("--hybrid-attention-ratio 0.25"), "MM*MM*MM");
    EXPECT_EQ(pattern("--hybrid-attention-ratio 0.125 --hybrid-mlp-ratio 0.5"), "M-M-*-M-");
}

/// Qwen3.5-27B, whose flags are in THUDM/slime, scripts/models/qwen3.5-27B.sh.
TEST(MegatronNetwork, HasGatedDeltaNets) {
    const std::string qwen = std::string(kModern) +
                             "--num-layers 64 --hidden-size 5120 --ffn-hidden-size 17408 "
                             "--num-attention-heads 24 --group-query-attention --num-query-groups "
                             "4 --kv-channels 256 --qk-layernorm --apply-layernorm-1p "
                             "--attention-output-gate --rotary-percent 0.25 --vocab-size 248320 ";
    EXPECT_EQ(count_of(qwen + "--experimental-attention-variant gated_delta_net "
                              "--linear-attention-freq 4 --linear-num-key-heads 16 "
                              "--linear-num-value-heads 48"),
              26'895'998'464);
    const std::string spec = "--spec slime_plugins.models.qwen3_5 get_qwen3_5_spec";
    EXPECT_EQ(count_of(qwen + spec, {{"model.delta_net", "{key_heads: 16, value_heads: 48}"}}),
              26'895'998'464);
    EXPECT_THAT(answer_to("pretrain_gpt.py", qwen + spec),
                AllOf(StartsWith("train.sh:1:"), HasSubstr("--spec"),
                      HasSubstr("how many heads do the gated delta nets"),
                      HasSubstr("--set model.delta_net=")));
    const scenarios::Scenario list =
        network_of("pretrain_gpt.py", std::string(kSmall) +
                                          "--experimental-attention-variant gdn "
                                          "--linear-attention-freq [1]*2+[0]*2");
    EXPECT_NE(list.model.layers[0].as<DeltaNet>(), nullptr);
    EXPECT_NE(list.model.layers[1].as<DeltaNet>(), nullptr);
    EXPECT_NE(list.model.layers[2].as<Attention>(), nullptr);
}

/// MiniMax-M2, with norms of queries and keys over all heads.
TEST(MegatronNetwork, HasNormsOverAllHeads) {
    EXPECT_EQ(count_of(std::string(kModern) +
                       "--spec slime_plugins.models.minimax_m2 get_minimax_m2_layer_spec "
                       "--num-layers 62 --hidden-size 3072 --ffn-hidden-size 1536 "
                       "--num-attention-heads 48 --kv-channels 128 --group-query-attention "
                       "--num-query-groups 8 --vocab-size 200064 --qk-layernorm --num-experts 256 "
                       "--moe-ffn-hidden-size 1536 --moe-router-topk 8 --moe-layer-freq [1]*62 "
                       "--moe-router-score-function sigmoid --moe-router-enable-expert-bias"),
              228'689'748'992);
}

/// The 1.3B of DeepSpeed's mixtures of experts: 128 experts in every second layer are 52 billion
/// parameters (arXiv:2201.05596, table 1).
TEST(MegatronNetwork, OfDeepSpeedHasExpertsInEverySecondLayer) {
    const std::string gpt =
        "--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --vocab-size 50257 "
        "--deepspeed --no-pipeline-parallel ";
    const scenarios::Scenario s = network_of("pretrain_gpt.py", gpt + "--num-experts 128");
    EXPECT_NEAR(static_cast<double>(models::parameter_count(s.model)), 52.5e9, 0.1e9);
    EXPECT_EQ(s.model.layers.first<Experts>()->per_token, 1);  // --topk
    EXPECT_EQ(s.model.layers[0].as<Experts>(), nullptr);
    EXPECT_NE(s.model.layers[1].as<Experts>(), nullptr);
    EXPECT_FALSE(network_of("pretrain_gpt.py", gpt + "--num-experts 1").model.has_experts());
    const scenarios::Scenario pyramid =
        network_of("pretrain_gpt.py", gpt + "--expert-interval 12 --num-experts 32 64 --topk 2");
    EXPECT_EQ(pyramid.model.layers[11].as<Experts>()->count, 32);
    EXPECT_EQ(pyramid.model.layers[23].as<Experts>()->count, 64);
    EXPECT_THAT(answer_to("pretrain_gpt.py", gpt + "--num-experts 128 --mlp-type residual"),
                HasSubstr("--mlp-type: 'residual'"));
}

TEST(MegatronNetwork, HasWindowsPositionsAndSinksOfItsFlags) {
    const scenarios::Scenario s = network_of(
        "pretrain_gpt.py", std::string(kSmall) + kModern +
                               "--window-size 127,0 --window-attn-skip-freq 2 --no-rope-freq 4 "
                               "--softmax-type learnable");
    EXPECT_EQ(s.model.layers[0].as<Attention>()->window, 128);
    EXPECT_FALSE(s.model.layers[1].as<Attention>()->window);
    EXPECT_TRUE(s.model.layers[2].as<Attention>()->rotary);
    EXPECT_FALSE(s.model.layers[3].as<Attention>()->rotary);
    EXPECT_TRUE(s.model.layers[0].as<Attention>()->sinks);
    const scenarios::Scenario alibi =
        network_of("pretrain_gpt.py", std::string(kSmall) + "--position-embedding-type alibi");
    EXPECT_TRUE(alibi.model.layers[0].as<Attention>()->alibi);
    EXPECT_FALSE(alibi.model.learned_positions);
}

TEST(MegatronNetwork, OfAnotherKindIsRefusedByNameAndPlace) {
    for (const char* program :
         {"pretrain_t5.py", "pretrain_bert.py", "pretrain_ict.py", "pretrain_vlm.py",
          "examples/multimodal/train.py", "pretrain_mimo.py", "pretrain_retro.py",
          "pretrain_vision_classify.py", "train_rl.py", "tasks/main.py"})
        EXPECT_THAT(answer_to(program, kSmall),
                    AllOf(StartsWith("train.sh:1:"), HasSubstr(program), HasSubstr("--allow")));
    const std::pair<const char*, const char*> flags[] = {
        {"--spec", "--spec my_module my_spec"},
        {"--model-type", "--model-type deepseek_v4"},
        {"--decoder-num-layers", "--decoder-num-layers 4"},
        {"--experimental-attention-variant", "--experimental-attention-variant dsa"},
        {"--hybrid-layer-pattern", "--hybrid-layer-pattern MDM-"},
        {"--position-embedding-type", "--position-embedding-type relative"},
        {"--normalization", "--normalization DeepNorm"},
        {"--enable-mhc-connections", "--enable-mhc-connections"},
        {"--heterogeneous-layers-config-path", "--heterogeneous-layers-config-path f.json"},
        {"--mtp-use-repeated-layer",
         "--mtp-num-layers 2 --mtp-use-repeated-layer "
         "--position-embedding-type rope"},
        {"--tokenizer-type", "--tokenizer-type BertWordPieceCase"},
        {"--perform-rl-step", "--perform-rl-step"},
        {"--new-linear-attn", "--new-linear-attn"}};
    for (const auto& [name, given] : flags)
        EXPECT_THAT(answer_to("pretrain_gpt.py", kSmall + std::string(given)),
                    AllOf(StartsWith("train.sh:1:"), HasSubstr(name + std::string(":")),
                          HasSubstr("--allow")))
            << given;
}

TEST(MegatronNetwork, OfBridgeIsRefusedByItsProvider) {
    const auto answer = [](const std::string& provider) -> std::string {
        const std::string text =
            "model:\n  _target_: megatron.bridge.models." + provider +
            "\n  num_layers: 4\n  hidden_size: 512\n  num_attention_heads: 8\n  seq_length: 512\n"
            "  vocab_size: 32000\ntrain: {micro_batch_size: 1, global_batch_size: 8}\n";
        try {
            import_text(text, "run_config.yaml", "bridge",
                        {{"cluster", "hgx-h100"}, {"gpus", "8"}});
        } catch (const InputError& error) {
            return error.what();
        }
        return "planned";
    };
    EXPECT_EQ(answer("llama.LlamaModelProvider"), "planned");
    EXPECT_EQ(answer("gpt_provider.GPTModelProvider"), "planned");
    for (const char* provider :
         {"qwen_vl.Qwen25VLModelProvider", "nemotron_vl.NemotronVLModelProvider",
          "qwen_omni.Qwen3OmniModelProvider", "t5_provider.T5ModelProvider",
          "gemma.Gemma3ModelProvider", "falcon_h1.FalconH1ModelProvider"})
        EXPECT_THAT(answer(provider), AllOf(StartsWith("run_config.yaml:2:"),
                                            HasSubstr("model._target_"), HasSubstr("--allow")));
}

TEST(MegatronNetwork, IsPlannedWithoutWhatIsAllowed) {
    EXPECT_THAT(answer_to("pretrain_t5.py", kSmall, {"pretrain_t5.py"}),
                HasSubstr("planned: train.sh:1 pretrain_t5.py: allowed"));
    const std::string two = std::string(kSmall) + "--new-latent-thing 3 --enable-mhc-connections";
    EXPECT_THAT(answer_to("pretrain_gpt.py", two, {"new_latent_thing"}),
                AllOf(HasSubstr("--enable-mhc-connections:"),
                      testing::Not(HasSubstr("--new-latent-thing:"))));
    EXPECT_THAT(answer_to("pretrain_gpt.py", two, {"--new-latent-thing", "enable-mhc-connections"}),
                StartsWith("planned: train.sh:1 --"));
}

TEST(TorchtitanNetwork, OfSettingsThatNobodyKnowsIsRefused) {
    const auto answer = [](const std::string& more, const std::vector<std::string>& allow) {
        try {
            const Imported job = import_text(
                "[model]\nname = \"llama3\"\nflavor = \"8B\"\n" + more +
                    "\n[training]\nlocal_batch_size = 1\nseq_len = 2048\n",
                "job.toml", "", {{"cluster", "hgx-h100"}, {"gpus", "8"}}, {}, {.allow = allow});
            return job.notes.front();
        } catch (const InputError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_THAT(
        answer("n_layers = 4", {}),
        AllOf(StartsWith("job.toml:4:"), HasSubstr("model.n_layers:"), HasSubstr("--allow")));
    EXPECT_THAT(answer("n_layers = 4", {"n_layers"}), HasSubstr("model.n_layers: allowed"));
    EXPECT_THAT(answer("hf_assets_path = \"./assets\"", {}), testing::Not(HasSubstr("--allow")));
}

/// A network that the command line gives stands for whatever the job would have built.
TEST(MegatronNetwork, ThatIsGivenIsTaken) {
    const Imported job =
        import_text(launch("pretrain_t5.py", "--enable-mhc-connections --spec a b"), "train.sh", "",
                    {{"cluster", "hgx-h100"}, {"model", "gpt2"}, {"seq_length", "1024"}});
    EXPECT_THAT(job.text, HasSubstr("model: gpt2"));
}

}  // namespace
}  // namespace debubble::jobs

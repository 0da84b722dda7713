#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/graph/graph.h"
#include "scenarios/jobs/job.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::jobs {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// A small Llama on 16 GPUs, in flags.
constexpr const char* kLlama =
    "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py "
    "--num-layers 16 --hidden-size 1024 --num-attention-heads 16 --group-query-attention "
    "--num-query-groups 4 --ffn-hidden-size 4096 --seq-length 2048 --max-position-embeddings 4096 "
    "--normalization RMSNorm --position-embedding-type rope --rotary-base 500000 --swiglu "
    "--disable-bias-linear --untie-embeddings-and-output-weights --hidden-dropout 0 "
    "--attention-dropout 0 --tokenizer-type Llama3Tokenizer --bf16 --micro-batch-size 2 "
    "--global-batch-size 64 --tensor-model-parallel-size 2 --sequence-parallel "
    "--pipeline-model-parallel-size 4 --use-distributed-optimizer ";

Imported imported(const std::string& flags, std::vector<scenarios::Override> given = {}) {
    given.emplace_back("cluster", "hgx-h100");
    return import_text(kLlama + flags + "\n", "train.sh", "", given);
}

scenarios::Scenario planned(const std::string& flags,
                            const std::vector<scenarios::Override>& given = {}) {
    return scenarios::parse_scenario(imported(flags, given).text, "train.yaml");
}

std::string refusal(const std::string& flags) {
    try {
        planned(flags);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(MegatronJob, IsTheScenarioThatItsFlagsMean) {
    const scenarios::Scenario s = planned("");
    EXPECT_EQ(s.model.family, models::Family::Llama);
    EXPECT_EQ(s.model.layers.count(), 16);
    EXPECT_EQ(s.model.vocab, 128256);
    EXPECT_EQ(s.model.max_positions, 4096);
    EXPECT_FALSE(s.model.tied_embedding);
    EXPECT_EQ(s.gpus, 16);
    EXPECT_EQ(s.parallel.data, 2);
    EXPECT_TRUE(s.parallel.sequence);
    EXPECT_EQ(s.parallel.zero_stage, 1);
    EXPECT_EQ(s.training.micro_batches, 16);
    EXPECT_EQ(s.training.precision.grads, models::DataType::Fp32);
    EXPECT_EQ(s.training.recompute, models::Recompute::None);
    EXPECT_FALSE(s.framework.overlap_grad_reduce);
}

TEST(MegatronJob, SaysWhereEachKeyCameFrom) {
    EXPECT_THAT(imported("").text, HasSubstr("layers: 16  # train.sh:1 --num-layers"));
}

TEST(MegatronJob, HasVirtualStagesByEitherFlag) {
    EXPECT_EQ(planned("--num-virtual-stages-per-pipeline-rank 2").parallel.stages_per_rank, 2);
    EXPECT_EQ(planned("--num-layers-per-virtual-pipeline-stage 1").parallel.stages_per_rank, 4);
}

TEST(MegatronJob, CutsUnevenlyAsMegatronDoes) {
    EXPECT_THAT(
        planned("--decoder-first-pipeline-num-layers 3 --decoder-last-pipeline-num-layers 5")
            .parallel.layers_per_stage,
        ElementsAre(3, 4, 4, 5));
    EXPECT_THAT(planned("--num-layers 14 --account-for-embedding-in-pipeline-split "
                        "--account-for-loss-in-pipeline-split "
                        "--num-virtual-stages-per-pipeline-rank 2")
                    .parallel.layers_per_stage,
                ElementsAre(1, 2, 2, 2, 2, 2, 2, 1));
    const scenarios::Scenario layout =
        planned("--pipeline-model-parallel-layout 'Et*2|(tt|)*6ttL'");
    EXPECT_EQ(layout.parallel.layout, "Et*2|(tt|)*6ttL");
    EXPECT_EQ(layout.parallel.stages_per_rank, 2);
}

TEST(MegatronJob, KeepsGradientsInTheTypesOfItsFlags) {
    using models::DataType;
    EXPECT_EQ(planned("--grad-reduce-in-bf16").training.precision.grads, DataType::Bf16);
    const std::string text =
        "run.py --num-layers 2 --hidden-size 64 --num-attention-heads 2 --seq-length 64 "
        "--max-position-embeddings 64 --micro-batch-size 1 --vocab-size 100 --fp16 ";
    const std::vector<scenarios::Override> given{{"cluster", "hgx-h100"}, {"gpus", "1"}};
    const auto grads = [&](const std::string& more) {
        return scenarios::parse_scenario(import_text(text + more, "a.sh", "megatron", given).text,
                                         "a.yaml")
            .training.precision.grads;
    };
    EXPECT_EQ(grads(""), DataType::Fp16);
    EXPECT_EQ(grads("--accumulate-allreduce-grads-in-fp32"), DataType::Fp32);
}

/// The flags of Megatron-LM's examples/dynamic_context_parallel/benchmark_dcp.sh.
TEST(MegatronJob, SizesContextGroupsByDocuments) {
    const std::string packed =
        "--pipeline-model-parallel-size 1 --context-parallel-size 4 --micro-batch-size 1 "
        "--use-varlen-dataset --mock-data --varlen-mock-dataset-config-json "
        "'{\"mode\":\"distribution\",\"type\":\"lognormal\",\"format\":\"thd\",\"min_seq_len\":128,"
        "\"max_seq_len\":2048,\"mean_seq_len\":1024,\"lognormal_sigma\":1.5}' ";
    const scenarios::Scenario s =
        planned(packed +
                "--dynamic-context-parallel --sequence-packing-scheduler default_dynamic_cp "
                "--min-dynamic-context-parallel-size 2 --max-seqlen-per-dp-cp-rank 512");
    EXPECT_TRUE(s.parallel.dynamic_context_parallel);
    EXPECT_EQ(s.parallel.min_dynamic_context_parallel_size, 2);
    EXPECT_EQ(s.parallel.max_seqlen_per_dp_cp_rank, 512);
    ASSERT_TRUE(s.imbalance.documents);
    EXPECT_TRUE(s.imbalance.documents->global_batch_packing);
    EXPECT_EQ(s.imbalance.documents->mean, 1024);
    EXPECT_NEAR(s.imbalance.documents->spread, 2.913, 0.001);
    EXPECT_EQ(s.imbalance.documents->shortest, 128);
    EXPECT_EQ(s.imbalance.documents->longest, 2048);
    const scenarios::Scenario equal = planned(
        packed + "--sequence-packing-scheduler dp_balanced --max-seqlen-per-dp-cp-rank 512");
    EXPECT_FALSE(equal.parallel.dynamic_context_parallel);
    EXPECT_TRUE(equal.imbalance.documents->global_batch_packing);
    EXPECT_FALSE(planned("--max-seqlen-per-dp-cp-rank 512").imbalance.documents);
}

TEST(MegatronJob, AsksHowLongDocumentsAreAndTakesOneNameOfDynamicGroups) {
    const std::string base =
        "--pipeline-model-parallel-size 1 --context-parallel-size 4 --micro-batch-size 1 ";
    EXPECT_THAT(refusal(base + "--hybrid-context-parallel"),
                HasSubstr("how long are the documents?"));
    const scenarios::Scenario given =
        planned(base + "--hybrid-context-parallel", {{"imbalance.sequence", "{mean: 700}"}});
    EXPECT_TRUE(given.parallel.dynamic_context_parallel);
    EXPECT_EQ(given.imbalance.documents->mean, 700);
    EXPECT_THAT(refusal(base + "--hybrid-context-parallel --dynamic-context-parallel"),
                HasSubstr("is the former name of --dynamic-context-parallel"));
}

/// Whatever the command line says of the documents beside it.
TEST(MegatronJob, KeepsWhatItSaysOfDocumentsBesideTheCommandLine) {
    const std::string base =
        "--pipeline-model-parallel-size 1 --context-parallel-size 4 --micro-batch-size 1 "
        "--dynamic-context-parallel --max-seqlen-per-dp-cp-rank 512 --use-varlen-dataset ";
    const auto documents = [&](const std::string& more,
                               const std::vector<scenarios::Override>& given) {
        return planned(base + more, given).imbalance.documents.value();
    };
    const scenarios::Documents mean = documents("", {{"imbalance.sequence.mean", "700"}});
    EXPECT_TRUE(mean.global_batch_packing);
    EXPECT_EQ(mean.mean, 700);
    const scenarios::Documents both =
        documents("", {{"imbalance.sequence.mean", "700"}, {"imbalance.sequence.spread", "2"}});
    EXPECT_TRUE(both.global_batch_packing);
    EXPECT_EQ(both.spread, 2);
    EXPECT_FALSE(documents("", {{"imbalance.sequence.mean", "700"},
                                {"imbalance.sequence.global_batch_packing", "false"}})
                     .global_batch_packing);
    const std::string mock =
        "--varlen-mock-dataset-config-json '{\"mode\":\"distribution\",\"type\":\"lognormal\","
        "\"min_seq_len\":128,\"max_seq_len\":2048,\"mean_seq_len\":1024,"
        "\"lognormal_sigma\":1.5}' ";
    const scenarios::Documents one = documents(mock, {{"imbalance.sequence.spread", "1"}});
    EXPECT_EQ(one.spread, 1);
    EXPECT_EQ(one.mean, 1024);
    EXPECT_EQ(one.shortest, 128);
    EXPECT_EQ(one.longest, 2048);
    EXPECT_TRUE(one.global_batch_packing);
    for (const std::string& more : {std::string(), mock}) {
        const Imported whole = imported(base + more, {{"imbalance.sequence", "{mean: 700}"}});
        EXPECT_THAT(whole.notes, Contains(HasSubstr("--use-varlen-dataset: a sample of the job's "
                                                    "global batch is one document")));
    }
}

/// --varlen-mock-dataset-config-json with these of its keys beside the bounds.
std::string mock_flags(const std::string& keys) {
    return "--pipeline-model-parallel-size 1 --context-parallel-size 4 --micro-batch-size 1 "
           "--dynamic-context-parallel --max-seqlen-per-dp-cp-rank 512 --use-varlen-dataset "
           "--varlen-mock-dataset-config-json '{\"min_seq_len\":128,\"max_seq_len\":2048," +
           keys + "}' ";
}

TEST(MegatronJob, NamesMockDataOfOtherDistributionsAndAsksForTheirLengths) {
    for (const char* others :
         {"\"mode\":\"distribution\",\"type\":\"normal\"", "\"type\":\"uniform\"",
          "\"mode\":\"file\",\"path\":\"lengths.csv\""}) {
        const std::string flags =
            mock_flags(std::string(others) + ",\"mean_seq_len\":1024,\"lognormal_sigma\":1.5");
        EXPECT_THAT(refusal(flags), HasSubstr("how long are the documents?")) << others;
        const Imported job = imported(flags, {{"imbalance.sequence.mean", "700"}});
        EXPECT_THAT(job.notes, Contains(HasSubstr("train.sh:1 --varlen-mock-dataset-config-json: "
                                                  "document lengths are read only from lognormal")))
            << others;
        EXPECT_THAT(job.text, testing::Not(HasSubstr("1024}")));
    }
}

TEST(MegatronJob, KnowsSettingsOfDocumentsThatNoStepPacks) {
    const std::string documents =
        "--micro-batch-size 1 --use-varlen-dataset --min-dynamic-context-parallel-size 2 "
        "--max-seqlen-per-dp-cp-rank 512 --varlen-mock-dataset-config-json '{\"mode\":\"file\"}' ";
    const Imported job = imported(documents);
    EXPECT_THAT(job.notes, testing::Not(Contains(HasSubstr("is not a known setting"))));
    EXPECT_THAT(job.notes,
                Contains(HasSubstr("--use-varlen-dataset: without --sequence-packing-scheduler")));
    EXPECT_THAT(imported(documents + "--sequence-packing-scheduler bogus").notes,
                Contains(HasSubstr(
                    "train.sh:1 --sequence-packing-scheduler: 'bogus' is not a known scheduler")));
    EXPECT_THAT(imported(documents + "--sequence-packing-scheduler default_dynamic_cp").notes,
                Contains(HasSubstr("--dynamic-context-parallel is absent")));
    EXPECT_THAT(
        imported("--micro-batch-size 1 --context-parallel-size 2 --max-seqlen-per-dp-cp-rank "
                 "2048 --sequence-packing-scheduler dp_balanced",
                 {{"imbalance.sequence", "{mean: 700}"}})
            .notes,
        testing::Not(Contains(HasSubstr("scheduler"))));
}

TEST(MegatronJob, SaysWhereMockDataSpreadBeyondAnyScenario) {
    const auto with_sigma = [](const char* sigma) {
        return mock_flags("\"type\":\"lognormal\",\"mean_seq_len\":1024,\"lognormal_sigma\":" +
                          std::string(sigma));
    };
    for (const char* sigma : {"-1.5", "2.15", "1e9"})
        EXPECT_THAT(
            refusal(with_sigma(sigma)),
            testing::AllOf(HasSubstr("train.sh:1:"), HasSubstr("lognormal_sigma of --varlen")))
            << sigma;
    EXPECT_NEAR(planned(with_sigma("2.148")).imbalance.documents->spread, 10, 0.01);
    EXPECT_EQ(planned(with_sigma("0")).imbalance.documents->spread, 0);
}

TEST(MegatronJob, ChangesOneKeyOfAMapThatTheCommandLineNames) {
    const scenarios::Scenario s = planned("", {{"training.precision.grads", "fp32"},
                                               {"imbalance.sequence", "{mean: 700, spread: 3}"},
                                               {"imbalance.sequence.shortest", "64"}});
    EXPECT_EQ(s.training.precision.compute, models::DataType::Bf16);
    EXPECT_EQ(s.training.precision.grads, models::DataType::Fp32);
    EXPECT_EQ(s.imbalance.documents->spread, 3);
    EXPECT_EQ(s.imbalance.documents->shortest, 64);
}

TEST(MegatronJob, NamesUnknownFlagsWithTheirNearest) {
    EXPECT_THAT(imported("--tensor-model-paralel-size 4").notes,
                Contains(testing::AllOf(HasSubstr("train.sh:1 --tensor-model-paralel-size"),
                                        HasSubstr("did you mean 'tensor_model_parallel_size'"))));
}

TEST(MegatronJob, TakesNoneAsAWordWhereItIsOne) {
    const auto positions = [](const scenarios::Scenario& s) {
        return std::pair{s.model.learned_positions, s.model.has_rotary()};
    };
    EXPECT_EQ(positions(planned("--position-embedding-type none")), std::pair(false, false));
    // A deprecated flag that does nothing beside the other.
    EXPECT_EQ(positions(planned("--no-position-embedding")), std::pair(false, true));
}

TEST(MegatronJob, CountsFlagsThatChangeNoPlan) {
    const int before = imported("").silent;
    EXPECT_EQ(imported("--data-path x --save-interval 10 --log-throughput").silent, before + 3);
}

TEST(MegatronJob, NamesFlagsThatOnlyBeginLikeThoseThatChangeNoPlan) {
    const auto by_a_part = HasSubstr("only by a part of the name");
    EXPECT_THAT(imported("--save-interval 10 --log-throughput --adam-beta1 0.9 --lr-decay-style "
                         "cosine --no-save-optim --manual-gc-interval 10")
                    .notes,
                testing::Not(Contains(by_a_part)));
    EXPECT_THAT(
        imported("--save-interval 10 --log-thruput --adam-beta3 0.9").notes,
        Contains(testing::AllOf(by_a_part, HasSubstr("2 settings are assumed"),
                                HasSubstr("train.sh:1 --log-thruput, train.sh:1 --adam-beta3"))));
}

TEST(MegatronJob, AsksForWhatItDoesNotKnow) {
    try {
        import_text(
            "run.py --num-layers 2 --hidden-size 64 --num-attention-heads 2 "
            "--seq-length 64 --micro-batch-size 1 --tensor-model-parallel-size 2",
            "a.sh", "megatron", {});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("how large is the vocabulary?"));
        EXPECT_THAT(error.what(), HasSubstr("which cluster?"));
        EXPECT_THAT(error.what(), HasSubstr("how many GPUs?"));
    }
}

TEST(MegatronJob, RefusesWhatCannotBePlannedAtItsPlace) {
    EXPECT_THAT(refusal("--hybrid-layer-pattern MDM-"), HasSubstr("train.sh:1:"));
    EXPECT_THAT(refusal("--num-layers many"), HasSubstr("takes a whole number, not 'many'"));
    EXPECT_THAT(refusal("--global-batch-size 63"), HasSubstr("is not a multiple"));
    EXPECT_THAT(refusal("--tensor-model-parallel-size $1"),
                HasSubstr("known only when the job starts"));
}

TEST(MegatronJob, HasExpertsWithTheDefaultsOfItsRouter) {
    const scenarios::Scenario s = planned(
        "--num-experts 8 --moe-ffn-hidden-size 512 --expert-model-parallel-size 4 "
        "--expert-tensor-parallel-size 1 "
        "--moe-token-dispatcher-type flex --moe-layer-freq '([0]*3+[1]*13)' "
        "--moe-shared-expert-intermediate-size 1024 --moe-router-score-function sigmoid");
    const models::Experts* const experts = s.model.layers.first<models::Experts>();
    ASSERT_NE(experts, nullptr);
    EXPECT_EQ(experts->count, 8);
    EXPECT_EQ(experts->per_token, 2);
    EXPECT_EQ(experts->ffn, 512);
    EXPECT_EQ(experts->shared_ffn, 1024);
    EXPECT_EQ(s.parallel.expert, 4);
    EXPECT_EQ(s.framework.kernels.dispatcher, models::Dispatcher::DeepEp);
    EXPECT_TRUE(s.model.layers[2].as<models::DenseMlp>() != nullptr);
    EXPECT_TRUE(s.model.layers[3].as<models::Experts>() != nullptr);
    EXPECT_TRUE(s.training.expert_load_unknown);
}

/// Its optimizers decay no tensor of one dimension (core/optimizer/__init__.py).
TEST(MegatronJob, DecaysMatricesAlone) {
    const auto optimizer = [](const std::string& flags) {
        return planned(flags).training.run.optimizer;
    };
    for (const std::string flags :
         {"", "--weight-decay 0.1", "--optimizer sgd --weight-decay 0.1", "--optimizer muon"})
        EXPECT_EQ(weight_decay_of(optimizer(flags)), scenarios::WeightDecayOf::Matrices) << flags;
    EXPECT_EQ(std::get<scenarios::AdamOptions>(optimizer("--weight-decay 0.1")).weight_decay, 0.1);
    EXPECT_THAT(imported("--weight-decay 0.1").text,
                HasSubstr("Megatron-Core does not decay norms and biases"));
    EXPECT_EQ(weight_decay_of(optimizer("--weight-decay 0")), scenarios::WeightDecayOf::All);
}

TEST(MegatronJob, HasRoutersInTheTypeThatItsFlagSays) {
    const auto dtype = [](const std::string& flags) {
        return planned("--num-experts 8 --moe-ffn-hidden-size 512 " + flags)
            .model.layers.first<models::Experts>()
            ->router_dtype;
    };
    EXPECT_EQ(dtype(""), models::RouterDtype::Compute);
    EXPECT_EQ(dtype("--moe-router-dtype fp32"), models::RouterDtype::Fp32);
    EXPECT_EQ(dtype("--moe-router-dtype fp64"), models::RouterDtype::Fp32);
    EXPECT_THAT(imported("--num-experts 8 --moe-ffn-hidden-size 512 --moe-router-dtype fp64").notes,
                Contains(HasSubstr("planned in fp32")));
}

TEST(MegatronJob, RecomputesAndOffloadsAsItsFlagsSay) {
    EXPECT_EQ(planned("--recompute-activations").training.recompute, models::Recompute::Selective);
    const auto block = planned(
                           "--recompute-granularity full --recompute-method block "
                           "--recompute-num-layers 2")
                           .training;
    EXPECT_EQ(block.recompute, models::Recompute::Full);
    EXPECT_EQ(block.recompute_extent.layers, 2);
    EXPECT_EQ(planned("--recompute-granularity full --recompute-method uniform "
                      "--recompute-num-layers 1")
                  .training.recompute,
              models::Recompute::Full);
}

}  // namespace
}  // namespace debubble::jobs

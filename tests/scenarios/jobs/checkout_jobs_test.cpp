#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/job.h"
#include "scenarios/jobs/shell/value.h"
#include "scenarios/read/read_scenario.h"

/// Shapes of jobs in checkouts of slime, Megatron-LM and Primus, each small and made up.
namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;
using scenarios::Override;
using scenarios::Scenario;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A folder with files, which goes away with the test.
class Checkout {
public:
    Checkout()
        : root_(fs::path(testing::TempDir()) /
                (std::string("checkout-") +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
        fs::remove_all(root_);
    }
    ~Checkout() { fs::remove_all(root_); }
    Checkout(const Checkout&) = delete;
    Checkout& operator=(const Checkout&) = delete;

    fs::path add(const std::string& name, const std::string& text) const {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
        return root_ / name;
    }

private:
    fs::path root_;
};

std::string last_argument(const std::string& text) {
    const ShellScript script =
        follow_script(std::make_shared<text::SourceText>(text::SourceText{"run.sh", text, 1}));
    return script.commands.empty() ? std::string() : script.commands.back().words.back().text;
}

TEST(ScriptsOfCheckouts, CountLayersInLoopsOfArithmetic) {
    const std::string text =
        "N=4\nDENSE=1\narr=()\n"
        "for ((i=0; i<N; i++)); do\n"
        "  if (( i < DENSE )); then\n    arr+=(0)\n  else\n    arr+=(1)\n  fi\ndone\n"
        "printf -v FREQ \"[%s]\" \"$(IFS=', '; echo \"${arr[*]}\")\"\nrun $FREQ\n";
    EXPECT_EQ(last_argument("N=4\nA=(a b c d)\nfor ((i=N-1; i >= 0; i--)); do\n L+=${A[$i]}\n"
                            "done\nrun $L\n"),
              "dcba");
    EXPECT_EQ(last_argument(text), "[0,1,1,1]");  // joined by the first letter of IFS
    // A condition that only the run knows leaves all that the loop sets as it was.
    EXPECT_EQ(last_argument("L=x\nfor ((i=0; i<$1; i++)); do\n L+=y\ndone\nrun $L\n"), "x");
}

constexpr const char* kNetworkOfScript =
    "ARGS=(--num-layers 4 --hidden-size 256 --num-attention-heads 4 --vocab-size 1000 "
    "--normalization RMSNorm --swiglu --position-embedding-type rope --disable-bias-linear)\n";

/// A list that the shell cuts at its blanks has the same layers; what is not a list is refused.
TEST(ScriptsOfCheckouts, ListLayersWithExpertsInSeveralWords) {
    const auto job = [](const std::string& layers) {
        return import_text(
            "python3 pretrain_gpt.py --num-layers 4 --hidden-size 256 --num-attention-heads 4 "
            "--seq-length 512 --max-position-embeddings 512 --micro-batch-size 1 "
            "--global-batch-size 8 --vocab-size 1000 --bf16 --disable-bias-linear --num-experts 8 "
            "--moe-layer-freq " +
                layers + "\n",
            "run.sh", "megatron", {{"cluster", "hgx-h100"}, {"gpus", "8"}});
    };
    for (const char* layers : {"[0 1 1 1]", "[0, 1, 1, 1]", "'[0]*1+[1]*3'", "0 1 1 1"})
        EXPECT_THAT(job(layers).text,
                    HasSubstr("layer_groups: [{count: 1, experts: 0, ffn: 1024}, {count: 3}]"))
            << layers;
    EXPECT_THROW(job("[0 x 1 1]"), InputError);
    EXPECT_THROW(job("[0 1 1"), InputError);
}

TEST(ScriptsOfCheckouts, SourceWhatLiesUnderTheSameEndingOfThePath) {
    const Checkout checkout;
    checkout.add("scripts/models/small.sh", kNetworkOfScript);
    const fs::path job = checkout.add(
        "examples/tools/run.sh",
        "source \"/root/framework/scripts/models/small.sh\"\n"
        "ray job submit -- python3 train.py ${ARGS[@]} --seq-length 512 --micro-batch-size 1 "
        "--global-batch-size 8 --bf16 --actor-num-gpus-per-node 8\n");
    const Imported imported = import_job(job, "megatron", {{"cluster", "hgx-h100"}});
    EXPECT_THAT(imported.text, HasSubstr("hidden: 256"));
    EXPECT_THAT(imported.notes,
                Contains(HasSubstr("'scripts/models/small.sh' of a parent folder")));
}

TEST(ScriptsOfCheckouts, FillDynamicBatchesWithSamples) {
    const std::string job =
        std::string(kNetworkOfScript) +
        "python3 train.py ${ARGS[@]} --use-dynamic-batch-size --max-tokens-per-gpu 4096 "
        "--rollout-batch-size 8 --n-samples-per-prompt 8 --bf16 --actor-num-nodes 1 "
        "--actor-num-gpus-per-node 8 --sglang-enable-dp-attention --rollout-temperature 1 "
        "--advantage-estimator grpo --eps-clip 0.2 --prompt-data a.jsonl --colocate\n";
    const Imported imported =
        import_text(job, "run.sh", "megatron", {{"cluster", "hgx-h100"}, {"seq_length", "1024"}});
    const Scenario s = scenarios::parse_scenario(imported.text, "back.yaml");
    EXPECT_EQ(s.training.global_batch, 64);
    EXPECT_EQ(s.training.micro_batch, 4);
    EXPECT_THAT(imported.notes, Contains(HasSubstr("have up to 4096 tokens")));
    EXPECT_THAT(imported.notes, Not(Contains(HasSubstr("sglang"))));
    EXPECT_THAT(imported.notes, Not(Contains(HasSubstr("is not a known setting"))));
    EXPECT_THROW(
        import_text(job.substr(0, job.size() - 1) + " --custom-model-provider-path m.make\n",
                    "run.sh", "megatron", {{"cluster", "hgx-h100"}, {"seq_length", "1024"}}),
        InputError);
}

TEST(ScriptsOfCheckouts, KeepArgumentsOfVariablesApart) {
    const Imported imported = import_text(
        "TP=2\nMODEL_OPTIONS=\" --num-layers 4 --hidden-size 256 --num-attention-heads 4 "
        "--seq-length 512 --max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 8 "
        "--vocab-size 1000 --bf16 --clip-grad 1.0 \"\nWORD=7\n",
        "options.sh", "megatron", {{"cluster", "hgx-h100"}, {"gpus", "8"}});
    EXPECT_THAT(imported.text, HasSubstr("clip_norm: 1"));
}

/// A file of flags of Megatron-LM's tests.
std::string model_args(const std::string& more) {
    return "MODEL_ARGS:\n  --num-layers: 8\n  --hidden-size: 256\n  --num-attention-heads: 8\n"
           "  --seq-length: 512\n  --max-position-embeddings: 512\n  --micro-batch-size: 1\n"
           "  --vocab-size: 1000\n  --bf16: true\n" +
           more;
}

Imported imported_args(const std::string& more, const char* gpus) {
    return import_text(model_args(more), "model_config.yaml", "",
                       {{"cluster", "hgx-h100"}, {"gpus", gpus}});
}

TEST(ScriptsOfCheckouts, ThatTakeTheSpecLocalTrainBert) {
    try {
        imported_args("  --global-batch-size: 8\n  --spec: local\n", "8");
        FAIL() << "BERT was read as GPT";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("'local' is a word of Megatron-LM's pretrain_bert.py"));
    }
}

TEST(ScriptsOfCheckouts, GroupMicrobatchesAsPyTorchWhereThatIsTheSame) {
    const std::string cut =
        "  --pipeline-model-parallel-size: 4\n  --num-layers-per-virtual-pipeline-stage: 1\n"
        "  --microbatch-group-size-per-virtual-pipeline-stage: 5\n";
    EXPECT_THAT(imported_args(cut + "  --global-batch-size: 10\n", "8").text,
                HasSubstr("rounds: pytorch"));
    EXPECT_THAT(imported_args(cut + "  --global-batch-size: 40\n", "8").notes,
                Contains(HasSubstr("groups of 5 microbatches are planned with 4")));
}

TEST(ScriptsOfCheckouts, WriteTwoLevelsOfContextInOneWordOfYaml) {
    EXPECT_THAT(imported_args("  --global-batch-size: 8\n  --context-parallel-size: 4\n"
                              "  --cp-comm-type: a2a+p2p\n"
                              "  --hierarchical-context-parallel-sizes: 2 2\n",
                              "8")
                    .text,
                HasSubstr("hierarchical_context_parallel_sizes: [2, 2]"));
}

TEST(ScriptsOfCheckouts, NameSeveralFilesOfGptNeox) {
    const Checkout checkout;
    checkout.add("configs/small.yml",
                 "{\"pipe-parallel-size\": 1, \"model-parallel-size\": 1, \"num-layers\": 2,\n"
                 "\"hidden-size\": 256, \"num-attention-heads\": 4, \"seq-length\": 512,\n"
                 "\"max-position-embeddings\": 512, \"train-micro-batch-size-per-gpu\": 2}\n");
    checkout.add("configs/local.yml", "data-path: data/enwik8\nprecision: bfloat16\n");
    const fs::path job =
        checkout.add("run.sh", "python3 ./deepy.py train.py -d configs small local.yml\n");
    const std::vector<Override> given{{"cluster", "hgx-h100"}, {"gpus", "8"}};
    const Imported imported = import_job(job, "", given);
    EXPECT_EQ(imported.format, "gpt-neox");
    const Scenario s = scenarios::parse_scenario(imported.text, "back.yaml");
    EXPECT_EQ(s.model.layers.count(), 2);
    EXPECT_EQ(s.training.global_batch, 16);
    EXPECT_EQ(s.training.precision.compute, models::DataType::Bf16);
    checkout.add("configs/local.yml", "num-layers: 4\n");
    try {
        import_job(job, "", given);
        FAIL() << "a key of two files was read";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("num-layers is also given in line 1 of 'small.yml'"));
    }
    EXPECT_THROW(
        import_job(checkout.add("other.sh", "python3 deepy.py train.py missing.yml\n"), "", given),
        InputError);
}

TEST(PrimusJob, OfTorchtitanIsReadOverItsChains) {
    const Checkout checkout;
    checkout.add("primus/configs/modules/torchtitan/base.yaml",
                 "training: {local_batch_size: 8, seq_len: 2048}\n"
                 "parallelism: {tensor_parallel_degree: 1, data_parallel_shard_degree: -1}\n");
    checkout.add("primus/configs/modules/torchtitan/pre_trainer.yaml",
                 "extends: [base.yaml]\nactivation_checkpoint: {mode: none}\n"
                 "primus_turbo: {use_classic_attention: false}\n");
    checkout.add("primus/configs/models/torchtitan/qwen3.yaml",
                 "model: {name: qwen3, flavor: \"1.7B\", converters: [primus_turbo]}\n");
    const auto job = [&](const std::string& more) {
        return checkout.add("examples/job.yaml",
                            "modules:\n  pre_trainer:\n    framework: torchtitan\n"
                            "    config: pre_trainer.yaml\n    model: qwen3.yaml\n    overrides:\n"
                            "      training: {local_batch_size: \"${BATCH:4}\"}\n" +
                                more);
    };
    const std::vector<Override> given{{"cluster", "hgx-mi300x"}, {"gpus", "8"}};
    const Scenario s = scenarios::parse_scenario(
        import_job(job("      parallelism: {tensor_parallel_degree: 2}\n"), "", given).text,
        "back.yaml");
    EXPECT_EQ(s.model.layers.count(), 28);
    EXPECT_EQ(s.training.micro_batch, 4);
    EXPECT_EQ(s.training.seq_length, 2048);
    EXPECT_EQ(s.parallel.tensor, 2);
    EXPECT_EQ(s.parallel.zero_stage, 3);
    EXPECT_THROW(import_job(job("      parallelism: {tensor_parallel_degree: [2]}\n"), "", given),
                 InputError);
    checkout.add("primus/configs/models/torchtitan/qwen3.yaml",
                 "model: {name: deepseek_v3, flavor: 16B}\n");
    const Scenario classic = scenarios::parse_scenario(
        import_job(job("      primus_turbo: {use_classic_attention: true}\n"), "", given).text,
        "back.yaml");
    ASSERT_NE(classic.model.layers.first<models::Attention>(), nullptr);
    EXPECT_FALSE(classic.model.layers.first<models::Attention>()->latent);
    EXPECT_EQ(classic.model.layers.count(), 27);
    checkout.add("primus/configs/models/torchtitan/qwen3.yaml",
                 "model: {name: llama3, flavor: 8B, n_layers: 2}\n");
    EXPECT_EQ(scenarios::parse_scenario(import_job(job(""), "", given).text, "back.yaml")
                  .model.layers.count(),
              2);
}

}  // namespace
}  // namespace debubble::jobs

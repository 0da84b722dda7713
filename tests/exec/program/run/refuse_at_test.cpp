#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/program/run/prepare_run.h"
#include "tests/exec/support/scratch_folder.h"

/// What is planned and not executed is refused in a sentence, at the key that asks for it.
namespace debubble::exec {
namespace {

std::string refusal(const std::string& scenario, std::vector<std::string> set = {}) {
    const ScratchFolder folder;
    const std::filesystem::path file = folder.path() / "asked.yaml";
    write_file(file, scenario);
    RunRequest request;
    request.scenario = file.string();
    request.set = std::move(set);
    try {
        read_for_run(request);
    } catch (const InputError& error) {
        return std::string(error.what()).substr(folder.path().string().size() + 1);
    }
    return "accepted";
}

constexpr const char* kRest = R"(
cluster: hgx-h100
gpus: 1
parallel: {data: 1}
training: {seq_length: 64, global_batch: 1, micro_batch: 1, precision: bf16}
)";

TEST(Unsupported, RecurrentLayersAreRefusedAtTheModel) {
    EXPECT_THAT(
        refusal(std::string("model: {base: nemotron-h-8b, layers: 4}") + kRest),
        testing::StartsWith("asked.yaml:1:8: error: nemotron-h-8b has state-space layers: "
                            "'debubble simulate' models it, but it cannot be executed yet"));
    EXPECT_THAT(
        refusal(std::string("model: qwen3-next-80b-a3b") + kRest),
        testing::StartsWith("asked.yaml:1:8: error: qwen3-next-80b-a3b has gated delta nets: "
                            "'debubble simulate' models it, but it cannot be executed"));
}

TEST(Unsupported, KeysAreRefusedWhereTheyAre) {
    const std::string model = "model: gpt2";
    EXPECT_EQ(refusal(model + kRest), "accepted");
    EXPECT_THAT(refusal(model + kRest, {"training.precision=fp8-current"}),
                testing::StartsWith("asked.yaml:5:72: error: training.precision asks for GEMMs "
                                    "with the recipe fp8-current"));
    EXPECT_EQ(refusal(model + kRest, {"training.optimizer=muon"}), "accepted");
    const std::string packed = "imbalance: {sequence: {mean: 16}}\n";
    EXPECT_EQ(refusal(model + kRest + packed), "accepted");
    EXPECT_THAT(
        refusal(model + kRest + packed, {"gpus=2", "parallel.data=2", "training.global_batch=2",
                                         "parallel.dynamic_context_parallel=true"}),
        testing::HasSubstr(
            "parallel.dynamic_context_parallel sizes groups by the lengths "
            "of documents: 'debubble simulate' models it, but it cannot be executed yet"));
    EXPECT_THAT(refusal(model + kRest + packed, {"imbalance.sequence.global_batch_packing=true"}),
                testing::HasSubstr("packs documents in every step"));
    EXPECT_THAT(refusal("cluster: hgx-h100\ngpus: 1\nparallel: {data: 1}\ntraining: {seq_length: "
                        "64, global_batch: 1}\n",
                        {"model=nemotron-h-8b"}),
                testing::StartsWith("asked.yaml: error: nemotron-h-8b has state-space layers"));
}

TEST(Unsupported, TwoLevelsOfContextParallelismAreRefusedAtTheirKey) {
    const std::string asked = R"(model: gpt2
cluster: hgx-h100
gpus: 4
parallel: {context: 4, hierarchical_context_parallel_sizes: [2, 2]}
framework: {base: debubble, context_communication: a2a+p2p}
training: {seq_length: 64, global_batch: 1, micro_batch: 1, precision: bf16}
)";
    EXPECT_THAT(
        refusal(asked),
        testing::StartsWith("asked.yaml:5:52: error: framework.context_communication is a2a+p2p, "
                            "context parallelism on two levels: 'debubble simulate' models it, but "
                            "it cannot be executed yet"));
}

TEST(Unsupported, RowsThatTravelInEightBitsAreRefusedAtTheFramework) {
    const auto asked = [](const std::string& key, const std::string& type) {
        return refusal(
            "model: {base: mixtral-8x7b, layers: 2}\ncluster: hgx-h100\ngpus: 2\n"
            "parallel: {expert: 2, data: 2}\nframework: {base: debubble, " +
            key + ": " + type +
            "}\ntraining: {seq_length: 64, global_batch: 2, micro_batch: 1, "
            "precision: bf16}\n");
    };
    for (const char* key : {"moe_dispatch_fwd_dtype", "moe_combine_bwd_dtype"}) {
        EXPECT_EQ(asked(key, "bf16"), "accepted") << key;
        for (const char* type : {"fp8", "mxfp8"})
            EXPECT_THAT(
                asked(key, type),
                testing::StartsWith("asked.yaml:5:12: error: tokens are sent to experts in 8 bits: "
                                    "'debubble simulate' models it, but it cannot be executed yet"))
                << key << ", " << type;
    }
}

}  // namespace
}  // namespace debubble::exec

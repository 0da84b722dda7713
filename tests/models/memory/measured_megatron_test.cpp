#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/models/architectures.h"
#include "tests/models/memory/measured_rank.h"
#include "tests/models/memory/measured_rows.h"

/// Peaks of Megatron-LM's own functional tests. The configurations are the
/// model_config.yaml of tests/functional_tests/test_cases/gpt/<case> of
/// github.com/NVIDIA/Megatron-LM; the number of GPUs, which they do not state, is the one
/// whose optimizer shards give the memory measured between two steps. Mixtures of experts are in
/// measured_mixtral_test.cpp; BERT, T5, hybrid and multimodal rows are not modelled.
namespace debubble::models {
namespace {

/// Nemotron-4 15B: squared ReLU, rotary positions, layer norm without linear biases.
MeasuredRun nemotron_15b(const Row& row, int tensor) {
    MeasuredRun run;
    run.model = llama(static_cast<int>(whole(row, "num-layers")), whole(row, "hidden-size"),
                      whole(row, "num-attention-heads"), 8, 4 * whole(row, "hidden-size"), 256000);
    run.model.norm = Norm::LayerNorm;
    change_layers(run.model, [](LayerKeys& keys) { keys.activation = Activation::Relu; });
    run.how.micro_batch = whole(row, "micro-batch-size");
    run.how.seq_length = whole(row, "seq-length");
    run.how.tensor = tensor;
    run.how.sequence_parallel = true;
    run.policy.zero_stage = 1;
    return run;
}

/// The 15B run on 256 GPUs. On A100, and on H100 in the older of two rows, the
/// container is one whose dropout keeps its mask even at p = 0.
MeasuredRun release(const Row& row, bool older) {
    MeasuredRun run = nemotron_15b(row, 8);
    run.how.kernels.fused_rope = false;
    run.how.kernels.dropout_masks_always = older;
    run.how.kernels.dummy_weight_gradients = !older;
    run.policy.shards = 32;
    const std::string& hardware = row.at("hw");
    run.policy.library_workspace = hardware == "a100"   ? kWorkspacesA100
                                   : hardware == "h100" ? kWorkspacesHopper
                                                        : kWorkspacesBlackwell;
    return run;
}

/// The loss's kernel is the one of that day's configuration: fused, "native".
MeasuredRun release_blackwell(const Row& row) {
    MeasuredRun run = nemotron_15b(row, 4);
    run.how.kernels.dummy_weight_gradients = true;
    run.how.kernels.loss = LossKernel::MegatronFused;
    run.policy.shards = 16;
    run.policy.library_workspace = kWorkspacesBlackwell;
    run.schedule = "interleaved-1f1b";
    run.shape = {2, 2, 6, 1};
    run.stream_buffers = 4;
    return run;
}

/// Deterministic, dropout on, unfused accumulation, a mask from the loader, a chunk per layer.
MeasuredRun gpt_7b(const Row& row) {
    MeasuredRun run;
    run.model = llama(static_cast<int>(whole(row, "num-layers")), whole(row, "hidden-size"),
                      whole(row, "num-attention-heads"), 8, 4 * whole(row, "hidden-size"),
                      whole(row, "vocab-size"));
    run.model.norm = Norm::LayerNorm;
    run.model.learned_positions = true;
    change_layers(run.model, [](LayerKeys& keys) {
        keys.activation = Activation::Gelu;
        keys.rotary = false;
        keys.linear_bias = true;
    });
    run.how.micro_batch = whole(row, "micro-batch-size");
    run.how.seq_length = whole(row, "seq-length");
    run.how.hidden_dropout = run.how.attention_dropout = true;
    run.how.kernels.gradient_accumulation_fusion = false;
    run.how.kernels.attention_mask_tensor = true;
    run.policy.zero_stage = 1;
    run.policy.shards = 2;
    // CUBLAS_WORKSPACE_CONFIG=:4096:8 makes the workspaces Hopper's on every device
    run.policy.library_workspace = row.at("hw") == "a100" ? Bytes{68 * kMiB} : kWorkspacesHopper;
    run.schedule = "interleaved-1f1b";
    run.shape = {4, 8, 4, 1};
    run.stream_buffers = 3;
    return run;
}

struct Expected {
    const char* name;
    const char* hardware;
    double percent;  ///< largest error
    MeasuredRun (*run)(const Row&);
};

MeasuredRun newer(const Row& row) {
    return release(row, false);
}
MeasuredRun older(const Row& row) {
    return release(row, true);
}

/// Two rows of the "_sm_gb200" case carry the values of the TP8 case: on A100 they are
/// the same digits, on H100 the same run in the older container.
const Expected kExpected[] = {
    {"gpt/gpt3_15b_8t_release_sm", "a100", 0.02, older},
    {"gpt/gpt3_15b_8t_release_sm", "h100", 0.05, newer},
    {"gpt/gpt3_15b_8t_release_sm", "gb200", 0.05, newer},
    {"gpt/gpt3_15b_8t_release_sm_gb200", "a100", 0.02, older},
    {"gpt/gpt3_15b_8t_release_sm_gb200", "h100", 0.1, older},
    {"gpt/gpt3_15b_8t_release_sm_gb200", "gb200", 0.5, release_blackwell},
    {"gpt/gpt3_7b_tp1_pp4_memory_speed", "a100", 0.02, gpt_7b},
    {"gpt/gpt3_7b_tp1_pp4_memory_speed", "h100", 0.4, gpt_7b},
    {"gpt/gpt3_7b_tp1_pp4_memory_speed", "gb200", 0.02, gpt_7b},
};

TEST(MeasuredMemory, OfMegatronsDenseRunsIsReached) {
    SKIP_WITHOUT_MEASUREMENTS();
    int found = 0;
    for (const Row& row : measured_rows("megatron_ci_memory.csv")) {
        for (const Expected& expected : kExpected) {
            if (row.at("case") != expected.name || row.at("hw") != expected.hardware) continue;
            ++found;
            const Played played = play_last_rank(expected.run(row));
            const double measured = real(row, "mem_max_alloc_GiB");
            const double predicted = gib(played.usage.peak_allocated);
            const double error = 100 * (predicted / measured - 1);
            fmt::print(
                "{:34} {:6} {:8.4f} GiB, measured {:8.4f}, {:+.3f} %, peak at {}; {:+.1f} MiB "
                "between steps\n",
                expected.name, expected.hardware, predicted, measured, error, played.at_peak,
                1024 * (gib(played.fixed) - real(row, "mem_alloc_GiB")));
            EXPECT_LE(std::abs(error), expected.percent) << expected.name << expected.hardware;
        }
    }
    EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace debubble::models

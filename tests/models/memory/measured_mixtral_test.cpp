#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/models/architectures.h"
#include "tests/models/memory/measured_rank.h"
#include "tests/models/memory/measured_rows.h"

/// Peaks of Megatron-LM's Mixtral runs (tests/functional_tests/test_cases/mixtral/<case> of
/// github.com/NVIDIA/Megatron-LM). No token is dropped, so what a rank holds follows how evenly
/// the router spreads them, and a peak is that of the fullest moment of the run: predicted is a
/// band, from a perfect balance to a load of the last rank's experts.
namespace debubble::models {
namespace {

struct Band {
    const char* name;
    const char* hardware;
    int data;            ///< ranks, by the memory between two steps, which has no tokens in it
    std::int64_t vocab;  ///< of the tokenizer
    bool older;          ///< the container, as in measured_megatron_test.cpp
    double most_load;    ///< at the end of the band
    double between;      ///< MiB by which the memory between steps may be predicted too low
};

/// The 8x22B goes on from trained weights, whose router is balanced; the 8x7B begins with random
/// ones, and its peak stands before the loss that balances has had any effect.
const Band kBands[] = {
    {"mixtral/mixtral_8x22b_tp2pp8ep8vpp1_release", "a100", 8, 32000, true, 1.15, 130},
    {"mixtral/mixtral_8x22b_tp2pp8ep8vpp1_release", "h100", 8, 32000, false, 1.15, 180},
    {"mixtral/mixtral_8x7b_alltoall_tp2pp4ep4_release_sm", "h100", 16, 256000, true, 1.75, 210},
};

MeasuredRun mixtral(const Row& row, const Band& expected, double load) {
    MeasuredRun run;
    run.model =
        llama(static_cast<int>(whole(row, "num-layers")), whole(row, "hidden-size"),
              whole(row, "num-attention-heads"), 8, whole(row, "ffn-hidden-size"), expected.vocab);
    change_layers(run.model, [](LayerKeys& keys) {
        keys.experts = 8;
        keys.experts_per_token = 2;
    });
    run.how.micro_batch = whole(row, "micro-batch-size");
    run.how.seq_length = whole(row, "seq-length");
    run.how.tensor = run.how.expert_tensor = 2;
    run.how.expert = static_cast<int>(whole(row, "expert-model-parallel-size"));
    run.how.expert_load = load;
    run.how.sequence_parallel = true;
    run.how.kernels.fused_rope = false;
    run.how.kernels.dropout_masks_always = expected.older;
    run.how.kernels.dummy_weight_gradients = !expected.older;
    run.policy.zero_stage = 1;
    run.policy.shards = expected.data;
    run.policy.expert_shards = expected.data / run.how.expert;
    run.policy.library_workspace = row.at("hw") == "a100" ? kWorkspacesA100 : kWorkspacesHopper;
    const int ranks = static_cast<int>(whole(row, "pipeline-model-parallel-size"));
    run.shape = {ranks, 1, 2 * ranks, 1};
    return run;
}

TEST(MeasuredMemory, OfMegatronsMixtralsIsBetweenBalanceAndASmallLoad) {
    SKIP_WITHOUT_MEASUREMENTS();
    int found = 0;
    for (const Row& row : measured_rows("megatron_ci_memory.csv")) {
        for (const Band& expected : kBands) {
            if (row.at("case") != expected.name || row.at("hw") != expected.hardware) continue;
            ++found;
            const Played balanced = play_last_rank(mixtral(row, expected, 1));
            const Played loaded = play_last_rank(mixtral(row, expected, expected.most_load));
            const double measured = real(row, "mem_max_alloc_GiB");
            const double between = 1024 * (gib(balanced.fixed) - real(row, "mem_alloc_GiB"));
            fmt::print(
                "{:50} {}: {:.4f} to {:.4f} GiB at load {}, measured {:.4f}; {:+.1f} MiB "
                "between steps\n",
                expected.name, expected.hardware, gib(balanced.usage.peak_allocated),
                gib(loaded.usage.peak_allocated), expected.most_load, measured, between);
            EXPECT_LE(gib(balanced.usage.peak_allocated), measured) << expected.name;
            EXPECT_GE(gib(loaded.usage.peak_allocated), measured) << expected.name;
            EXPECT_LE(between, 0) << expected.name;
            EXPECT_GE(between, -expected.between) << expected.name;
        }
    }
    EXPECT_EQ(found, 3);
}

}  // namespace
}  // namespace debubble::models

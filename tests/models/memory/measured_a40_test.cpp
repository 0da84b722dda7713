#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/models/architectures.h"
#include "tests/models/memory/measured_rank.h"
#include "tests/models/memory/measured_rows.h"

/// Peaks printed by the article "Training Parallelism" (2024): pure PyTorch, everything
/// in bfloat16, two A40; torch's max_memory_allocated in 1e9 bytes.
namespace debubble::models {
namespace {

MeasuredRun a40(const Row& row) {
    MeasuredRun run;
    const std::int64_t h = whole(row, "hidden");
    run.model = llama(static_cast<int>(whole(row, "layers")), h, whole(row, "heads"),
                      whole(row, "heads"), h * 3 / 2, whole(row, "vocab"));
    run.model.max_positions = 10000;
    run.how.micro_batch = whole(row, "batch_per_gpu");
    run.how.seq_length = whole(row, "seq_length");
    run.how.gradients = DataType::Bf16;
    run.how.kernels.gradient_accumulation_fusion = false;
    run.how.kernels.fused_norm = run.how.kernels.fused_rope =
        run.how.kernels.fused_bias_activation = false;
    run.how.kernels.fused_bias_dropout_add = false;
    run.how.kernels.attention_copies = true;
    run.how.kernels.loss = LossKernel::EagerPyTorch;
    run.how.kernels.vocabulary_multiple = 1;
    run.policy.main_parameters.reset();
    run.policy.moments = DataType::Bf16;
    run.policy.gradient_buffer = false;
    run.policy.foreach_optimizer = true;
    run.policy.library_workspace = Bytes{2 * 65 * kMiB / 8};
    run.policy.shards = 2;
    const std::string& strategy = row.at("strategy");
    run.policy.ddp_buckets = strategy == "ddp" || strategy == "zero1";
    run.policy.zero_stage = strategy == "zero1" ? 1 : strategy == "fsdp" ? 3 : 0;
    if (strategy == "tp2+sp") {
        run.how.tensor = 2;
        run.how.sequence_parallel = run.how.kernels.keeps_gathered = true;
    }
    run.shape = {1, 1, 1, 1};
    return run;
}

TEST(MeasuredMemory, OfTheA40ArticleIsReached) {
    SKIP_WITHOUT_MEASUREMENTS();
    const auto rows = measured_rows("a40_blog.csv");
    EXPECT_FALSE(rows.empty());
    for (const Row& row : rows) {
        const Played played = play_last_rank(a40(row));
        const double measured = real(row, "peak_memory_gb");
        const double predicted = static_cast<double>(played.usage.peak_allocated.count) / 1e9;
        const double error = 100 * (predicted / measured - 1);
        fmt::print("{:12} {:7.3f} GB, measured {:6.2f}, {:+.2f} %, peak at {}\n", row.at("case"),
                   predicted, measured, error, played.at_peak);
        EXPECT_LE(std::abs(error), row.at("strategy") == "tp2+sp" ? 0.6 : 0.3) << row.at("case");
    }
}

}  // namespace
}  // namespace debubble::models

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "schedule/csv/csv.h"
#include "sim/memory/memory_play.h"
#include "sim/predict.h"
#include "tests/exec/support/parity/parity_cases.h"
#include "tests/exec/support/parity/parity_checks.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/schedule/random_orders.h"

/// Orders of computes that follow no known schedule, whose ranks take microbatches in different
/// order.
namespace debubble::exec::parity::any_order {
namespace {

constexpr int kOrders = 30;

/// A file of it, in a layout that it fits.
Case case_of(const Schedule& schedule, bool is_v, const std::filesystem::path& folder, int number) {
    const auto file = folder / fmt::format("{}.csv", number);
    write_file(file, write_csv(schedule));
    const PipelineShape& shape = schedule.shape;
    Case c = layout(fmt::format("order {}", number),
                    fmt::format("{{pipeline: {}, data: 1, stages_per_rank: {}}}", shape.ranks,
                                shape.stages_per_rank),
                    fmt::format("{{csv: {}, placement: {}}}", file.string(), is_v ? "v" : "loop"));
    c.micro_batches = shape.micro_batches;
    c.model = "gpt2-wide";
    c.seq_length = 64;
    return c;
}

void expect_planned_memory(Case c) {
    c.optimizer = "adamw";  // makes a message small against the held memory
    const Result result = train(c, 1);
    scenarios::Scenario scenario = scenario_of(c);
    scenario.cluster.gpu.threads = 1;  // ranks are threads of a processor
    const sim::Prediction predicted = sim::predict(scenario).prediction;
    EXPECT_EQ(predicted.schedule_hash, program_hash(result.plan.program));
    for (const StepRecord& record : result.records) {
        const sim::PlayedMemory planned =
            sim::play_memory(scenario, result.plan.stages, result.plan.program, record.rank);
        const auto executed = static_cast<double>(total(record.peak.held).count);
        EXPECT_NEAR(executed, static_cast<double>(planned.peak_allocated.count), 0.01 * executed)
            << c.name << ", rank " << record.rank.index;
    }
}

TEST(AnyOrder, IsTheTrainingOfOneRank) {
    const ScratchFolder folder;
    std::mt19937 random(9);
    for (int i = 0; i < kOrders && !HasFailure(); ++i) {
        const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % most); };
        const PipelineShape shape{random() % 2 == 0 ? 2 : 4, up_to(2), up_to(6), 1};
        const bool is_v = shape.stages_per_rank == 2 && random() % 2 == 0;
        const Schedule schedule = random_order(
            random, shape,
            is_v ? v_placement(shape.ranks) : loop_placement(shape.ranks, shape.stages_per_rank),
            random() % 2 == 0);
        const Case c = case_of(schedule, is_v, folder.path(), i);
        SCOPED_TRACE(write_csv(schedule));
        expect_training_of_one_rank(c, train(c, 2), false);
        expect_planned_memory(c);
    }
}

}  // namespace
}  // namespace debubble::exec::parity::any_order

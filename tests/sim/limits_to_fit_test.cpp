#include <string>

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

/// zb-auto without a limit gets what the ranks' memory holds, as a plan is judged to fit.
namespace debubble::sim {
namespace {

Prediction with_memory(int memory, const std::string& mem_b) {
    scenarios::Scenario job = scenarios::read_scenario("gpt2-xl-zb-auto");
    job.schedule.memory_limits.clear();
    if (!mem_b.empty()) job.schedule.options["mem_b"] = mem_b;
    job.parallel.partition = scenarios::Partition::Explicit;
    job.parallel.layers_per_stage = {13, 13, 13, 9};
    job.cluster.gpu.memory = Bytes{static_cast<std::int64_t>(memory) << 30};
    return predict(job, {.keep_trace = false}).prediction;
}

TEST(LimitsToFit, FindPlansThatFitWhereverASmallerDeviceHasOne) {
    for (const std::string mem_b : {"", "graph"}) {
        EXPECT_FALSE(with_memory(13, mem_b).fits) << "not even one microbatch";
        for (int memory = 14; memory <= 30; ++memory) {
            const Prediction p = with_memory(memory, mem_b);
            EXPECT_TRUE(p.fits) << memory << " GiB: " << p.reason;
        }
    }
}

TEST(LimitsToFit, AreNoLowerThanThoseOfASmallerDevice) {
    double before = with_memory(14, "").step_time_s;
    for (int memory = 15; memory <= 28; ++memory) {
        const double step = with_memory(memory, "").step_time_s;
        EXPECT_LE(step, 1.005 * before) << memory << " GiB; the search is a heuristic";
        before = step;
    }
}

}  // namespace
}  // namespace debubble::sim

#include <filesystem>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/check/framework_checks.h"
#include "scenarios/read/read_scenario.h"
#include "sim/measured/measured_table.h"
#include "tests/support/source_folder.h"

namespace debubble::sim {
namespace {

/// What ran on a real machine is what its software has.
TEST(MeasuredSteps, RanSchedulesThatTheirFrameworkHas) {
    int read = 0;
    for (const auto& table :
         std::filesystem::directory_iterator(source_folder() / "bench/measured")) {
        if (table.path().extension() != ".jsonl") continue;
        std::vector<MeasuredStep> steps;
        read_measured(read_file(table.path()), table.path().filename().string(), steps);
        for (const MeasuredStep& step : steps) {
            if (step.is_part()) continue;
            try {
                const scenarios::Scenario scenario =
                    scenarios::scenario_of_map(step.scenario, step.row);
                EXPECT_EQ(scenarios::lacking_schedule(scenario), "") << step.table << step.row;
                ++read;
            } catch (const InputError&) {
                continue;  // it lacks keys, or is of a model that nobody has described
            }
        }
    }
    EXPECT_GE(read, 500);
}

}  // namespace
}  // namespace debubble::sim

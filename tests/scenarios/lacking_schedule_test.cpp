#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "scenarios/check/framework_checks.h"
#include "scenarios/read/read_scenario.h"
#include "scenarios/software/reader.h"
#include "schedule/generators/generators.h"
#include "text/shipped_files.h"

namespace debubble::scenarios {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Scenario pipeline_by_framework(const std::string& framework, const std::string& schedule) {
    const std::string text =
        "model: gpt2-xl\ncluster: dgx-a100-80gb\ngpus: 4\nparallel: {pipeline: 4}\n"
        "training: {micro_batches: 16}\n";
    std::vector<Override> keys{{"schedule", schedule}};
    if (!framework.empty()) keys.emplace_back("framework", framework);
    return parse_scenario(text, "pipeline.yaml", keys);
}

TEST(AFrameworksSchedules, AreListedByEveryProfileButTheOneThatRunsAnyList) {
    for (const std::string& name : text::shipped_names("scenarios/frameworks")) {
        const Framework framework = shipped_framework(name);
        EXPECT_EQ(framework.schedules.has_value(), name != "debubble") << name;
        if (!framework.schedules) continue;
        EXPECT_THAT(*framework.schedules, Contains("1f1b")) << name;
        for (const std::string& schedule : *framework.schedules)
            EXPECT_NE(find_generator(schedule), nullptr) << name << ' ' << schedule;
    }
}

TEST(AFrameworksSchedules, AreAllThatItHas) {
    EXPECT_EQ(lacking_schedule(pipeline_by_framework("megatron-2026", "dualpipe-v")),
              "megatron-2026 has no dualpipe-v");
    EXPECT_EQ(
        lacking_schedule(pipeline_by_framework("{base: deepspeed, host_kernel: 1 ms}", "gpipe")),
        "deepspeed has no gpipe");
    for (const char* held : {"megatron-2026", "primus-2026", "deepspeed", "pytorch-fsdp2"})
        EXPECT_THAT(lacking_schedule(pipeline_by_framework(held, "1f1b")), IsEmpty()) << held;
    EXPECT_THAT(lacking_schedule(pipeline_by_framework("primus-2026", "v-half")), IsEmpty());
    EXPECT_THAT(lacking_schedule(pipeline_by_framework("pytorch-fsdp2", "dualpipe-v")), IsEmpty());
    EXPECT_THAT(lacking_schedule(pipeline_by_framework("deepseek-2024", "dualpipe-v")), IsEmpty());
}

TEST(AFrameworksSchedules, AreEveryOneOfItsOwnExecutorAndWhereNoSoftwareIsNamed) {
    for (const Generator& generator : generators()) {
        const Framework any = pipeline_by_framework("", "1f1b").framework;
        EXPECT_FALSE(any.schedules.has_value());
        EXPECT_FALSE(shipped_framework("debubble").schedules.has_value());
        const std::string name(generator.name);
        if (generator.why_not({4, generator.stages_per_rank.value_or(1), 16, 1}, {})) continue;
        EXPECT_THAT(lacking_schedule(pipeline_by_framework("debubble", name)), IsEmpty()) << name;
        EXPECT_THAT(
            lacking_schedule(pipeline_by_framework("{base: megatron-2026, schedules: all}", name)),
            IsEmpty())
            << name;
    }
}

TEST(AFrameworksSchedules, ReplaceThoseOfItsBase) {
    const std::string framework = "{base: megatron-2026, schedules: [dualpipe-v]}";
    EXPECT_THAT(lacking_schedule(pipeline_by_framework(framework, "dualpipe-v")), IsEmpty());
    EXPECT_EQ(lacking_schedule(pipeline_by_framework(framework, "1f1b")),
              "megatron-2026 has no 1f1b");
}

TEST(AFrameworksSchedules, LeaveASinglePlanToItsNote) {
    EXPECT_THAT(pipeline_by_framework("megatron-2026", "zb-v").notes,
                Contains(HasSubstr("megatron-2026 has no zb-v: it is predicted anyway")));
    EXPECT_THAT(pipeline_by_framework("primus-2026", "zb-v").notes,
                testing::Not(Contains(HasSubstr("has no"))));
}

TEST(AFrameworksSchedules, AreSaidToLackByASentenceOfTheirOwn) {
    EXPECT_TRUE(says_schedule_is_lacking("megatron-2026 has no dualpipe-v"));
    EXPECT_FALSE(says_schedule_is_lacking("rank 3 needs 90.00 GiB at 0B0"));
    EXPECT_FALSE(says_schedule_is_lacking("the cluster has no network"));
    EXPECT_FALSE(says_schedule_is_lacking(""));
}

/// What a shipped scenario plans is what its software runs; grids may ask for more, which their
/// rows then say.
TEST(AFrameworksSchedules, HaveThatOfEveryShippedScenario) {
    for (const std::string& name : shipped_scenarios()) {
        const Scenario scenario = read_scenario(name);
        EXPECT_THAT(lacking_schedule(scenario), IsEmpty()) << name;
    }
}

TEST(AFrameworksSchedules, HaveThoseOfTheGridsOfDeepSeek) {
    for (const char* name : {"deepseek-v3-h800-sweep", "deepseek-v3-gb200-sweep"}) {
        const ScenarioTemplate grid{std::string(name)};
        const Sweep sweep = grid.sweep();
        const auto key = std::ranges::find(sweep.keys, "schedule", &SweepKey::key);
        ASSERT_NE(key, sweep.keys.end()) << name;
        EXPECT_THAT(key->values, Contains("dualpipe-v")) << name;
        for (const std::string& schedule : key->values) {
            const Scenario scenario = grid.instantiate(
                {{"schedule", schedule},
                 {"parallel.pipeline", "8"},
                 {"parallel.expert", "32"},
                 {"training.recompute", "{modules: [mla_up_proj, layernorm, moe_act]}"}});
            EXPECT_THAT(lacking_schedule(scenario), IsEmpty()) << name << ' ' << schedule;
        }
    }
}

}  // namespace
}  // namespace debubble::scenarios

#include <gtest/gtest.h>

#include "scenarios/read/read_scenario.h"

/// What others published of a scenario.
namespace debubble::scenarios {
namespace {

Scenario with(const std::string& published) {
    return parse_scenario("model: gpt2-xl\ncluster: dgx-a100-80gb\npublished: " + published + "\n",
                          "here.yaml");
}

TEST(Published, IsOneFigureWithItsSource) {
    const Scenario s = with("{tokens_per_s_per_gpu: 1664, source: 'a table'}");
    ASSERT_TRUE(s.published);
    EXPECT_EQ(s.published->tokens_per_s_per_gpu, 1664);
    EXPECT_EQ(s.published->source, "a table");
    EXPECT_FALSE(s.published->step || s.published->tflops_per_gpu);
    EXPECT_EQ(with("{step: 20 s, source: x}").published->step, std::chrono::seconds(20));
    EXPECT_EQ(with("{tflops_per_gpu: 400, source: x}").published->tflops_per_gpu, 400);
    EXPECT_FALSE(read_scenario("gpt2-xl").published);
}

TEST(Published, OfShippedScenariosNamesASource) {
    for (const std::string& name : shipped_scenarios())
        if (const auto published = read_scenario(name).published) {
            EXPECT_FALSE(published->source.empty()) << name;
        }
}

}  // namespace
}  // namespace debubble::scenarios

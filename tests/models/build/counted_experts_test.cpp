#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/memory/static_memory.h"

/// A graph for plans counts the parameters of experts that the executor's graph names one by one.
namespace debubble::models {
namespace {

StageContent all_of(const Architecture& model) {
    return {0, std::min(model.layers.count(), 6), true, model.layers.count() <= 6};
}

void expect_same_steps(const PassSteps& a, const PassSteps& b) {
    EXPECT_EQ(a.kernels, b.kernels);
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.operators, b.operators);
    EXPECT_EQ(a.makes_dense_gradients, b.makes_dense_gradients);
}

TEST(CountedExperts, AreThoseThatAreNamed) {
    int compared = 0;
    for (const std::string& name : zoo()) {
        const Architecture model = read_model(name);
        if (!model.has_experts()) continue;
        for (const int expert : {1, 8})
            for (const Recompute recompute : {Recompute::None, Recompute::Full}) {
                Execution how;
                how.seq_length = 64;
                how.expert = expert;
                how.recompute = recompute;
                const auto built = [&](ExpertParameters experts) {
                    return build_stage(model, how, all_of(model), experts);
                };
                const StageGraph named = built(ExpertParameters::EachByName);
                const StageGraph counted = built(ExpertParameters::Counted);
                SCOPED_TRACE(name + " on " + std::to_string(expert));
                if (expert == 1) {
                    EXPECT_LT(counted.parameters.size(), named.parameters.size());
                }
                EXPECT_EQ(counted.parameter_count(), named.parameter_count());
                EXPECT_EQ(static_memory(counted, {}).held, static_memory(named, {}).held);
                expect_same_steps(forward_steps(counted), forward_steps(named));
                expect_same_steps(backward_steps(counted), backward_steps(named));
                expect_same_steps(backward_weight_steps(counted), backward_weight_steps(named));
                ++compared;
            }
    }
    EXPECT_GT(compared, 40) << "there are mixtures in the zoo";
}

TEST(CountedExperts, StandForTheFirstOneByName) {
    const Architecture model = read_model("mixtral-8x7b");
    Execution how;
    how.seq_length = 64;
    how.expert = 2;
    how.expert_rank = 1;
    const StageGraph graph =
        build_stage(model, how, {0, 1, false, false}, ExpertParameters::Counted);
    const auto of_experts = std::ranges::count_if(graph.parameters, &Parameter::expert);
    EXPECT_EQ(of_experts, 3);
    for (const Parameter& parameter : graph.parameters) {
        EXPECT_EQ(parameter.count, parameter.expert ? 4 : 1) << parameter.name;
        if (!parameter.expert) continue;
        EXPECT_NE(parameter.name.find(".experts.4."), std::string::npos) << parameter.name;
        EXPECT_EQ(parameter.elements_of_rank(how), 4 * parameter.elements());
    }
}

}  // namespace
}  // namespace debubble::models

#include "exec/core/training/state/state_policy.h"

#include <cmath>

#include <gmock/gmock.h>

#include "exec/core/training/state/initial_values.h"
#include "tests/exec/support/training_job.h"

namespace debubble::exec {
namespace {

using testing::ElementsAre;

models::StageGraph graph_of(const std::string& model, const models::StageContent& content) {
    Layout layout{"{data: 1}"};
    layout.model = model;
    const scenarios::Scenario scenario = scenario_of(layout);
    models::Execution execution;
    execution.kernels.vocabulary_multiple = 1;
    execution.seq_length = scenario.training.seq_length;
    return models::build_stage(scenario.model, execution, content);
}

/// Names of the parameters, unit by unit, in the order of memory.
std::vector<std::string> names_of(const models::StageGraph& graph, const ParameterUnit& unit) {
    std::vector<std::string> names;
    std::int64_t end = 0;
    for (const UnitSlot& slot : unit.slots) {
        EXPECT_EQ(slot.range.first, end) << "parameters lie side by side";
        end += slot.range.count;
        names.push_back(graph.parameters[static_cast<std::size_t>(slot.parameter)].name);
    }
    EXPECT_EQ(unit.elements, end);
    return names;
}

TEST(ParameterUnits, AreLayersAndTheRestOfTheStage) {
    const models::StageGraph graph = graph_of("gpt2", {0, 4, true, true});
    const std::vector<ParameterUnit> units = units_of(graph);
    std::vector<std::string> names;
    for (const ParameterUnit& unit : units) names.push_back(unit.name);
    EXPECT_THAT(names, ElementsAre("wte.weight", "embedding", "layer 0", "layer 1", "layer 2",
                                   "layer 3", "head"));
    EXPECT_TRUE(units[0].tied);
    EXPECT_THAT(names_of(graph, units[1]), ElementsAre("wpe.weight"));
    EXPECT_THAT(names_of(graph, units[6]), ElementsAre("ln_f.weight", "ln_f.bias"));
    EXPECT_THAT(
        names_of(graph, units[3]),
        ElementsAre("h.1.ln_1.weight", "h.1.ln_1.bias", "h.1.attn.c_attn.weight",
                    "h.1.attn.c_attn.bias", "h.1.attn.c_proj.weight", "h.1.attn.c_proj.bias",
                    "h.1.ln_2.weight", "h.1.ln_2.bias", "h.1.mlp.c_fc.weight", "h.1.mlp.c_fc.bias",
                    "h.1.mlp.c_proj.weight", "h.1.mlp.c_proj.bias"));
}

TEST(ParameterUnits, NormsAreApartWhereTheirGradientsComeEarlier) {
    const models::StageGraph graph = graph_of("gpt2", {0, 1, true, true});
    std::vector<std::string> names;
    std::int64_t elements = 0;
    for (const ParameterUnit& unit : units_of(graph, {.norms = true})) {
        names.push_back(unit.name);
        elements += unit.elements;
    }
    EXPECT_THAT(names, ElementsAre("wte.weight", "embedding", "layer 0's norms", "layer 0",
                                   "head's norms"));
    EXPECT_THAT(
        names_of(graph, units_of(graph, {.norms = true})[2]),
        ElementsAre("h.0.ln_1.weight", "h.0.ln_1.bias", "h.0.ln_2.weight", "h.0.ln_2.bias"));
    EXPECT_EQ(elements, graph.parameter_elements());
}

TEST(ParameterUnits, KeepWhatOneProductTakesSideBySide) {
    const models::StageGraph graph = graph_of("vit", {1, 1, false, true});
    const std::vector<ParameterUnit> units = units_of(graph);
    const std::string prefix = "vit.encoder.layer.1.attention.attention.";
    const std::vector<std::string> names = names_of(graph, units[0]);
    const std::vector<std::string> heads(names.begin() + 2, names.begin() + 8);
    EXPECT_THAT(heads,
                ElementsAre(prefix + "query.weight", prefix + "key.weight", prefix + "value.weight",
                            prefix + "query.bias", prefix + "key.bias", prefix + "value.bias"));
}

TEST(ParameterUnits, SharesCoverThemAndAreEqual) {
    ParameterUnit unit;
    unit.elements = 10;
    EXPECT_EQ(unit.share(1), 10);
    EXPECT_EQ(unit.share(4), 16);
    EXPECT_EQ(unit.share_of(3, 4), (FlatRange{48, 16})) << "padding alone";
    for (const std::int64_t elements : {1, 15, 16, 17, 1000, 7087872}) {
        unit.elements = elements;
        for (const int shards : {2, 3, 7, 8, 64}) {
            EXPECT_EQ(unit.share(shards) % kShareOf, 0);
            EXPECT_GE(unit.share(shards) * shards, elements);
            EXPECT_LT(unit.share(shards) * shards, elements + kShareOf * shards);
        }
    }
    EXPECT_EQ(intersection(FlatRange{2, 4}, FlatRange{5, 9}), (FlatRange{5, 1}));
    EXPECT_EQ(intersection(FlatRange{2, 2}, FlatRange{5, 9}).count, 0);
}

/// Mean and deviation of every parameter that a job starts from.
TEST(InitialValues, AreHuggingFaces) {
    for (const char* model : {"gpt2", "llama", "vit"}) {
        Layout layout{"{data: 1}"};
        layout.model = model;
        const GlobalTensors weights = run_job(layout, 0).weights;
        for (const auto& [name, values] : weights) {
            double sum = 0, squares = 0;
            for (const double value : values) sum += value, squares += value * value;
            const auto n = static_cast<double>(values.size());
            if (name.ends_with(".bias")) {
                EXPECT_EQ(squares, 0) << name;
            } else if (name.find("norm") != std::string::npos ||
                       name.find("ln_") != std::string::npos) {
                EXPECT_EQ(sum, n) << name;
            } else {
                // GPT-2 has 4 layers here: 0.02 / sqrt(8).
                const double deviation =
                    name.ends_with("c_proj.weight") ? 0.02 / std::sqrt(8) : 0.02;
                const double spread = deviation / std::sqrt(n);
                EXPECT_NEAR(sum / n, 0, 5 * spread) << name;
                EXPECT_NEAR(std::sqrt(squares / n), deviation, 5 * spread) << name;
            }
        }
    }
}

TEST(InitialValues, AreTheSeedsAndOneForEveryLayout) {
    const Layout alone{"{data: 1}"};
    const GlobalTensors weights = run_job(alone, 0).weights;
    for (const char* parallel :
         {"{data: 4, zero_stage: 3}", "{tensor: 2, pipeline: 2, data: 2, zero_stage: 1}"}) {
        const JobResult result = run_job({parallel}, 0);
        EXPECT_EQ(result.weights, weights) << parallel;
        EXPECT_TRUE(result.copies_agree);
    }
    EXPECT_NE(weights.at("h.0.attn.c_attn.weight"), weights.at("h.1.attn.c_attn.weight"));
}

}  // namespace
}  // namespace debubble::exec

#include "models/partition/partition.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/diagnostic.h"

/// Layout strings against Megatron-LM d98e8a6, whose parser gave the layers of the examples.
namespace debubble::models {
namespace {

std::vector<int> layers(const std::string& layout) {
    std::vector<int> sizes;
    for (const StageUnits& stage : parse_layout(layout)) sizes.push_back(stage.layers);
    return sizes;
}

std::string refusal(const std::string& layout, int ranks = 1) {
    try {
        check_layout(parse_layout(layout), ranks);
    } catch (const InputError& error) {
        return error.diagnostics().front().message;
    }
    return "";
}

std::vector<int> stages_of(int first, int count, int each, std::vector<int> rest) {
    std::vector<int> sizes{first};
    sizes.insert(sizes.end(), static_cast<std::size_t>(count), each);
    sizes.insert(sizes.end(), rest.begin(), rest.end());
    return sizes;
}

TEST(Layout, HasTheLayersThatMegatronReads) {
    EXPECT_EQ(layers("Et*3|(tt|)*29,m|L"), stages_of(3, 29, 2, {0, 0}));
    EXPECT_EQ(layers("Et*4|(t*4|)*14tmL"), stages_of(4, 14, 4, {1}));
    EXPECT_EQ(layers("Et|(tt|)*30mL"), stages_of(1, 30, 2, {0}));
    std::vector<int> eighty(40, 2);
    eighty[35] = 3;
    eighty[39] = 1;
    EXPECT_EQ(layers("Et*2|(t*2|)*34,t*3|(t*2|)*3,tL"), eighty);
    EXPECT_EQ(layers("E|(t|)*126L"), stages_of(0, 126, 1, {0}));
    EXPECT_EQ(layers_of(parse_layout("Et*3|(tt|)*29,m|L")), 61);
    EXPECT_EQ(layers_of(parse_layout("Et*2|(t*2|)*34,t*3|(t*2|)*3,tL")), 80);
}

TEST(Layout, HasEmbeddingAndLossOnceAndPredictionsWhereTheyAreWritten) {
    const auto stages = parse_layout("Et*3|(tt|)*29,m|L");
    EXPECT_TRUE(stages.front().embedding);
    EXPECT_TRUE(stages.back().loss);
    EXPECT_EQ(stages[stages.size() - 2].predictions, 1);
    EXPECT_EQ(predictions_of(stages), 1);
    EXPECT_EQ(refusal("Et*3|(tt|)*29,m|L", 16), "");
}

TEST(Layout, IsPrintedWithItsPredictionsWhereTheyAre) {
    for (const std::string text : {"Et*3|(t*2|)*29m|L", "Et*2|tm|L", "Et*2|t|m|L", "Et|tm||L"}) {
        const std::vector<StageUnits> units = parse_layout(text);
        std::vector<StageContent> stages;
        for (const StageUnits& unit : units)
            stages.push_back({0, unit.layers, unit.embedding, unit.loss});
        const auto place = prediction_stage_of(units);
        ASSERT_TRUE(place);
        EXPECT_EQ(layout_of(with_predictions_in(*place, stages), 1), text);
    }
    EXPECT_FALSE(prediction_stage_of(parse_layout("Et|tmL")));
}

/// The stage of m and those after it send the normed value and each prediction, forward and back.
TEST(Layout, SendsAsManyStreamsAsThereArePredictionsFromTheirStageOn) {
    std::vector<StageContent> stages{
        {0, 2, true, false}, {2, 2, false, false}, {4, 0, false, false}, {4, 0, false, true}};
    stages = with_predictions_in(2, stages);
    const auto streams = [&](bool gradient) {
        std::vector<int> sent;
        for (int stage = 0; stage < 4; ++stage)
            sent.push_back(streams_sent(stages, stage, gradient, 2));
        return sent;
    };
    EXPECT_EQ(streams(false), (std::vector{1, 1, 3, 3}));
    EXPECT_EQ(streams(true), (std::vector{1, 1, 1, 3}));
    EXPECT_TRUE(stages[1].final_norm);
    EXPECT_FALSE(stages[2].final_norm || stages[3].final_norm);
}

TEST(Layout, TakesStagesWithoutLayers) {
    EXPECT_EQ(layers("Et||tL"), (std::vector{1, 0, 1}));
    EXPECT_EQ(layers("E|*3tL"), (std::vector{0, 0, 0, 1}));
}

TEST(Layout, IsRefusedWithThePlaceOfTheMistake) {
    EXPECT_EQ(refusal("Et t|L"), "' ' at character 3 is not E, t, m, L or |");
    EXPECT_EQ(refusal("tE|L"), "'t' at character 1 comes first, but E must be first");
    EXPECT_EQ(refusal("EtE|L"), "'E' at character 3 is a second E");
    EXPECT_EQ(refusal("EtL|t"), "'t' at character 5 comes after L, which must be last");
    EXPECT_EQ(refusal("Et|t"), "the layout must end with L");
    EXPECT_EQ(refusal("EtmtL"), "'t' at character 4 is a layer after m");
    EXPECT_EQ(refusal("Etm|mL"), "'m' at character 5 is not in the same stage as the m before it");
    EXPECT_EQ(refusal("E(t(t)*2|)*3L"),
              "'(' at character 4 is inside a group, but groups cannot be nested");
    EXPECT_EQ(refusal("E(tL"), "'(' at character 2 is not closed");
    EXPECT_EQ(refusal("E(t|)L"), "')' at character 5 must be followed by '*' and a number");
    EXPECT_EQ(refusal("Et*|L"), "'*' at character 3 must be followed by a number");
    EXPECT_EQ(refusal("Et*0|L"), "'*' at character 3 repeats 0 times");
    EXPECT_EQ(refusal("*3L"), "'*' at character 1 has nothing to repeat");
    EXPECT_EQ(refusal(""), "the layout must end with L");
    EXPECT_EQ(refusal("E(t*100000|)*100000L"),
              "the layout has more than 200000 characters when expanded");
    EXPECT_EQ(refusal("|EtL"), "the first stage is empty, but must contain E");
    EXPECT_EQ(refusal("EtL|"), "the last stage is empty, but must contain L");
}

TEST(Layout, IsRefusedWhereRanksCannotShareIt) {
    EXPECT_EQ(refusal("Et|t|tL", 2), "the layout's 3 stages cannot be shared evenly by 2 ranks");
    EXPECT_EQ(refusal("Et|tm|t*0", 2), "'*' at character 8 repeats 0 times");
    EXPECT_EQ(refusal("Et|m||L", 2),
              "m is in stage 1, chunk 0 of its rank, but must be in the last of its 2 chunks");
    EXPECT_EQ(refusal("Et||m|L", 2), "");
}

TEST(Layout, IsWrittenAsItIsRead) {
    for (const char* layout : {"Et*4|(t*4|)*14tmL", "Et|(t*2|)*30mL", "E|(t|)*126L", "EtL",
                               "Et*8|(t*8|)*6t*5mL", "Et*2|(t*2|)*34t*3|(t*2|)*3tL"}) {
        const auto stages = parse_layout(layout);
        std::vector<StageContent> contents;
        int first = 0;
        for (const StageUnits& stage : stages) {
            contents.push_back({first, stage.layers, stage.embedding, stage.loss});
            first += stage.layers;
        }
        EXPECT_EQ(layout_of(contents, predictions_of(stages)), layout);
    }
}

}  // namespace
}  // namespace debubble::models

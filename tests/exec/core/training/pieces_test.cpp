#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "tests/exec/support/training_job.h"

/// State that one layout saves is state that another goes on from.
namespace debubble::exec {
namespace {

class SavedState : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  ("debubble-pieces-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

Layout as(const Layout& like, const std::string& parallel, const std::string& schedule) {
    Layout layout = like;
    layout.parallel = parallel;
    layout.schedule = schedule;
    return layout;
}

class SavedStateOf : public SavedState, public testing::WithParamInterface<Layout> {};

TEST_P(SavedStateOf, GoesOnToTheBitUnderOtherLayouts) {
    const Layout& layout = GetParam();
    JobCheckpoint saved;
    saved.save_to = folder_.string();
    run_job(layout, 2, saved);
    const GlobalTensors through = run_job(layout, 4).weights;
    JobCheckpoint loaded;
    loaded.load_from = folder_.string();
    loaded.first_step = 2;
    for (const Layout& other :
         {layout, as(layout, "{data: 1}", "1f1b"), as(layout, "{data: 4, zero_stage: 3}", "1f1b"),
          as(layout, "{tensor: 2, pipeline: 2, data: 2, zero_stage: 1}", "zb-v")}) {
        const JobResult result = run_job(other, 2, loaded);
        EXPECT_EQ(result.weights, through) << testing::PrintToString(other);
        EXPECT_TRUE(result.copies_agree);
    }
}

TEST_P(SavedStateOf, GivesItsWeightsToATrainingThatStartsAnew) {
    JobCheckpoint saved;
    saved.save_to = folder_.string();
    const GlobalTensors weights = run_job(GetParam(), 2, saved).weights;
    JobCheckpoint loaded;
    loaded.load_from = folder_.string();
    loaded.wanted = Wanted::Weights;
    const JobResult result = run_job(as(GetParam(), "{data: 2, zero_stage: 2}", "1f1b"), 0, loaded);
    EXPECT_EQ(result.weights, weights);
    EXPECT_TRUE(result.copies_agree);
}

/// The biases by which routers correct their choice are state beside the parameters.
TEST_F(SavedState, CorrectionsOfRoutersGoOnToTheBitUnderOtherLayouts) {
    const Layout layout{"{pipeline: 2, data: 2, zero_stage: 2}", "deepseek", "1f1b", "bf16",
                        "moe_router_bias_update_rate: 0.125"};
    JobCheckpoint saved;
    saved.save_to = folder_.string();
    run_job(layout, 2, saved);
    const GlobalTensors through = run_job(layout, 4).weights;
    std::set<float> corrections;
    for (const auto& [name, tensor] : through)
        if (name.ends_with("mlp.gate.e_score_correction_bias"))
            corrections.insert(tensor.begin(), tensor.end());
    EXPECT_GT(corrections.size(), 2u) << "they have moved up and down";
    for (const float correction : corrections) {
        EXPECT_LE(std::abs(correction), 4 * 0.125F);
        EXPECT_EQ(std::fmod(correction, 0.125F), 0) << "by the rate in a step";
    }
    JobCheckpoint loaded;
    loaded.load_from = folder_.string();
    loaded.first_step = 2;
    for (const Layout& other :
         {layout, as(layout, "{data: 1}", "1f1b"), as(layout, "{data: 4, zero_stage: 3}", "1f1b"),
          as(layout, "{pipeline: 2, data: 2}", "dualpipe")})
        EXPECT_EQ(run_job(other, 2, loaded).weights, through) << testing::PrintToString(other);
}

/// Experts that ranks share, or cut, in any number.
TEST_F(SavedState, OfExpertsGoesOnToTheBitUnderOtherLayouts) {
    const char* const parallel[] = {
        "{data: 2, expert: 2}", "{data: 1}", "{data: 4, expert: 4, zero_stage: 1}",
        "{tensor: 2, sequence: true, data: 2, expert: 2, zero_stage: 2}",
        "{tensor: 2, sequence: true, data: 2, expert: 4, expert_tensor: 1}"};
    Layout layout{parallel[0], "experts", "1f1b", "bf16"};
    layout.training = "clip_norm: 2\n  optimizer: {name: adamw, lr: 1e-2}";
    const GlobalTensors through = run_job(layout, 4).weights;
    for (const char* const before : parallel) {
        JobCheckpoint saved;
        saved.save_to = folder_.string();
        run_job(as(layout, before, "1f1b"), 2, saved);
        JobCheckpoint loaded;
        loaded.load_from = saved.save_to;
        loaded.first_step = 2;
        for (const char* const after : parallel) {
            const JobResult result = run_job(as(layout, after, "1f1b"), 2, loaded);
            EXPECT_EQ(result.weights, through) << before << ", then " << after;
            EXPECT_TRUE(result.copies_agree);
        }
    }
}

std::vector<Layout> saved_layouts() {
    std::vector<Layout> all;
    for (const char* precision : {"fp32", "bf16", "fp16"}) {
        all.push_back(
            {"{tensor: 2, pipeline: 2, data: 2, zero_stage: 2}", "gpt2", "1f1b", precision});
        all.push_back({"{pipeline: 2, data: 2}", "gpt2", "chimera", precision});
    }
    for (Layout& layout : all)
        layout.training =
            "clip_norm: 2\n  optimizer: {name: adamw, lr: 1e-2}\n"
            "  lr_schedule: {name: cosine, warmup_steps: 1, total_steps: 5}";
    return all;
}
INSTANTIATE_TEST_SUITE_P(All, SavedStateOf, testing::ValuesIn(saved_layouts()));

}  // namespace
}  // namespace debubble::exec

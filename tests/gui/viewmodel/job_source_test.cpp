#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "gui/viewmodel/opened.h"
#include "gui/viewmodel/source.h"

namespace debubble::gui {
namespace {

constexpr const char* kJob =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 512 "
    "--num-attention-heads 8 --seq-length 512 --max-position-embeddings 512 --vocab-size 1000 "
    "--micro-batch-size 1 --global-batch-size 16 --bf16 --pipeline-model-parallel-size 4\n";

std::string job_file() {
    const std::string file = testing::TempDir() + "train_tiny.sh";
    write_file(file, kJob);
    return file;
}

TEST(OpenedJob, IsAScenarioUnderANameOfItsOwn) {
    const Opened opened = open_all({job_file()}, {"cluster=hgx-h100"});
    EXPECT_TRUE(opened.mistakes.empty());
    ASSERT_TRUE(opened.scenario.has_value());
    EXPECT_EQ(std::filesystem::path(opened.scenario->file).filename(), "train_tiny.plan.yaml");
    const auto scenario = scenarios::parse_scenario(opened.scenario->text, opened.scenario->file);
    EXPECT_EQ(scenario.parallel.pipeline, 4);
    EXPECT_EQ(scenario.parallel.data, 2);
}

TEST(OpenedJob, AsksForWhatItDoesNotKnow) {
    const Opened opened = open_all({job_file()}, {});
    ASSERT_EQ(opened.mistakes.size(), 1U);
    EXPECT_NE(opened.mistakes.front().message.find("which cluster?"), std::string::npos);
}

}  // namespace
}  // namespace debubble::gui

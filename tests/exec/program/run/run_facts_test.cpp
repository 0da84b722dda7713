#include "exec/program/run/prepare_run.h"

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "scenarios/cluster/measured.h"
#include "tests/exec/support/scratch_folder.h"

/// What processes compare before they train together, beside the scenario's keys.
namespace debubble::exec {
namespace {

RunJob prepared(const std::vector<std::string>& set) {
    const ScratchFolder folder;
    std::ofstream(folder.path() / "text.txt") << std::string(400, 'a');
    std::ofstream(folder.path() / "tiny.yaml") << R"(
model: {name: tiny, family: gpt2, layers: 2, hidden: 8, heads: 1, vocab: 257, max_positions: 8}
cluster: dgx-a100-40gb
gpus: 1
schedule: gpipe
framework: debubble
training: {global_batch: 4, micro_batch: 1, seq_length: 8, precision: fp32, steps: 2,
           data: {text: text.txt}}
)";
    RunRequest request;
    request.scenario = (folder.path() / "tiny.yaml").string();
    request.set = set;
    return prepare_run(request, {});
}

/// Of a training whose cluster's file keeps these choices of a calibration.
RunFacts facts_with(const std::map<std::string, std::string>& products, const std::string& device) {
    RunJob job = prepared({});
    job.request.device = device;
    auto measured = std::make_shared<scenarios::Measured>();
    measured->products = products;
    job.scenario.cluster.measured = measured;
    return facts_of(job);
}

TEST(TheFactsOfARun, DifferWhereACalibrationChoseOtherAlgorithmsOfProducts) {
    const RunFacts one = facts_with({{"8x16x32", "130102:01"}}, "cuda");
    EXPECT_EQ(facts_with({{"8x16x32", "130102:01"}}, "cuda"), one);
    EXPECT_NE(facts_with({{"8x16x32", "130102:02"}}, "cuda"), one);
    EXPECT_NE(facts_with({{"8x16x33", "130102:01"}}, "cuda"), one);
    EXPECT_NE(facts_with({}, "cuda"), one);
}

TEST(TheFactsOfARun, LeaveOutWhatTheProcessorDoesNotUse) {
    EXPECT_EQ(facts_with({{"8x16x32", "130102:01"}}, "cpu"), facts_with({}, "cpu"));
}

/// Ranks that count their groups differently would wait for each other, or reduce gradients that
/// do not belong together.
TEST(TheFactsOfARun, DifferWhereRanksLieInAnotherOrder) {
    const auto facts_in = [](const char* order) {
        return facts_of(prepared({"gpus=4", "parallel.pipeline=2", "parallel.data=2",
                                  std::string("parallel.order=") + order}));
    };
    const RunFacts one = facts_in("tp-cp-ep-dp-pp");
    EXPECT_EQ(facts_in("tp-cp-ep-dp-pp"), one);
    EXPECT_NE(facts_in("tp-cp-ep-pp-dp"), one);
}

}  // namespace
}  // namespace debubble::exec

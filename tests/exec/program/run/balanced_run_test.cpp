#include <fstream>

#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "exec/program/run/prepare_run.h"
#include "exec/program/run/training_loop.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"
#include "tests/exec/support/scratch_folder.h"

/// A run whose cut into stages is chosen by prices: all ranks have one, and it stays that of the
/// first step.
namespace debubble::exec {
namespace {

constexpr int kProcesses = 2;

class BalancedRun : public testing::Test {
protected:
    BalancedRun() {
        std::ofstream(folder_.path() / "text.txt") << std::string(800, 'a');
        std::ofstream(scenario_) << R"(
model: {name: tiny, family: gpt2, layers: 7, hidden: 8, heads: 1, vocab: 257, max_positions: 8}
cluster: dgx-a100-40gb
gpus: 2
parallel: {pipeline: 2, partition: balanced}
framework: debubble
schedule: 1f1b
training:
  global_batch: 4
  micro_batch: 1
  seq_length: 8
  precision: fp32
  steps: 4
  data: {text: text.txt}
  checkpoint: {dir: )" << (folder_.path() / "kept").string()
                                 << ", every: 1}\n";
    }

    RunJob job(const ProcessPlace& place, const std::vector<std::string>& set = {},
               const std::string& resume = "auto") const {
        RunRequest request;
        request.scenario = scenario_.string();
        request.set = set;
        request.resume = resume;
        request.kernels = "fixed-order";
        return prepare_run(request, place);
    }
    RunJob of_process(int rank, const std::vector<std::string>& set = {}) const {
        ProcessPlace place;
        place.rank = rank;
        place.size = kProcesses;
        return job(place, set);
    }
    std::vector<int> simulated() const {
        const auto scenario = scenarios::read_scenario(scenario_.string());
        return sim::predict(scenario).prediction.cut->layers_per_stage;
    }

    ScratchFolder folder_;
    std::filesystem::path scenario_ = folder_.path() / "tiny.yaml";
};

void train_all(RunJob& job) {
    const StopSignal stop;
    const RunListener listener{[](const std::string&) {}, [](const StepMetrics&) {},
                               [](const Evaluation&) {}};
    run_local(kProcesses, Transport::Buffered,
              [&](Communicator& world) { train(job, world, stop, listener); });
}

/// The jobs of both processes after they have met.
void share_between(RunJob& first, RunJob& second) {
    run_local(kProcesses, Transport::Buffered,
              [&](Communicator& world) { share_plan(world, world.rank() == 0 ? first : second); });
}

TEST_F(BalancedRun, HasTheCutThatIsSimulated) {
    const RunJob job = this->job({});
    EXPECT_EQ(job.layers_of_stages(), simulated());
    EXPECT_EQ(job.scenario.parallel.layers_per_stage, simulated());
}

TEST_F(BalancedRun, OfProcessesHasTheCutOfRankZero) {
    RunJob first = of_process(0), second = of_process(1);
    EXPECT_TRUE(second.takes_cut);
    // Another machine may have other prices.
    first.scenario.parallel.layers_per_stage = {2, 5};
    first.plan.stages = partition_of(first.scenario, kProcesses);
    share_between(first, second);
    EXPECT_EQ(second.layers_of_stages(), (std::vector{2, 5}));
    EXPECT_EQ(second.plan.stages, first.plan.stages);
    EXPECT_EQ(facts_of(second), facts_of(first));
}

TEST_F(BalancedRun, OfProcessesNoticesAListOfOneOfThem) {
    RunJob first = of_process(0), second = of_process(1, {"parallel.partition=[1, 6]"});
    share_between(first, second);
    EXPECT_EQ(second.layers_of_stages(), (std::vector{1, 6}));
    EXPECT_NE(facts_of(second), facts_of(first));
}

TEST_F(BalancedRun, GoesOnWithTheCutOfItsCheckpoint) {
    ASSERT_NE(simulated(), (std::vector{2, 5}));
    RunJob before = job({}, {"parallel.partition=[2, 5]", "training.steps=2"});
    train_all(before);
    RunJob resumed = job({});
    ASSERT_TRUE(resumed.start.resume);
    EXPECT_EQ(resumed.start.resume->manifest.layout.layers, (std::vector{2, 5}));
    EXPECT_EQ(resumed.layers_of_stages(), (std::vector{2, 5}));
    EXPECT_EQ(of_process(1).layers_of_stages(), (std::vector{2, 5})) << "all ranks read it";
    train_all(resumed);
    EXPECT_EQ(job({}).start.first_step(), 4);
}

TEST_F(BalancedRun, ChoosesAnewWithoutACheckpointOfItsStages) {
    RunJob before = job({}, {"parallel.partition=[2, 5]", "training.steps=2"});
    train_all(before);
    EXPECT_EQ(job({}, {}, "never").layers_of_stages(), simulated());
    EXPECT_EQ(job({}, {"parallel.pipeline=1", "gpus=1"}).layers_of_stages(), (std::vector{7}));
    EXPECT_EQ(job({}, {"parallel.partition=uniform"}).layers_of_stages(), (std::vector{3, 4}));
}

TEST_F(BalancedRun, SavesTheCutThatItChose) {
    RunJob first = job({}, {"training.steps=1"});
    train_all(first);
    EXPECT_EQ(job({}).start.resume->manifest.layout.layers, simulated());
}

}  // namespace
}  // namespace debubble::exec

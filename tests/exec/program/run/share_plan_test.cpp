#include "exec/program/run/prepare_run.h"

#include <fstream>

#include <gtest/gtest.h>

#include "exec/comm/transports.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/generators/generators.h"
#include "sim/predict.h"
#include "tests/exec/support/scratch_folder.h"

namespace debubble::exec {
namespace {

constexpr int kRanks = 2;

/// The jobs that the two processes of one job prepare.
class JobOfTwo {
public:
    explicit JobOfTwo(const std::string& schedule) {
        std::ofstream(folder_.path() / "text.txt") << std::string(800, 'a');
        std::ofstream(scenario_) << R"(
model: {name: tiny, family: gpt2, layers: 4, hidden: 8, heads: 1, vocab: 257, max_positions: 8}
cluster: dgx-a100-40gb
gpus: 2
parallel: {pipeline: 2}
framework: debubble
schedule: )" << schedule << R"(
training:
  global_batch: 4
  micro_batch: 1
  seq_length: 8
  precision: fp32
  steps: 2
  data: {text: text.txt}
)";
    }
    RunJob of_rank(int rank, const std::vector<std::string>& set = {}) const {
        RunRequest request;
        request.scenario = scenario_.string();
        request.set = set;
        request.kernels = "fixed-order";
        ProcessPlace place;
        place.rank = rank;
        place.size = kRanks;
        return prepare_run(request, place);
    }
    std::string simulated_hash() const {
        return sim::predict(scenarios::read_scenario(scenario_.string())).prediction.schedule_hash;
    }

private:
    ScratchFolder folder_;
    std::filesystem::path scenario_ = folder_.path() / "tiny.yaml";
};

/// The jobs of both processes after they have met.
void meet(RunJob& first, RunJob& second) {
    run_local(kRanks, Transport::Buffered,
              [&](Communicator& world) { share_plan(world, world.rank() == 0 ? first : second); });
}

TEST(ARunOfProcesses, IsPredictedByRankZeroAlone) {
    const JobOfTwo job("1f1b");
    RunJob first = job.of_rank(0), second = job.of_rank(1);
    ASSERT_TRUE(first.planned);
    EXPECT_EQ(first.planned->size(), std::size_t{kRanks});
    EXPECT_FALSE(second.planned) << "only a prediction tells";
    const Program own = second.plan.program;
    meet(first, second);
    EXPECT_EQ(second.planned, first.planned);
    EXPECT_EQ(second.plan.program, own);
}

TEST(ARunOfProcesses, TakesAnOrderThatNeedsCostsFromRankZero) {
    const JobOfTwo job("v-min");
    RunJob first = job.of_rank(0), second = job.of_rank(1);
    EXPECT_EQ(second.program_hash, "") << "without a prediction it has no order yet";
    EXPECT_NE(program_hash(second.plan.program), first.program_hash);
    meet(first, second);
    EXPECT_EQ(first.program_hash, job.simulated_hash());
    EXPECT_EQ(second.program_hash, first.program_hash);
    EXPECT_EQ(second.plan.program, first.plan.program);
    EXPECT_EQ(second.plan.stages, first.plan.stages);
}

TEST(ARunOfProcesses, ComparesTheProgramsThatRanksMakeThemselves) {
    const JobOfTwo job("1f1b");
    RunJob first = job.of_rank(0), second = job.of_rank(1, {"schedule=gpipe"});
    meet(first, second);
    EXPECT_NE(second.program_hash, first.program_hash);
    EXPECT_EQ(second.program_hash, program_hash(second.plan.program));
}

TEST(ARun, ExecutesTheProgramThatIsSimulated) {
    int programs = 0;
    for (const Generator& generator : generators()) {
        SCOPED_TRACE(generator.name);
        const std::string stages =
            generator.stages_per_rank == 2 ? ", stages_per_rank: 2" : std::string();
        const JobOfTwo job("{name: " + std::string(generator.name) + stages + "}");
        std::string simulated;
        try {
            simulated = job.simulated_hash();
        } catch (const InputError&) {
            continue;  // it has another shape
        }
        EXPECT_EQ(job.of_rank(0).program_hash, simulated);
        ++programs;
    }
    EXPECT_GT(programs, 12);
}

}  // namespace
}  // namespace debubble::exec

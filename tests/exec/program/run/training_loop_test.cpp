#include "exec/program/run/training_loop.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "exec/comm/transports.h"
#include "exec/program/run/prepare_run.h"
#include "tests/exec/support/scratch_folder.h"

namespace debubble::exec {
namespace {

constexpr const char* kGpt =
    "{name: tiny, family: gpt2, layers: 2, hidden: 8, heads: 1, vocab: 257, max_positions: 8}";

/// A training of six steps on one rank, each of which is saved.
RunJob job_in(const std::filesystem::path& folder, const char* model = kGpt,
              const char* resume = "never") {
    std::ofstream(folder / "text.txt") << std::string(400, 'a') + std::string(400, 'b');
    std::ofstream(folder / "tiny.yaml") << "model: " << model << R"(
cluster: dgx-a100-40gb
gpus: 1
schedule: gpipe
framework: debubble
training:
  global_batch: 4
  micro_batch: 1
  seq_length: 8
  precision: fp32
  steps: 6
  data: {text: text.txt}
  checkpoint: {dir: )" << (folder / "kept").string()
                                        << ", every: 1}\n";
    RunRequest request;
    request.scenario = (folder / "tiny.yaml").string();
    request.kernels = "fixed-order";
    request.resume = resume;
    return prepare_run(request, {});
}

struct Ended {
    RunOutcome outcome;
    std::string failure;
};

/// `after_step` may change the job.
Ended train_in(RunJob& job, const std::function<void(std::int64_t)>& after_step) {
    Ended ended;
    const StopSignal stop;
    const RunListener listener{[](const std::string&) {},
                               [&](const StepMetrics& step) { after_step(step.step); },
                               [](const Evaluation&) {}};
    try {
        run_local(1, Transport::Buffered,
                  [&](Communicator& world) { ended.outcome = train(job, world, stop, listener); });
    } catch (const WorldError& error) {
        ended.failure = error.what();
    }
    return ended;
}

TEST(ATraining, ProvesEveryStep) {
    const ScratchFolder folder;
    RunJob job = job_in(folder.path());
    const Ended whole = train_in(job, [](std::int64_t) {});
    EXPECT_EQ(whole.failure, "");
    EXPECT_EQ(whole.outcome.proven_steps, 6);
}

/// The interpreter reads the list that was exchanged; the proof holds the original one.
TEST(ATraining, EndsAtTheStepThatRanInAnotherOrderAndSavesNothingOfIt) {
    const ScratchFolder folder;
    RunJob job = job_in(folder.path());
    std::int64_t steps = 0;
    ActionList& list = job.plan.program.ranks[0];
    const Ended stopped = train_in(job, [&](std::int64_t step) {
        steps = step;
        if (step == 3) std::swap(list[1], list[2]);
    });
    EXPECT_EQ(stopped.failure,
              "the executed order differs from the program in step 4: rank 0 ran 0F2 where its "
              "list has 0F1 (2 of 10)");
    EXPECT_EQ(steps, 3);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "kept/step_3"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "kept/step_4"));
}

/// Values as wide as queries and keys are what GLM-4.7-Flash and Mistral 4 have.
TEST(ATraining, OfLatentAttentionWithValuesAsWideAsKeysGoesOnFromItsCheckpoint) {
    const ScratchFolder folder;
    constexpr const char* kLatent =
        "{name: tiny, family: deepseek, layers: 1, hidden: 8, heads: 1, vocab: 257, "
        "max_positions: 8, latent_attention: {key_rank: 4, head_dim: 4, rope_dim: 4, "
        "value_dim: 8}}";
    RunJob job = job_in(folder.path(), kLatent);
    job.last_step = 3;
    EXPECT_EQ(train_in(job, [](std::int64_t) {}).failure, "");
    RunJob further = job_in(folder.path(), kLatent, "auto");
    EXPECT_EQ(further.start.first_step(), 3);
    const Ended ended = train_in(further, [](std::int64_t) {});
    EXPECT_EQ(ended.failure, "");
    EXPECT_EQ(ended.outcome.proven_steps, 3);
}

TEST(ATraining, ThatNoCheckpointCanHoldIsRefused) {
    const ScratchFolder folder;
    scenarios::Scenario scenario = job_in(folder.path()).scenario;
    EXPECT_NO_THROW(check_checkpoints(scenario, 1));
    scenario.model.vocab = 0;
    EXPECT_THROW(check_checkpoints(scenario, 1), InputError);
}

}  // namespace
}  // namespace debubble::exec

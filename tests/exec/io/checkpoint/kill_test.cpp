#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/exec/support/checkpoint_run.h"
#include "tests/exec/support/scratch_folder.h"

namespace debubble::exec {
namespace {

using std::chrono::steady_clock;

/// A child that saves step after step, keeping one, and tells of each that is complete.
class SavingChild {
public:
    SavingChild(const std::filesystem::path& folder, std::int64_t first_step) {
        int ends[2];
        if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ < 0) throw std::runtime_error("no child");
        if (child_ == 0) {
            for (std::int64_t step = first_step;; ++step) {
                save(folder, small_gpt(), {}, step, 1);
                if (::write(ends[1], &step, sizeof step) != sizeof step) ::_exit(1);
            }
        }
        ::close(ends[1]);
        told_ = ends[0];
    }
    ~SavingChild() { ::close(told_); }

    /// The last step that it said was complete, if any.
    std::optional<std::int64_t> kill() {
        ::kill(child_, SIGKILL);
        int status = 0;
        ::waitpid(child_, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
        std::optional<std::int64_t> last;
        for (std::int64_t step = 0; ::read(told_, &step, sizeof step) == sizeof step;) last = step;
        return last;
    }

private:
    pid_t child_ = -1;
    int told_ = -1;
};

TEST(CheckpointKill, TheLastCompleteStepAlwaysLoads) {
    const ScratchFolder folder;
    const auto start = steady_clock::now();
    save(folder.path(), small_gpt(), {}, 1, 1);
    const std::chrono::duration<double> of_one_save = steady_clock::now() - start;
    std::mt19937 random(17);
    std::uniform_real_distribution<double> saves(0.0, 4.0);
    std::int64_t complete = 1;
    int interrupted = 0;
    for (int round = 0; round < 20; ++round) {
        SavingChild child(folder.path(), complete + 1);
        std::this_thread::sleep_for(saves(random) * of_one_save);
        complete = child.kill().value_or(complete);
        const LatestCheckpoint latest = latest_checkpoint(folder.path(), CheckedBy::Data);
        ASSERT_TRUE(latest.checkpoint) << "after round " << round;
        const std::int64_t step = latest.checkpoint->manifest.training.step;
        EXPECT_GE(step, complete);  // it may have been killed before it could tell
        EXPECT_LE(step, complete + 1);
        expect_loads(*latest.checkpoint, small_gpt(), {2, 1, 1});
        interrupted += !latest.passed_over.empty();
        complete = step;
    }
    RecordProperty("interrupted_saves", interrupted);
    EXPECT_GT(interrupted, 0) << "no kill hit a save, so nothing is proven";
    save(folder.path(), small_gpt(), {}, complete + 1, 1);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
        << "what was interrupted is not cleared away";
}

}  // namespace
}  // namespace debubble::exec

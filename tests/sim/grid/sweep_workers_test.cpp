#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "sim/grid/results_file.h"
#include "sim/grid/sweep.h"

namespace debubble::sim {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kSmall = R"(include: gpt2-xl-1f1b
sweep:
  schedule: [gpipe, 1f1b, zb-h1]
  training.micro_batch: [1, 2, 4]
  training.recompute: [none, selective, full])";

BatchOptions on_one_thread(const std::atomic<bool>* stop = nullptr) {
    BatchOptions options;
    options.jobs = 1;
    options.stop = stop;
    return options;
}

class SweepWorkers : public testing::Test {
protected:
    SweepWorkers()
        : folder_(fs::path(testing::TempDir()) /
                  ("sweep-workers-" + std::to_string(::getpid()) +
                   testing::UnitTest::GetInstance()->current_test_info()->name())) {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~SweepWorkers() override { fs::remove_all(folder_); }

    /// Made before any results are read, as in a process of its own.
    static const Grid& grid() {
        static const Grid kGrid(kSmall, "small.yaml", {});
        return kGrid;
    }
    std::string alone() const {
        sweep(grid(), folder_ / "alone.csv");
        return read_file(folder_ / "alone.csv");
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
    fs::path results_ = folder_ / "results.csv";
};

TEST_F(SweepWorkers, AtTheSameTimeLeaveTheBytesOfOneSweep) {
    const std::string wanted = alone();
    for (const int count : {1, 2, 5}) {
        fs::remove(results_);
        std::atomic<int> finished{0};
        {
            std::vector<std::jthread> workers;
            for (int i = 0; i < count; ++i)
                workers.emplace_back([&, i] {
                    if (sweep_as_worker(grid(), results_, {i, count}, on_one_thread()).finished())
                        ++finished;
                });
        }
        EXPECT_EQ(finished, count);
        EXPECT_EQ(read_file(results_), wanted) << count;
        EXPECT_EQ(files(), 4u) << "results and what they were made of, twice";
    }
}

TEST_F(SweepWorkers, TakeUpThePointsOfOneThatIsLost) {
    const std::string wanted = alone();
    std::atomic<bool> stop{false};
    BatchOptions options = on_one_thread(&stop);
    options.progress = [&](std::size_t, std::size_t) { stop = true; };
    const SweepResult lost = sweep_as_worker(grid(), results_, {2, 3}, options);
    EXPECT_FALSE(lost.finished());
    ASSERT_TRUE(fs::exists(journal_of(results_, 2)));
    EXPECT_FALSE(fs::exists(results_));
    write_file(journal_of(results_, 2), read_file(journal_of(results_, 2)) + "half,a,ro");
    const SweepResult rest = sweep_as_worker(grid(), results_, {0, 3}, {});
    EXPECT_TRUE(rest.finished());
    EXPECT_EQ(read_file(results_), wanted);
    EXPECT_FALSE(fs::exists(journal_of(results_, 2)));
    EXPECT_TRUE(sweep_as_worker(grid(), results_, {1, 3}, {}).finished()) << "it is late";
    EXPECT_EQ(read_file(results_), wanted);
}

TEST_F(SweepWorkers, LeaveJournalsThatASweepByItselfTakesUp) {
    const std::string wanted = alone();
    std::atomic<bool> stop{false};
    BatchOptions options = on_one_thread(&stop);
    options.progress = [&](std::size_t done, std::size_t) { stop = done > 4; };
    sweep_as_worker(grid(), results_, {1, 2}, options);
    const SweepResult whole = sweep(grid(), results_);
    EXPECT_GE(whole.found, 5u);
    EXPECT_EQ(read_file(results_), wanted);
    EXPECT_FALSE(fs::exists(journal_of(results_, 1)));
}

TEST_F(SweepWorkers, RefuseJournalsOfAnotherScenario) {
    std::atomic<bool> stop{false};
    BatchOptions options = on_one_thread(&stop);
    options.progress = [&](std::size_t, std::size_t) { stop = true; };
    sweep_as_worker(Grid(kSmall, "small.yaml", {{"training.seq_length", "512"}}), results_, {0, 2},
                    options);
    EXPECT_THROW(sweep_as_worker(grid(), results_, {1, 2}, {}), InputError);
    EXPECT_THROW(sweep(grid(), results_), InputError);
}

/// The points whose rows a look at a followed file finds.
std::vector<std::size_t> found_in(FollowedFile& file) {
    std::vector<std::size_t> found;
    file.read_on([&](std::size_t index) { found.push_back(index); });
    return found;
}

TEST_F(SweepWorkers, ReadOfAJournalOnlyWhatIsNew) {
    const std::string whole = alone();
    std::vector<std::size_t> ends;  // of the header and of each row
    for (std::size_t at = whole.find('\n'); at != std::string::npos; at = whole.find('\n', at + 1))
        ends.push_back(at + 1);
    const auto first = [&](std::size_t bytes) { return whole.substr(0, bytes); };
    // Grown in place, as a worker writes it.
    const auto written = [&](std::size_t bytes) {
        std::ofstream(results_, std::ios::in | std::ios::out | std::ios::ate)
            << whole.substr(fs::file_size(results_), bytes - fs::file_size(results_));
    };
    FollowedFile file(results_, grid());
    EXPECT_THAT(found_in(file), IsEmpty()) << "there is no file";
    write_file(results_, first(10));
    EXPECT_THAT(found_in(file), IsEmpty()) << "the header is torn";
    written(ends[2] + 30);
    EXPECT_THAT(found_in(file), ElementsAre(0, 1));
    EXPECT_THAT(found_in(file), IsEmpty());
    written(ends[3]);
    EXPECT_THAT(found_in(file), ElementsAre(2));
    EXPECT_TRUE(file.is_marked());
    const std::size_t rows = ends.size() - 1;
    written(whole.size());
    EXPECT_EQ(found_in(file).size(), rows - 3);
    write_file(results_, whole);  // merged
    EXPECT_EQ(found_in(file).size(), rows);
    write_file(results_, "other,columns\n");
    EXPECT_THROW(found_in(file), InputError);
}

TEST_F(SweepWorkers, OfWhichOneMergesHaveNoRowsButKnowThatAllAreDone) {
    sweep_as_worker(grid(), results_, {0, 2}, on_one_thread());
    const SweepResult late = sweep_as_worker(grid(), results_, {1, 2}, on_one_thread());
    EXPECT_TRUE(late.finished());
    EXPECT_EQ(late.found, grid().points.size());
    EXPECT_THAT(late.rows, IsEmpty());
    EXPECT_FALSE(fs::exists(journal_of(results_, 1)));
}

TEST_F(SweepWorkers, MergeAgainWhereAMergeWasKilled) {
    const std::string wanted = alone();
    std::atomic<bool> stop{false};
    BatchOptions options = on_one_thread(&stop);
    options.progress = [&](std::size_t done, std::size_t total) { stop = done + 1 == total; };
    EXPECT_FALSE(sweep_as_worker(grid(), results_, {0, 1}, options).finished());
    const std::string journal = read_file(journal_of(results_, 0));
    write_file(results_, journal.substr(0, journal.size() / 2));
    const SweepResult again = sweep_as_worker(grid(), results_, {1, 2}, on_one_thread());
    EXPECT_TRUE(again.finished());
    EXPECT_EQ(again.found, again.total - 1);
    EXPECT_EQ(read_file(results_), wanted);
    EXPECT_FALSE(fs::exists(journal_of(results_, 0)));
}

TEST(WorkerPlace, ComesFromWhatLaunchersSet) {
    const auto of = [](std::map<std::string, std::string> variables) {
        return launched_place([variables = std::move(variables)](const char* name) {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        });
    };
    EXPECT_EQ(of({}), std::nullopt);
    EXPECT_EQ(of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), std::nullopt)
        << "a batch script is not a step of srun";
    EXPECT_EQ(of({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}}), (WorkerPlace{3, 4}));
    EXPECT_EQ(of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
              (WorkerPlace{1, 2}));
    EXPECT_EQ(of({{"SLURM_ARRAY_TASK_ID", "10"},
                  {"SLURM_ARRAY_TASK_COUNT", "4"},
                  {"SLURM_ARRAY_TASK_MIN", "4"},
                  {"SLURM_ARRAY_TASK_STEP", "2"},
                  {"PMI_RANK", "1"},
                  {"PMI_SIZE", "3"}}),
              (WorkerPlace{10, 12}));
    EXPECT_THROW(of({{"PMI_RANK", "one"}, {"PMI_SIZE", "3"}}), InputError);
    EXPECT_THROW(of({{"PMI_RANK", "3"}, {"PMI_SIZE", "3"}}), InputError);
    EXPECT_EQ(parse_worker_place("7/8"), (WorkerPlace{7, 8}));
    for (const char* wrong : {"8/8", "-1/8", "3", "3/", "/8", "3/8/9", "0/0", "x/2"})
        EXPECT_THROW(parse_worker_place(wrong), InputError) << wrong;
}

}  // namespace
}  // namespace debubble::sim

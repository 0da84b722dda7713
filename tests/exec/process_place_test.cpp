#include "exec/run/process_place.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "base/diagnostic.h"

namespace debubble::exec {
namespace {

/// Variables that are set as long as this lives.
class Environment {
public:
    explicit Environment(const std::map<std::string, std::string>& variables)
        : variables_(variables) {
        for (const auto& [name, value] : variables_) ::setenv(name.c_str(), value.c_str(), 1);
    }
    ~Environment() {
        for (const auto& [name, value] : variables_) ::unsetenv(name.c_str());
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    std::map<std::string, std::string> variables_;
};

/// Of Slurm's manual: SLURM_STEP_TASKS_PER_NODE as SLURM_TASKS_PER_NODE.
int tasks_here(const std::string& per_node, const std::string& node) {
    const Environment slurm({{"SLURM_PROCID", "3"},
                             {"SLURM_STEP_NUM_TASKS", "9"},
                             {"SLURM_STEP_TASKS_PER_NODE", per_node},
                             {"SLURM_NODEID", node},
                             {"SLURM_LOCALID", "1"}});
    const ProcessPlace place = process_place();
    EXPECT_EQ(place.starter, Starter::Srun);
    EXPECT_EQ(place.rank, 3);
    EXPECT_EQ(place.rank_on_this_host, 1);
    return place.on_this_host;
}

TEST(ProcessPlace, SlurmTellsTheTasksOfEveryNode) {
    EXPECT_EQ(tasks_here("9", "0"), 9);
    EXPECT_EQ(tasks_here("4(x2)", "0"), 4);
    EXPECT_EQ(tasks_here("4(x2)", "1"), 4);
    EXPECT_EQ(tasks_here("4(x2),1", "2"), 1);
    EXPECT_EQ(tasks_here("1,4(x2)", "0"), 1);
    EXPECT_EQ(tasks_here("1,4(x2)", "2"), 4);
}

TEST(ProcessPlace, ARankBeyondItsJobIsAMistake) {
    for (const char* rank : {"2", "-1", "one"}) {
        const Environment wrong({{"RANK", rank}, {"WORLD_SIZE", "2"}});
        try {
            process_place();
            FAIL() << "RANK " << rank << " was taken";
        } catch (const InputError& error) {
            EXPECT_EQ(error.what(), "error: RANK is '" + std::string(rank) +
                                        "', and WORLD_SIZE is 2: no rank of that job\n");
        }
    }
}

TEST(ProcessPlace, WhatSlurmDoesNotTellIsAllOnOneNode) {
    EXPECT_EQ(tasks_here("", "0"), 9);
    EXPECT_EQ(tasks_here("some", "0"), 9);
    EXPECT_EQ(tasks_here("4(x", "0"), 9);
    EXPECT_EQ(tasks_here("4(x2)", "2"), 9);
}

TEST(ProcessPlace, ANodeOfSlurmSaysNothingOfWhatTorchrunStarted) {
    const Environment both({{"RANK", "5"},
                            {"WORLD_SIZE", "8"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"LOCAL_RANK", "1"},
                            {"SLURM_NODEID", "1"}});
    EXPECT_EQ(process_place().on_this_host, 4);
}

}  // namespace
}  // namespace debubble::exec

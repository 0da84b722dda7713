#include "tests/exec/processes/parity_processes.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include <gtest/gtest.h>

#include "tests/exec/support/parity/parity_cases.h"
#include "tests/exec/support/parity/parity_checks.h"
#include "tests/exec/support/parity/parity_gather.h"

/// The table of parity_test.cpp among processes: one launch runs all cases of its rank count.
namespace debubble::exec::parity {
namespace {

std::unique_ptr<Communicator> world;
std::chrono::seconds patience{60};

class ParityOfProcesses : public testing::TestWithParam<Case> {};

TEST_P(ParityOfProcesses, IsTheTrainingOfOneRank) {
    Case c = GetParam();
    c.patience = patience;
    std::optional<Result> result;
    try {
        result = train_together(*world, c);
    } catch (const std::exception& error) {
        world->abort(error.what());
        throw;
    }
    if (result) expect_training_of_one_rank(c, std::move(*result));
}

std::vector<Case> of_this_size(std::vector<Case> cases) {
    std::erase_if(cases, [](const Case& c) {  // how messages meet is the communicator's to say
        return c.transport != Transport::Buffered ||
               scenario_of(c).parallel.gpus() != world->size();
    });
    return cases;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ParityOfProcesses);
INSTANTIATE_TEST_SUITE_P(Generators, ParityOfProcesses,
                         testing::ValuesIn(of_this_size(generator_cases())), name_of_case);
INSTANTIATE_TEST_SUITE_P(Layouts, ParityOfProcesses,
                         testing::ValuesIn(of_this_size(layout_cases())), name_of_case);
INSTANTIATE_TEST_SUITE_P(Experts, ParityOfProcesses,
                         testing::ValuesIn(of_this_size(expert_cases())), name_of_case);

/// Rank 0 tells of the tests; of the others only what has gone wrong is heard.
class FailuresOnly : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& part) override {
        if (part.failed()) std::fprintf(stderr, "rank %d: %s\n", world->rank(), part.message());
    }
};

int run(int argc, char** argv, const Connect& connect) {
    world = connect();
    testing::InitGoogleTest(&argc, argv);
    if (argc > 1) patience = std::chrono::seconds(std::atoi(argv[1]));
    if (world->rank() > 0) {
        testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new FailuresOnly);
    }
    const int status = RUN_ALL_TESTS();
    const bool none = testing::UnitTest::GetInstance()->test_to_run_count() == 0;
    if (none) std::fprintf(stderr, "no case has %d ranks\n", world->size());
    world.reset();
    return status != 0 || none ? 1 : 0;
}

}  // namespace

int run_parity(int argc, char** argv, const Connect& connect) {
    try {
        return run(argc, argv, connect);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace debubble::exec::parity

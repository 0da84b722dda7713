#include "schedule/csv/csv.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "schedule/generators/writer.h"
#include "tests/support/source_folder.h"

namespace debubble {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

const fs::path kRejects = source_folder() / "tests/schedule/rejects";

std::vector<fs::path> rejected_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(kRejects))
        if (entry.path().extension() == ".csv") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

class RejectedCsv : public testing::TestWithParam<fs::path> {};

/// The whole text stands beside the file, in NAME.txt.
TEST_P(RejectedCsv, IsExplainedInFull) {
    const fs::path file = GetParam();
    const std::string name = file.filename().string();
    try {
        read_csv(read_file(file), {name, "rejected", {}});
        FAIL() << name << " was read without a complaint";
    } catch (const InputError& error) {
        EXPECT_EQ(error.what(), read_file(fs::path(file).replace_extension(".txt")));
    }
}

INSTANTIATE_TEST_SUITE_P(All, RejectedCsv, testing::ValuesIn(rejected_files()),
                         [](const auto& test) { return test.param.stem().string(); });

Schedule read(std::string_view text, std::optional<Placement> placement = {}) {
    return read_csv(text, {"test.csv", "test", std::move(placement)}).schedule;
}

/// Every kind of action, with peers, slices where they can stand, on two ranks of a V.
Schedule one_of_each() {
    const MicroBatch mb{0, 1};
    const auto compute = [](Pass pass, int stage, std::int16_t slice) {
        return Compute{pass, Stage{stage}, {0, slice}};
    };
    const Message activation{Message::Kind::Activation, Stage{0}, mb};
    const Message gradient{Message::Kind::Gradient, Stage{1}, mb};
    Schedule schedule = empty_schedule("one of each", {2, 2, 1, 2}, v_placement(2));
    schedule.ranks[0] = {Unshard{Stage{0}},
                         compute(Pass::Forward, 0, 0),
                         Overlap{compute(Pass::Forward, 0, 1), compute(Pass::Backward, 3, 1)},
                         Overlap{compute(Pass::Backward, 0, 1), compute(Pass::Forward, 3, 0)},
                         Send{activation, Rank{1}},
                         Offload{Stage{0}, mb},
                         Reload{Stage{0}, mb},
                         Recompute{Stage{0}, mb},
                         Recv{gradient, Rank{1}},
                         Reshard{Stage{0}},
                         ReduceGrad{Stage{0}},
                         TiedGradReduce{Stage{0}},
                         GradNorm{},
                         OptimizerStep{}};
    schedule.ranks[1] = {Recv{activation, Rank{0}},           compute(Pass::Forward, 1, 1),
                         compute(Pass::BackwardInput, 1, 1),  Send{gradient, Rank{0}},
                         compute(Pass::BackwardWeight, 1, 1), compute(Pass::Forward, 2, 0)};
    return schedule;
}

TEST(Csv, RoundTripsEveryKindOfAction) {
    Schedule schedule = one_of_each();
    const std::string text = write_csv(schedule);
    schedule.name = "test";
    EXPECT_EQ(read(text), schedule) << text;
    EXPECT_EQ(write_csv(read(text)), text);

    std::vector<bool> seen(std::variant_size_v<Action>, false);
    for (const ActionList& actions : schedule.ranks)
        for (const Action& action : actions) seen[action.index()] = true;
    EXPECT_THAT(seen, testing::Each(true)) << "a kind is missing from one_of_each()";
}

TEST(Csv, TakesIdleCellsForeignLineEndsAndAByteOrderMark) {
    const Schedule plain = read("0F0,0B0\n1F0,1B0\n");
    EXPECT_EQ(read("\xef\xbb\xbf"
                   "0F0,,, 0B0 ,\r\n,1F0,1B0,\r\n\r\n\n"),
              plain);
    EXPECT_EQ(read("0F0,0B0\n1F0,1B0"), plain);
}

TEST(Csv, FindsThePlacementInTheRows) {
    EXPECT_EQ(read("0F0,2F0\n1F0,3F0\n").placement, loop_placement(2, 2));
    EXPECT_EQ(read("0F0,3F0\n2F0,1F0\n").placement, v_placement(2));
    EXPECT_EQ(read("0F0,1F1\n1F0,0F1\n").placement, bidirectional_placement(2));
    const Schedule custom = read("2F0,0F0\n3F0,1F0,4F0\n");
    EXPECT_THAT(custom.placement.stages, ElementsAre(ElementsAre(Stage{0}, Stage{2}),
                                                     ElementsAre(Stage{1}, Stage{3}, Stage{4})));
    const Placement given{{{Stage{2}, Stage{0}}, {Stage{4}, Stage{3}, Stage{1}}}};
    EXPECT_EQ(read("2F0,0F0\n3F0,1F0,4F0\n", given).placement, given);
}

TEST(Csv, TakesThePeerFromTheRankThatComputesTheNeighbour) {
    const Schedule s = read("0F0,0SEND_F0,1F1,0F2\n0F1,0SEND_F1,1F0,1SEND_B0,1SEND_B2,1F2\n");
    EXPECT_EQ(std::get<Send>(s.ranks[0][1]).to, Rank{1}) << "1F0 is on rank 1";
    EXPECT_EQ(std::get<Send>(s.ranks[1][1]).to, Rank{0}) << "1F1 is on rank 0";
    EXPECT_EQ(std::get<Send>(s.ranks[1][3]).to, Rank{0}) << "no rank computes 0B0: first holder";
}

TEST(Csv, ReadsTheDialectOfPyTorch25) {
    const CsvResult split = read_csv("0F0,0B0,0W0,0F1,0BW1\n", {"f", "n", {}});
    EXPECT_EQ(split.dialect, Dialect::UntilPyTorch25);
    EXPECT_EQ(write_csv(split.schedule), "0F0,0I0,0W0,0F1,0B1\n");
    EXPECT_EQ(write_csv(read("0F0,0BW0\n")), "0F0,0B0\n");
    EXPECT_EQ(write_csv(read("0F0,0B0,0W0\n")), "0F0,0I0,0W0\n");

    const CsvResult current = read_csv("0F0,0I0,0W0,0F1,0B1\n", {"f", "n", {}});
    EXPECT_EQ(current.dialect, Dialect::Current);
    EXPECT_EQ(current.schedule, split.schedule);
    EXPECT_EQ(write_csv(read("0F0,0B0\n")), "0F0,0B0\n") << "no W: the full backward";
}

TEST(Csv, DemandsAsManyRowsAsThePlacementHasRanks) {
    try {
        read("0F0\n1F0\n", loop_placement(3, 1));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "test.csv: error: it has 2 rows, but the placement has 3 ranks\n");
    }
    EXPECT_THROW(read("0F0\n5F0\n", loop_placement(2, 1)), InputError);
}

TEST(Csv, BoundsWhatAHostileFileMakesItReport) {
    std::string text = "0F0";
    for (int i = 0; i < 200'000; ++i) text += ",x";
    try {
        read(text);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_LE(error.diagnostics().size(), 101u);
        EXPECT_THAT(error.what(), testing::HasSubstr("more mistakes are not shown"));
    }
}

TEST(PlacementCsv, RoundTrips) {
    for (const Placement& placement :
         {loop_placement(3, 2), v_placement(4), bidirectional_placement(4)})
        EXPECT_EQ(read_placement(write_placement(placement), "p.csv"), placement);
    EXPECT_EQ(write_placement(v_placement(2)), "0,3\n1,2\n");
}

TEST(PlacementCsv, ListsEveryMistake) {
    try {
        read_placement("0,x\n1,1\n\n-1\n", "p.csv");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "p.csv:1:3: error: 'x' is not a stage; a whole number from 0 to 16383 is "
                     "expected\n  0,x\n    ^\n"
                     "p.csv:2:3: error: stage 1 is listed twice in the row\n  1,1\n    ^\n"
                     "p.csv:3:1: error: rank 2 holds no stage\n  \n  ^\n"
                     "p.csv:4:1: error: '-1' is not a stage; a whole number from 0 to 16383 is "
                     "expected\n  -1\n  ^\n");
    }
    EXPECT_THROW(read_placement("0\n2\n", "p.csv"), InputError) << "no rank holds stage 1";
    EXPECT_THROW(read_placement("", "p.csv"), InputError);
}

}  // namespace
}  // namespace debubble

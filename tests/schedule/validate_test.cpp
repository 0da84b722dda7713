#include "schedule/validate.h"

#include <gmock/gmock.h>

#include "schedule/csv/csv.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "schedule/standstill.h"

namespace debubble {
namespace {

using Kind = Violation::Kind;

Schedule read_program(std::string_view text, std::optional<Placement> placement = {}) {
    return read_csv(text, {"test.csv", "test", std::move(placement)}).schedule;
}

struct Wrong {
    const char* name;
    const char* csv;
    Kind kind;
    int rank;
    std::size_t position;
    const char* message;
};

constexpr Wrong kWrong[] = {
    {"MissingBackward", "0F0,0B0,0F1\n", Kind::Missing, 0, 3, "0B1 is on no rank"},
    {"MissingWeight", "0F0,0I0\n", Kind::Missing, 0, 2, "0W0 is on no rank"},
    {"MissingForward", "0F0,0B0,0B1\n", Kind::Missing, 0, 3, "0F1 is on no rank"},
    {"DuplicateCompute", "0F0,0F0,0B0\n", Kind::Duplicate, 0, 1,
     "0F0 is listed twice: on rank 0 already"},
    {"WholeBesideHalf", "0F0,0B0,0W0,0I0\n", Kind::Duplicate, 0, 3,
     "0I0 is listed along with 0B0, which does the same work"},
    {"BackwardBeforeForward", "0B0,0F0\n", Kind::Order, 0, 0,
     "0B0 comes before the forward of stage 0, microbatch 0, which it needs"},
    {"WeightBeforeInput", "0F0,0W0,0I0\n", Kind::Order, 0, 1,
     "0W0 comes before the backward of stage 0, microbatch 0, which it needs"},
    {"ConsumerBeforeProducerOnOneRank", "1F0,0F0,1B0,0B0\n", Kind::Order, 0, 0,
     "1F0 comes before the forward of stage 0, microbatch 0, which it needs"},
    {"OverlapWithItsOwnInput", "(0F0;0B0)OVERLAP_F_B\n", Kind::Order, 0, 0,
     "0B0 comes before the forward of stage 0, microbatch 0, which it needs"},
    {"SlicesOutOfOrder", "0F0.1,0F0.0,0B0.1,0B0.0\n", Kind::Order, 0, 0,
     "0F0.1 comes before the forward of stage 0, microbatch 0.0, which it needs"},
    {"SendWithoutReceive", "0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n", Kind::Unmatched, 0, 1,
     "0SEND_F0 has no 1RECV_F0 on rank 1"},
    {"DuplicateSend", "0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
     Kind::Duplicate, 0, 2, "0SEND_F0 is listed twice"},
    {"SendBeforeItsCompute", "0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", Kind::Order,
     0, 0, "0SEND_F0 comes before 0F0, which makes its message"},
    {"ReceiveBehindItsCompute", "0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0\n",
     Kind::Order, 1, 1, "1RECV_F0 comes after 1F0, which needs it"},
    {"NothingReceived", "0F0,0B0\n1F0,1B0,1SEND_B0\n", Kind::Unmatched, 1, 2,
     "1SEND_B0 has no 0RECV_B0 on rank 0"},
    {"UnshardTwice", "0UNSHARD,0F0,0UNSHARD,0B0,0RESHARD\n", Kind::Sharding, 0, 2,
     "0UNSHARD, but the parameters are gathered already"},
    {"ComputeOutsideUnshard", "0UNSHARD,0F0,0RESHARD,0B0\n", Kind::Sharding, 0, 3,
     "0B0 comes where the parameters of stage 0 are not gathered"},
    {"StillGathered", "0UNSHARD,0F0,0B0\n", Kind::Leftover, 0, 3,
     "the parameters of stage 0 are gathered at the end of the step, but sharded at its start"},
    {"NotGatheredAfterTheStep", "0F0,0RESHARD,0UNSHARD,0B0,OPTIMIZER_STEP\n", Kind::Leftover, 0, 5,
     "the parameters of stage 0 are sharded at the end of the step, but gathered at its start"},
    {"GradientAfterItsReduction", "0F0,0REDUCE_GRAD,0B0\n", Kind::Order, 0, 3,
     "a weight gradient of stage 0 comes after its last REDUCE_GRAD"},
    {"ComputeAfterTheStep", "0F0,OPTIMIZER_STEP,0B0\n", Kind::Order, 0, 2,
     "0B0 comes after OPTIMIZER_STEP"},
    {"StepOnOneRankOnly", "0F0,0B0,OPTIMIZER_STEP\n1F0,1B0\n", Kind::Missing, 1, 2,
     "rank 1 has no OPTIMIZER_STEP, but others do"},
    {"TwoSteps", "0F0,0B0,OPTIMIZER_STEP,OPTIMIZER_STEP\n", Kind::Duplicate, 0, 3,
     "OPTIMIZER_STEP is listed twice"},
    {"HoldersDriftApart", "0F0,1F1,1B1,0B0,OPTIMIZER_STEP\n1F0,1B0,0F1,0B1,OPTIMIZER_STEP\n",
     Kind::Missing, 0, 4,
     "OPTIMIZER_STEP without 0REDUCE_GRAD: the 2 holders of stage 0 would drift apart"},
    {"NeverReloaded", "0F0,0OFFLOAD0,0F1,0B1,0B0\n", Kind::Order, 0, 4,
     "0B0 needs what is offloaded and not reloaded"},
    {"RecomputeBeforeForward", "0R0,0F0,0B0\n", Kind::Order, 0, 0,
     "0R0 is not between its forward and its backward, where it belongs"},
};

class ValidateWrong : public testing::TestWithParam<Wrong> {};

TEST_P(ValidateWrong, SaysWhatAndWhere) {
    const Wrong& wrong = GetParam();
    const auto violations = validate(read_program(wrong.csv));
    ASSERT_FALSE(violations.empty());
    const auto listed = std::ranges::any_of(violations, [&](const Violation& v) {
        return v.kind == wrong.kind && v.rank.index == wrong.rank && v.position == wrong.position &&
               v.message == wrong.message;
    });
    EXPECT_TRUE(listed) << "first: " << violations[0].message << " at " << violations[0].rank.index
                        << ":" << violations[0].position;
}

INSTANTIATE_TEST_SUITE_P(All, ValidateWrong, testing::ValuesIn(kWrong),
                         [](const auto& test) { return std::string(test.param.name); });

std::vector<std::string> messages(const std::vector<Violation>& violations) {
    std::vector<std::string> all;
    for (const Violation& v : violations) all.push_back(v.message);
    return all;
}

TEST(Validate, FindsEveryMistakeOfAnOrder) {
    EXPECT_THAT(
        messages(validate(read_program("0F0,0F1,0F1,0B2\n"))),
        testing::UnorderedElementsAre("0F1 is listed twice: on rank 0 already", "0B0 is on no rank",
                                      "0B1 is on no rank", "0F2 is on no rank"));
}

TEST(Validate, CatchesMicrobatchesNumberedFromOne) {
    EXPECT_THAT(messages(validate(read_program("0F0,0F1,0B0,0B1\n1F1,1B1,1F2,1B2\n"))),
                testing::UnorderedElementsAre("0F2 is on no rank", "0B2 is on no rank",
                                              "1F0 is on no rank", "1B0 is on no rank"));
}

TEST(Validate, KnowsWhichRanksHoldWhichStages) {
    EXPECT_THAT(messages(validate(read_program("0F0,0B0\n1F0,1B0\n", v_placement(2)))),
                testing::Contains("2F0 is on no rank"));
    Schedule swapped = generate("gpipe", {2, 1, 1});
    std::swap(swapped.ranks[0], swapped.ranks[1]);
    EXPECT_THAT(messages(validate(swapped)),
                testing::Contains("1F0 is on rank 0, which does not hold stage 1"));
}

TEST(Validate, ReportsADeadlockAsTheCycleThatWaits) {
    const auto violations = validate(read_program("1F1,1B1,0F0,0B0\n1F0,1B0,0F1,0B1\n"));
    ASSERT_EQ(violations.size(), 1u) << "listed once for all transports";
    EXPECT_EQ(violations[0].kind, Kind::Deadlock);
    EXPECT_EQ(violations[0].position, 0u);
    EXPECT_EQ(violations[0].message,
              "rank 0 waits at 1RECV_F1 for rank 1, which waits at 1RECV_F0 for rank 0");
}

TEST(Validate, CatchesOrdersThatOnlyFinishWithBufferedSends) {
    // Sent 0, 1; received 1, 0.
    const Schedule crossed = read_program(
        "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B1,0B1,0RECV_B0,0B0\n"
        "1RECV_F1,1F1,1B1,1SEND_B1,1RECV_F0,1F0,1B0,1SEND_B0\n");
    EXPECT_TRUE(validate(crossed, Transport::Buffered).empty());
    EXPECT_THAT(messages(validate(crossed, Transport::Own)),
                testing::ElementsAre("wrong data: message 1 from rank 0 to rank 1 is sent by "
                                     "0SEND_F0 and received by 1RECV_F1"));
    EXPECT_EQ(validate(crossed, Transport::IssueOrdered).size(), 1u);
    EXPECT_EQ(validate(crossed).size(), 1u);
}

TEST(Validate, CatchesAReceiveListedBeforeTheSendThatItDependsOn) {
    // Rank 0 asks for a gradient, and only then sends what that gradient comes from, twice over.
    const Schedule early = read_program(
        "0F0,0SEND_F0,0F1,0RECV_B0,0RECV_B1,0SEND_F1,0B0,0B1\n"
        "1RECV_F0,1F0,1B0,1RECV_F1,1F1,1B1,1SEND_B1,1SEND_B0\n");
    EXPECT_TRUE(validate(early, Transport::Buffered).empty());
    EXPECT_FALSE(validate(early, Transport::Own).empty());
    EXPECT_THAT(messages(validate(early, Transport::IssueOrdered)),
                testing::ElementsAre("wrong data: message 1 from rank 1 to rank 0 is sent by "
                                     "1SEND_B1 and received by 0RECV_B0"));
    EXPECT_EQ(find_standstill(early, Transport::IssueOrdered)->sentence,
              "rank 0 waits at 0RECV_B0 for rank 1, which waits at 1RECV_F1 for rank 0");
}

TEST(Validate, ReductionsOverSharedStagesMustComeInOneOrder) {
    const Schedule bad = read_program(
        "0F0,1F1,1B1,0B0,0REDUCE_GRAD,1REDUCE_GRAD\n"
        "0F1,1F0,1B0,0B1,1REDUCE_GRAD,0REDUCE_GRAD\n");
    EXPECT_THAT(messages(validate(bad)),
                testing::ElementsAre("rank 0 waits at 0REDUCE_GRAD for rank 1, which waits at "
                                     "1REDUCE_GRAD for rank 0"));
    const Schedule uneven = read_program(
        "0F0,1F1,1B1,0B0,0REDUCE_GRAD,1REDUCE_GRAD\n"
        "0F1,1F0,1B0,0B1,0REDUCE_GRAD\n");
    EXPECT_THAT(messages(validate(uneven)),
                testing::Contains("rank 1 lists 1REDUCE_GRAD 0 times, another holder 1 times"));
}

TEST(Validate, BoundsItsList) {
    std::string text = "0F0,0B0,0F9999,0B9999\n";
    const auto violations = validate(read_program(text));
    EXPECT_EQ(violations.size(), 1001u);
    EXPECT_EQ(violations.back().message, "18996 more violations are not listed");
}

}  // namespace
}  // namespace debubble

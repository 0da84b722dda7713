#include "schedule/action.h"

#include <gtest/gtest.h>

namespace debubble {
namespace {

TEST(ActionText, IsPyTorchsWhereThereIsOne) {
    const Message activation{Message::Kind::Activation, Stage{0}, {3, {}}};
    const Message gradient{Message::Kind::Gradient, Stage{1}, {3, {}}};
    const Compute forward{Pass::Forward, Stage{0}, {7, {}}};
    const Compute backward{Pass::Backward, Stage{7}, {3, {}}};
    EXPECT_EQ(to_text(Action{forward}), "0F7");
    EXPECT_EQ(to_text(Action{Send{activation, Rank{1}}}), "0SEND_F3");
    EXPECT_EQ(to_text(Action{Recv{activation, Rank{0}}}), "1RECV_F3");
    EXPECT_EQ(to_text(Action{Send{gradient, Rank{0}}}), "1SEND_B3");
    EXPECT_EQ(to_text(Action{Recv{gradient, Rank{1}}}), "0RECV_B3");
    EXPECT_EQ(to_text(Action{Overlap{forward, backward}}), "(0F7;7B3)OVERLAP_F_B");
    EXPECT_EQ(to_text(Action{ReduceGrad{Stage{2}}}), "2REDUCE_GRAD");
}

TEST(ActionText, WritesTheSlice) {
    EXPECT_EQ(to_text(Action{Compute{Pass::BackwardInput, Stage{2}, {0, 1}}}), "2I0.1");
}

}  // namespace
}  // namespace debubble

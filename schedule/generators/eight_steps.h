#pragma once

#include <deque>

#include "schedule/generators/writer.h"

/// The order of DualPipe and DualPipeV (deepseek-ai/DualPipe): both hold two
/// stages per rank and feed them in eight steps; only what a rank holds differs.
namespace debubble {

/// One of the two streams of microbatches that meet on a rank, and the stage it uses there.
class Stream {
public:
    Stream(int stage, int first_mb) : stage_{stage}, forward_(first_mb), backward_(first_mb) {}

    Compute next_forward() { return {Pass::Forward, stage_, {forward_++, {}}}; }
    Compute next_backward() { return {Pass::Backward, stage_, {backward_++, {}}}; }

private:
    Stage stage_;
    int forward_;
    int backward_;
};

/// The position of a rank between the end of the pipeline and the turn.
struct TurnPosition {
    int from_end = 0;    ///< 0 at the end where `near` microbatches enter
    int turn = 1;        ///< ranks from that end to the turn
    int per_stream = 0;  ///< microbatches of each stream; at least 2 x turn
};

/// Writes one rank's list. `near` enters on this side of the turn, `far` comes
/// back from it.
void write_eight_steps(ActionList& actions, Stream near, Stream far, TurnPosition at);

}  // namespace debubble

#pragma once

#include <vector>

#include "sim/cost/passes/contention.h"

#include "sim/cost/passes/pass_time.h"
#include "trace/trace.h"

/// The parts of a pair's layers on three lanes: the host issues them one after another, and two
/// streams of the device run the parts enqueued on them, each in that order.
namespace debubble::sim {

/// A part of one of the two passes, in seconds.
struct IssuedPart {
    PairStep step{};
    bool forward = true;  ///< of the forward, else of the backward
    bool exchange = false;
    int layer = 0;        ///< of the stage, from 0 on
    double seconds = 0;   ///< on its stream, when nothing runs on the other
    double host = 0;      ///< to issue it
    bool alone = false;   ///< a delayed weight gradient, for which its pass does not wait
    double products = 0;  ///< seconds of GEMMs and attention among `seconds`
    double after = 0;     ///< part of `host` after the kernel of an all-to-all
};

/// Contention between the lanes.
struct PairLanes {
    double host = 1;  ///< the host's time for a pair, relative to that for both passes apart
    Contention contention = {};
    /// How much later the last rank starts an all-to-all than this one; zero where the stream is
    /// not free sooner.
    RankWaits waits{};
    bool awaits_counts = false;  ///< before a forward's all-to-all the host waits for the numbers
                                 ///< of tokens, and thus for the part before it
};

/// A part, in seconds from the begin of the layers on.
struct PlacedPart {
    PairStep step{};
    bool forward = true;
    bool exchange = false;
    int layer = 0;
    double begin = 0;
    double end = 0;
    double products = 0;  ///< the part of this time in which GEMMs or attention run
};

/// Times in seconds from the begin of the layers on.
struct PlayedPair {
    std::vector<PlacedPart> parts;  ///< the parts that take time, in order of issue
    double seconds = 0;             ///< until the last one ends
    double exposed = 0;             ///< an all-to-all runs without a kernel
    double idle = 0;                ///< both are idle: they wait for the host
};

/// A kernel starts once the host has issued it, and a part of many kernels does not end before the
/// host has issued the last one. An all-to-all is one kernel: it starts once the host has issued
/// it, and overlaps the host's further work on its part.
PlayedPair play(const std::vector<IssuedPart>& issued, const PairLanes& lanes);

}  // namespace debubble::sim

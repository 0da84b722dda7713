#pragma once

#include <vector>

#include "sim/cost/passes/contention.h"

#include "sim/cost/passes/pass_time.h"
#include "trace/trace.h"

/// The parts of a pair's layers on three lanes: the host issues them one after another, and two
/// streams of the device run what was issued to them, each in that order.
namespace debubble::sim {

/// A part of one of the two passes, in seconds.
struct IssuedPart {
    PairStep step{};
    bool forward = true;  ///< of the forward, else of the backward
    bool exchange = false;
    int layer = 0;        ///< of the stage, from 0 on
    double seconds = 0;   ///< on its stream, when nothing runs on the other
    double host = 0;      ///< to issue it
    bool alone = false;   ///< a delayed weight gradient, which its pass does not wait for
    double products = 0;  ///< seconds of products and attention among `seconds`
    double after = 0;     ///< of `host`, what comes after the kernel of an exchange
};

/// What the lanes do to each other.
struct PairLanes {
    double host = 1;  ///< the host's time for a pair, relative to that for both passes apart
    Contention contention = {};
    /// How much later the last rank comes to an exchange than this one; not at all where the stream
    /// is not free sooner.
    RankWaits waits{};
    bool awaits_counts = false;  ///< before a forward's exchange the host waits for the numbers of
                                 ///< rows, and with them for the part before it
};

/// A part, in seconds from the begin of the layers on.
struct PlacedPart {
    PairStep step{};
    bool forward = true;
    bool exchange = false;
    int layer = 0;
    double begin = 0;
    double end = 0;
    double products = 0;  ///< the part of this time in which products or attention run
};

/// Times in seconds from the begin of the layers on.
struct PlayedPair {
    std::vector<PlacedPart> parts;  ///< those that take time, in the order of their issue
    double seconds = 0;             ///< until the last one ends
    double exposed = 0;             ///< an exchange runs, and no kernel
    double idle = 0;                ///< neither runs: they wait for the host
};

/// A kernel begins once it has been reached by the host, and a part of many kernels does not end
/// before the host has issued the last one. An exchange is one kernel: it begins once the host has
/// issued it, and runs while the host goes on with what comes after it in its part.
PlayedPair play(const std::vector<IssuedPart>& issued, const PairLanes& lanes);

}  // namespace debubble::sim

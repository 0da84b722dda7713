#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/software/framework.h"
#include "sim/cost/passes/contention.h"
#include "sim/cost/passes/pair_layers.h"
#include "sim/cost/passes/pass_time.h"
#include "trace/trace.h"

/// A forward and a backward of two microbatches that overlap (Overlap), as a whole and by the parts
/// of their layers (pair_layers.h).
namespace debubble::sim {

// The parts of a pair's layers on three lanes: the host issues them one after another, and two
// streams of the device run the parts enqueued on them, each in that order.

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
    std::optional<std::int32_t> layer = {};  ///< of the stage; unset for Outside
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

// The order in which the parts of a pair's layers are issued (pair_layers.h), and the resulting
// times on the host's lane and two streams.

/// The parts that take time, in order of issue.
PlayedPair played(const std::vector<LayerParts>& forward, const std::vector<LayerParts>& backward,
                  const PairLanes& lanes = {});

/// The whole of a pair that begins at 0 and takes `duration`: the parts before the layers, the
/// layers, and the parts after them, scaled to it. Layers are numbered from 0 in each pass, and
/// all-to-alls do not wait for other ranks.
std::vector<PairPart> parts_of_pair(const Overlap& pair, const PairParts& forward,
                                    const PairParts& backward, const PairLanes& lanes,
                                    Duration duration);

/// Seconds of the device's and of the host's work in a pass, or in a pair of passes.
struct PassWork {
    double kernels = 0;
    double exposed = 0;  ///< communication during which no kernel runs
    double host = 0;
    double free = 0;   ///< time of kernels without communication of their own pass
    double added = 0;  ///< time of the terms that overlap nothing (price_part.h)
    double idle = 0;   ///< time for which the device waits for the host in any case
    int layers = 0;
    ExposedByKind exchanges{};
    double waits = 0;  ///< waits for the last rank of all-to-alls, part of `exposed`
};

/// The length of the pass, in which device and host work at the same time, and after which the
/// added terms follow.
double length_of(const PassWork& work);

/// Both passes together: their kernels run one after the other, and the all-to-alls of each pass
/// that the framework hides overlap kernels of the other pass. Each pass waits for its all-to-all
/// before it continues, so that an all-to-all overlaps one block of the other pass: the kernels up
/// to that pass's own next all-to-all, or of a layer. At most one all-to-all overlaps a block.
PassWork pair_of(const PassWork& one, const PassWork& other, const scenarios::Exchanges& hides);

/// Both passes, whose layers overlap on `lanes` (pair_layers.h), followed by their other parts one
/// after the other.
PassWork pair_of(const PassWork& forward, const PassWork& backward, const PairParts& of_forward,
                 const PairParts& of_backward, const PairLanes& lanes);

}  // namespace debubble::sim

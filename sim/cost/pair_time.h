#pragma once

#include "scenarios/framework.h"
#include "sim/cost/pass_time.h"

/// A forward and a backward of two microbatches at once (Overlap).
namespace debubble::sim {

/// What the device does in a pass, or in a pair of passes, and the host beside it; seconds.
struct PassWork {
    double kernels = 0;
    double exposed = 0;  ///< communication beside which no kernel runs
    double host = 0;
    double free = 0;  ///< of kernels, those beside which nothing of their own pass is exchanged
    int layers = 0;
    ExposedByKind exchanges{};
};

/// How long it takes: device and host side by side.
double length_of(const PassWork& work);

/// Both at once: the kernels one after the other, and beside those of each half the exchanges of
/// the other that the framework hides. An exchange is waited for before the half that makes it
/// goes on, so that it runs beside one block of the other half: the kernels up to that half's own
/// next exchange, or of a layer. No more than one runs beside a block.
PassWork pair_of(const PassWork& one, const PassWork& other, const scenarios::Exchanges& hides);

}  // namespace debubble::sim

#pragma once

#include <atomic>
#include <cstddef>

#include "base/command_line/progress_line.h"
#include "sim/commands/terminal/style.h"

namespace debubble::sim {

/// With the progress of a batch: the choices of training.recompute: auto, where a point takes
/// longer than a second. Thread-safe.
class ChoiceLine {
public:
    void point_done(std::size_t done, std::size_t total) {
        done_ = done;
        total_ = total;
        line_.restart();
    }
    /// Reports `done` choices of a point that is not finished.
    void show(std::size_t done, std::size_t all);

private:
    std::atomic<std::size_t> done_{0};
    std::atomic<std::size_t> total_{0};  ///< 0 until a point is done
    ProgressLine line_{is_quiet()};
};

}  // namespace debubble::sim

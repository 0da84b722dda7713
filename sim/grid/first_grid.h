#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/grid/grid.h"

/// A grid for a scenario that has none.
namespace debubble::sim {

struct FirstGrid {
    std::string lines;                  ///< the value of `sweep:`, as lines of YAML
    std::vector<std::string> left_out;  ///< what it does not try, and why: a clause each
};

/// The cuts of the scenario's GPUs that its network and its nodes allow: degrees of tensor,
/// pipeline, context and expert parallelism that divide them, ZeRO-1, ZeRO-2 and ZeRO-3 (with
/// a pipeline where torchtitan has them), microbatches, what is computed again, and the schedules
/// of its framework with the chunks that its layers divide into; of each also what is written, and
/// the conditions of a `sweep:` that has nothing else. The batch of a step stays what it is, and
/// keys that would contradict other cuts (`parallel.data`, `training.micro_batches`) are lines with
/// one value. It does not matter whether the scenario's own cut is possible. Keys in `fixed` stay
/// as the text has them. Of a text that makes no scenario with any cut, a few degrees of each kind.
FirstGrid first_grid(const std::string& text, const std::string& file,
                     std::span<const std::string> fixed = {});

/// Whether the scenario has a grid of its own, and not conditions alone. Throws InputError.
bool has_grid(const std::string& text, const std::string& file);

struct MadeGrid {
    Grid grid;
    std::vector<std::string> left_out;
};
/// The grid of a scenario with these keys set, which stay as they are in every point. Throws
/// InputError.
MadeGrid made_grid(std::string text, const std::string& file,
                   std::span<const scenarios::Override> set);

}  // namespace debubble::sim

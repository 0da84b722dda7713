#pragma once

#include <iosfwd>

#include "trace/trace.h"

namespace debubble {

/// The memory of a trace in the format of torch.cuda.memory._dump_snapshot (PyTorch 2.11,
/// torch/cuda/_memory_viz.py), which pytorch.org/memory_viz shows: a pickle of protocol 2 whose
/// device_traces have one device per pipeline rank. A trace holds levels by class, so a block is an
/// increase of a class; it is freed, the newest first, when the level decreases. Its frame names
/// the class and the action that ran.
void write_memory_snapshot(const Trace& trace, std::ostream& out);

}  // namespace debubble

#pragma once

#include <string>

#include "base/units.h"

namespace debubble::profile {

/// What a device's allocator held at most while a memory snapshot recorded.
struct SnapshotPeaks {
    Bytes allocated;
    Bytes reserved;
};

/// True for bytes that begin as a pickle does.
bool is_pickle(const std::string& file);

/// The peaks of a file of torch.cuda.memory._dump_snapshot (PyTorch 2.11, c10/cuda/
/// CUDACachingAllocator.cpp), of its fullest device: `segments` say what is held at the end, and
/// `device_traces`, walked back from there, what was held before, as far as its ring of events
/// goes. Throws InputError for other files.
SnapshotPeaks snapshot_peaks(const std::string& file);

}  // namespace debubble::profile

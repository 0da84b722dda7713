#pragma once

#include <string>

#include "base/units.h"

namespace debubble::profile {

/// The peak memory of a device's allocator while a memory snapshot recorded.
struct SnapshotPeaks {
    Bytes allocated;
    Bytes reserved;
};

/// True for bytes that begin like a pickle.
bool is_pickle(const std::string& file);

/// The peaks in a file of torch.cuda.memory._dump_snapshot (PyTorch 2.11, c10/cuda/
/// CUDACachingAllocator.cpp), of its fullest device: `segments` are the memory at the end, from
/// which `device_traces` are undone to reconstruct earlier levels, as far as its ring of events
/// goes. Throws InputError for other files.
SnapshotPeaks snapshot_peaks(const std::string& file);

}  // namespace debubble::profile

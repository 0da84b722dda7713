#include "exec/cuda/nccl/job.h"

#include <algorithm>

namespace debubble::exec::nccl {

Polling::Clock::duration Polling::pause(Clock::time_point now) const {
    const Clock::duration waited = now - began_;
    if (waited < kEagerly) return {};
    return std::min<Clock::duration>(waited / 10, kLongest);
}

}  // namespace debubble::exec::nccl

#include "exec/cuda/module.h"

#include "exec/cuda/lanes.h"

extern "C" void* debubble_cuda_stream(debubble::exec::DeviceLanes& lanes,
                                      debubble::exec::DeviceLane lane) {
    return static_cast<debubble::exec::cuda::Lanes&>(lanes).queue(lane).stream();
}

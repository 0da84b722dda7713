#pragma once

namespace debubble::sim {

/// A pipeline of a drawn step: that of a replica of the data (parallel.data), from 0 on.
struct DrawnPipeline {
    int draw = 0;
    int replica = 0;
    friend bool operator==(const DrawnPipeline&, const DrawnPipeline&) = default;
};

}  // namespace debubble::sim

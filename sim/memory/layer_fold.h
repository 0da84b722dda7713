#pragma once

namespace debubble::sim {

/// The inner layers of a stage are alike: the graph holds one of them, which stands for `times`.
/// Layer -1 (no fold) is never repeated.
struct LayerFold {
    int layer = -2;
    int times = 1;
};

}  // namespace debubble::sim

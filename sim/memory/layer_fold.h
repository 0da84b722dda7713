#pragma once

namespace debubble::sim {

/// Neighbouring layers of a stage are alike: the graph holds one of them, which stands for `times`.
/// No operator has layer -2 (no fold).
struct LayerFold {
    int layer = -2;
    int times = 1;
};

}  // namespace debubble::sim

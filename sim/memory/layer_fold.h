#pragma once

#include "models/graph/graph.h"

namespace debubble::sim {

/// Neighbouring layers of a stage are alike: the graph holds one of them, which stands for `times`.
/// No operator has layer -2 (no fold).
struct LayerFold {
    int layer = -2;
    int times = 1;
};

/// True if two stages of a model compute and hold the same, except for the names of their layers.
inline bool alike(const models::Layers& layers, const models::LowPrecision& how,
                  const models::StageContent& a, const models::StageContent& b) {
    if (a.layers != b.layers || a.embedding != b.embedding || a.head != b.head ||
        a.predictions != b.predictions || a.final_norm != b.final_norm)
        return false;
    for (int i = 0; i < a.layers; ++i)
        if (layers.kind_of(a.first_layer + i) != layers.kind_of(b.first_layer + i) ||
            how.quantises(a.first_layer + i) != how.quantises(b.first_layer + i))
            return false;
    return true;
}

}  // namespace debubble::sim

#pragma once

#include "models/graph.h"

namespace debubble::sim {

/// True if two stages of a model compute and hold the same, except for the names of their layers.
inline bool alike(const models::StageContent& a, const models::StageContent& b) {
    return a.layers == b.layers && a.embedding == b.embedding && a.head == b.head;
}

}  // namespace debubble::sim

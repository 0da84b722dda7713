#pragma once

#include <cstddef>
#include <span>

#include "exec/core/communicator/communicator.h"

namespace debubble::exec {

/// Elements [begin, end) of every target become the reduction of those elements of all
/// sources, taken in their order; 16-bit types are added in fp32 and rounded once. All
/// have one length and type. A target may be one of the sources.
void reduce(std::span<const ConstBuffer> sources, std::span<const Buffer> targets,
            Reduction reduction, std::size_t begin, std::size_t end);

}  // namespace debubble::exec

#pragma once

#include "exec/core/random_stream.h"
#include "exec/cpu/loops/operands.h"

/// Dropout without a stored mask: whether an element is dropped is a function of the stream and of
/// the element's place in the whole activation, not of the rank, slice or microbatch that holds it.
namespace debubble::exec::loops {

/// Scales `count` contiguous elements, the first one at `element` of the stream, by 0 or by
/// dropout.scale(). `from` and `to` may be the same.
void drop_run(const Dropout& dropout, std::uint64_t element, std::int64_t count, const float* from,
              float* to);

}  // namespace debubble::exec::loops

#pragma once

#include <cstdint>

namespace debubble::exec {

/// The place in storage of the sample that an epoch shows at `index` when it shuffles `count`
/// samples: a permutation of 0 .. count - 1 that needs no memory and no earlier draw, so that
/// training resumes anywhere. It is a Feistel network over the next power of four, repeated until
/// it lands inside (Black, Rogaway 2002, "Ciphers with Arbitrary Finite Domains"), with Philox as
/// its round function. Precondition: 0 <= index < count.
std::int64_t shuffled(std::int64_t index, std::int64_t count, std::uint64_t seed,
                      std::int64_t epoch);

}  // namespace debubble::exec

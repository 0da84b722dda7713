#include "exec/io/data/batches.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "exec/core/random_stream.h"

namespace debubble::exec {

std::int64_t shuffled(std::int64_t index, std::int64_t count, std::uint64_t seed,
                      std::int64_t epoch) {
    assert(index >= 0 && index < count && "no such sample");
    constexpr std::uint32_t kRounds = 8;
    const auto last = static_cast<std::uint64_t>(count - 1);
    const int half = std::max((static_cast<int>(std::bit_width(last)) + 1) / 2, 1);
    const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
    const auto key = stream_of(seed, "data.shuffle").block(epoch);

    auto place = static_cast<std::uint64_t>(index);
    do {
        std::uint64_t left = place >> half;
        std::uint64_t right = place & mask;
        for (std::uint32_t round = 0; round < kRounds; ++round) {
            const auto word = philox({static_cast<std::uint32_t>(right), round, key[2], key[3]},
                                     {key[0], key[1]})[0];
            left = std::exchange(right, left ^ (word & mask));
        }
        place = left << half | right;
    } while (place > last);
    return static_cast<std::int64_t>(place);
}

}  // namespace debubble::exec

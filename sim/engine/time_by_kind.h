#pragma once

#include <cstddef>

#include "base/ids.h"
#include "base/purposes.h"

namespace debubble::sim {

/// Communication of one kind. Bytes are the sizes of what is gathered, reduced, exchanged or sent,
/// as nccl-tests counts them: of an all-gather the whole, of an all-to-all what one rank has.
struct KindTime {
    double exposed = 0;  ///< seconds during which nothing else runs
    double hidden = 0;   ///< seconds during computes
    double bytes = 0;

    KindTime& operator+=(const KindTime& more) {
        exposed += more.exposed;
        hidden += more.hidden;
        bytes += more.bytes;
        return *this;
    }
    double seconds() const { return exposed + hidden; }
    friend bool operator==(const KindTime&, const KindTime&) = default;
};

using TimeByKind = ArrayBy<CommunicationKind, KindTime, kCommunicationKinds>;

inline void add(TimeByKind& sum, const TimeByKind& more) {
    for (std::size_t kind = 0; kind < sum.size(); ++kind) sum[kind] += more[kind];
}

}  // namespace debubble::sim

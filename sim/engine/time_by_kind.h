#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace debubble::sim {

/// What a communication serves.
enum class CommunicationKind : std::uint8_t {
    Tensor,    ///< tensor and sequence parallelism, and experts that are cut
    Context,   ///< context parallelism
    Expert,    ///< tokens on their way to experts and back
    Data,      ///< gradients, their norm, and parameters between replicas
    Pipeline,  ///< messages between stages, and tensors that two stages share
    Host,      ///< copies to the host's memory and back
};
inline constexpr std::size_t kCommunicationKinds = 6;

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

using TimeByKind = std::array<KindTime, kCommunicationKinds>;  ///< indexed by CommunicationKind

inline KindTime& of_kind(TimeByKind& all, CommunicationKind kind) {
    return all[static_cast<std::size_t>(kind)];
}
inline const KindTime& of_kind(const TimeByKind& all, CommunicationKind kind) {
    return all[static_cast<std::size_t>(kind)];
}
inline void add(TimeByKind& sum, const TimeByKind& more) {
    for (std::size_t kind = 0; kind < sum.size(); ++kind) sum[kind] += more[kind];
}

/// "tp", "cp", "ep", "dp", "pp", "host".
constexpr std::string_view name_of(CommunicationKind kind) {
    constexpr std::array<std::string_view, kCommunicationKinds> kNames{"tp", "cp", "ep",
                                                                       "dp", "pp", "host"};
    return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace debubble::sim

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/timeline/wording.h"
#include "trace/compare.h"

/// Two documents beside each other: A is predicted or new, B is executed or old.
namespace debubble::gui {

/// One of each document: the same action of the same rank, the same time that it occurs.
struct Pair {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Compared<Duration> length;  ///< without waiting for a peer
};

/// Per span its partner's index and the relative error (A - B) / B; none where only one has it.
struct Partners {
    std::vector<std::optional<std::uint32_t>> partner;
    std::shared_ptr<const std::vector<std::optional<float>>> error;
};

struct Pairing {
    Partners a;
    Partners b;
    std::size_t only_a = 0;
    std::size_t only_b = 0;
    std::vector<ErrorRow> kinds;   ///< that occur in both, in the order of Action
    std::vector<ErrorRow> stages;  ///< computes; an Overlap counts for its first one's
    std::vector<Pair> worst;       ///< at most kMostWorst, the greatest difference first

    const Partners& of(Side side) const { return side == Side::A ? a : b; }
};

/// O(n log n). Ranks are compared by the replica whose statistics are kept.
std::shared_ptr<const Pairing> pair(const TimelineDocument& a, const TimelineDocument& b);

/// What to add to B's times. Falls back to the starts of the steps where there is no optimizer
/// step, or nothing selected that both have.
Duration shift_of(const TimelineDocument& a, const TimelineDocument& b, const Pairing& pairing,
                  Alignment alignment, const Selection& selection);

/// Per span of a side: it differs by the threshold or more, or has no partner.
std::shared_ptr<const std::vector<bool>> differing(const Pairing& pairing, Side side,
                                                   double threshold);

/// The same action on the other side; nothing without a comparison, or where only one has it.
std::optional<SpanRef> partner_of(const Scene& scene, const SpanRef& ref);

/// Details of what is selected; in a comparison, beside its partner's.
std::vector<Detail> details_of(const Scene& scene, const Selection& selection);

}  // namespace debubble::gui

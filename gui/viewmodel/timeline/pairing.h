#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/timeline/wording.h"
#include "trace/compare.h"

/// The comparison of two documents: A is predicted or new, B is executed or old.
namespace debubble::gui {

/// One span of each document: the same occurrence of the same action of the same rank.
struct Pair {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Compared<Duration> length;  ///< without waits for a peer
};

/// For each span, the index of its partner and the relative error (A - B) / B; empty if only one
/// side has the action.
struct Partners {
    std::vector<std::optional<std::uint32_t>> partner;
    std::shared_ptr<const std::vector<std::optional<float>>> error;
};

/// The time of all actions of a kind, or of all computes of a rank, in both documents.
struct SumRow {
    std::string name;  ///< "F", "SEND", "all passes"; "rank 2"
    Compared<std::size_t> count;
    Compared<Duration> sum;
    std::optional<double> change() const { return relative_error(sum); }
};

/// The common parts of two documents.
enum class Common : std::uint8_t {
    Program,  ///< the same actions: differences are errors of a prediction
    Layers,   ///< other plans whose stages have the same layers: some actions are common
    Nothing,  ///< other plans without a common action
};

struct Pairing {
    Common alike = Common::Program;
    Partners a;
    Partners b;
    std::size_t only_a = 0;
    std::size_t only_b = 0;
    std::vector<ErrorRow> kinds;  ///< kinds that occur in both, in the order of Action
    std::vector<ErrorRow>
        stages;  ///< stages of computes; an Overlap counts for the stage of its first one
    std::vector<Pair> worst;  ///< at most kMostWorst, the largest difference first
    /// The sums of two plans, by kind of action and by rank; else empty.
    std::vector<SumRow> kind_sums;
    std::vector<SumRow> rank_sums;

    const Partners& of(Side side) const { return side == Side::A ? a : b; }
};

/// Pairs the common spans of two documents. O(n log n). Ranks are compared by the replica with
/// statistics.
std::shared_ptr<const Pairing> pair(const TimelineDocument& a, const TimelineDocument& b,
                                    Common alike = Common::Program);

/// The sums of two plans as a page of text. Precondition: the plans have different programs.
std::string sums_text(const Pairing& pairing);

/// The shift of B's times. It aligns the starts of the steps if there is no optimizer step, or no
/// selected action that both sides have.
Duration shift_of(const TimelineDocument& a, const TimelineDocument& b, const Pairing& pairing,
                  Alignment alignment, const Selection& selection);

/// For each span of a side, whether it differs by the threshold or more, or has no partner.
std::shared_ptr<const std::vector<bool>> differing(const Pairing& pairing, Side side,
                                                   double threshold);

/// The same action on the other side; nothing without a comparison, or if only one side has it.
std::optional<SpanRef> partner_of(const Scene& scene, const SpanRef& ref);

/// Details of the selection; in a comparison, together with its partner's.
std::vector<Detail> details_of(const Scene& scene, const Selection& selection);

/// The memory of a row's device and the parts of its step, for low rows without room for them; in a
/// comparison those of both sides.
std::vector<Detail> details_of_step(const Scene& scene, const Row& row);

}  // namespace debubble::gui

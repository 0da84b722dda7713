#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "gui/viewmodel/timeline/colours.h"
#include "gui/viewmodel/timeline/document.h"
#include "gui/viewmodel/timeline/rows.h"

/// The content of one time axis, and a person's view of it.
namespace debubble::gui {

/// A document on the axis.
struct Layer {
    Document document;
    std::shared_ptr<const Colouring> colouring;
    Duration shift{};  ///< time on the axis = the document's time + shift

    explicit operator bool() const { return document != nullptr; }
    TimeRange range() const { return {document->range.begin + shift, document->range.end + shift}; }
    TimeRange on_axis(const Span& span) const { return {span.begin + shift, span.end + shift}; }
};

/// One of the two documents of a comparison; A if there is only one.
enum class Side : std::uint8_t { A, B };

struct SpanRef {
    std::uint32_t index = 0;
    Side side = Side::A;
    friend bool operator==(const SpanRef&, const SpanRef&) = default;
};
struct BubbleRef {
    std::uint32_t index = 0;  ///< index in Statistics::bubbles of A
    friend bool operator==(const BubbleRef&, const BubbleRef&) = default;
};
using Selection = std::variant<std::monostate, SpanRef, BubbleRef>;

/// The instants at which two timelines are aligned on one axis.
enum class Alignment : std::uint8_t {
    StepStart,      ///< the first action of both
    OptimizerStep,  ///< the first optimizer step of both
    SelectedOp,     ///< the selected action
};

struct ComparisonChoices {
    Alignment alignment = Alignment::StepStart;
    bool only_differences = false;
    double threshold = 0.05;  ///< relative error below which two actions are alike
    friend bool operator==(const ComparisonChoices&, const ComparisonChoices&) = default;
};

/// All choices of a person in one value, so that going back is assigning the previous one.
struct ViewState {
    TimeAxis axis;
    int scroll = 0;  ///< pixels by which the rows are moved up
    RowChoices rows;
    ColourBy colour_by = ColourBy::Kind;
    bool critical_path = false;
    Selection selection;
    std::optional<TimeRange> measured;
    int measured_y = 0;          ///< height of the measured row, from the top of the first one
    std::vector<Instant> marks;  ///< ascending
    ComparisonChoices comparison;
    friend bool operator==(const ViewState&, const ViewState&) = default;
};

struct Pairing;

struct Scene {
    Layer main;
    Layer other;              ///< B of a comparison, or the ghost of the plan before
    bool comparison = false;  ///< otherwise `other` is a ghost
    RowLayout layout;
    std::vector<Selection> hits;                       ///< hits of the last search
    std::shared_ptr<const Pairing> pairing;            ///< pairs of a comparison
    std::shared_ptr<const Colouring> error_colouring;  ///< colouring of its A

    /// The range from the first start to the last end of everything that is shown.
    TimeRange range() const;
    const Layer& layer(Side side) const { return side == Side::A ? main : other; }
    /// The device of `other` with the rank of a device of `main`, if it has that rank.
    const Device* counterpart(const Device& device) const;
    /// The device of a row: A's, or B's or the ghost's.
    const Device* device(const Row& row, Side side) const;
    /// The track of a side that a stream's row shows; nothing if the side has no such stream.
    const Stream* stream(const Row& row, Side side) const;
    /// The scale of all memory lanes: A's limit, or B's if A has none.
    MemoryScale memory_scale() const;
    RowNeeds needs() const;
    bool ghost() const { return other && !comparison; }
};

/// The time of the selected span or bubble, on the axis.
std::optional<TimeRange> range_of(const Scene& scene, const Selection& selection);

}  // namespace debubble::gui

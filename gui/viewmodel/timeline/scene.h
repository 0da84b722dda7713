#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "gui/viewmodel/timeline/document.h"
#include "gui/viewmodel/timeline/highlight.h"
#include "trace/picture/timeline.h"

/// The content of one time axis, and the user's view of it.
namespace debubble::gui {

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
    double threshold = 0.05;  ///< relative error below which two actions count as equal
    friend bool operator==(const ComparisonChoices&, const ComparisonChoices&) = default;
};

/// All choices of the user in one value, so that going back is assigning the previous one.
struct ViewState {
    TimeAxis axis;
    int scroll = 0;  ///< pixels by which the rows are scrolled up
    RowChoices rows{.fold_alike = true};
    ColourBy colour_by = ColourBy::Kind;
    bool critical_path = false;
    Selection selection;
    std::optional<TimeRange> measured;
    int measured_y = 0;  ///< height where the measured area begins, from the top of the first row
    int measured_to_y = 0;       ///< height where it ends
    std::vector<Instant> marks;  ///< ascending
    ComparisonChoices comparison;
    friend bool operator==(const ViewState&, const ViewState&) = default;
};

struct Pairing;

/// The timeline with the results of the user's questions.
struct Scene : Timeline {
    std::vector<Selection> hits;             ///< hits of the last search
    std::shared_ptr<const Pairing> pairing;  ///< pairs of a comparison
    Highlight lit;                           ///< highlighted part of the bill
    std::optional<Instant> cursor;           ///< instant on the axis of a played step
};

/// The range of the selected span or bubble on the axis.
std::optional<TimeRange> range_of(const Scene& scene, const Selection& selection);

}  // namespace debubble::gui

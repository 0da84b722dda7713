#pragma once

#include <string>
#include <vector>

#include "gui/viewmodel/timeline/document.h"

/// What a timeline says in words. English; numbers as in the reports.
namespace debubble::gui {

/// What stands inside a bar: nothing, "3", "F3", "2F3".
enum class LabelForm : std::uint8_t { None, Number, LetterAndNumber, StageToo };

/// The most that fits on average, so that a row is labelled evenly. Precondition: letter > 0.
LabelForm label_form(const TimelineDocument& document, const Device& device, double mean_width,
                     double letter);
/// Empty for actions that have no label.
std::string label_of(const Action& action, LabelForm form);

struct Detail {
    std::string name;
    std::string value;
    std::vector<Detail> parts = {};  ///< what it is made of
    friend bool operator==(const Detail&, const Detail&) = default;
};

/// "forward of stage 2, microbatch 3".
std::string describe(const Action& action);

/// What a span is, when, how long, how much it moved, and why it did not begin earlier.
std::vector<Detail> details_of(const TimelineDocument& document, std::uint32_t span);

/// Who is waited for, and for how long.
std::vector<Detail> details_of(const TimelineDocument& document, const Bubble& bubble);
/// "waits for stage 2: 2B3 of rank 2".
std::string cause_of(const TimelineDocument& document, const Bubble& bubble);

/// What a device held at its peak, by class.
std::vector<Detail> details_of_peak(const TimelineDocument& document, const Device& device);

/// What stands beside a row.
struct GutterText {
    std::string name;    ///< "rank 3"
    std::string copies;  ///< "x16 identical"; empty if it stands for itself
    std::string idle;    ///< "idle 12.3 %"; empty if not known
    std::string memory;  ///< "71.3/80.0 GiB", "88.0/80.0 GiB OOM"; empty if not known
    bool too_much = false;
};
GutterText gutter_text(const TimelineDocument& document, const Device& device);

/// One line: what the whole idles, by cause, the greatest first.
std::string idle_summary(const TimelineDocument& document);

struct Tick {
    Instant at;
    std::string text;  ///< time since the origin
};
/// Ticks of an axis at 1, 2 or 5 times a power of ten, at least `least_distance` pixels apart.
std::vector<Tick> ticks_of(const TimeAxis& axis, Instant origin, double least_distance);

}  // namespace debubble::gui

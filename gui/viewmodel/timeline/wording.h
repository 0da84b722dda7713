#pragma once

#include <string>
#include <vector>

#include "gui/viewmodel/timeline/document.h"

/// The texts of a timeline, in English, with numbers as in the reports.
namespace debubble::gui {

/// The label inside a bar: nothing, "3", "F3" or "2F3".
enum class LabelForm : std::uint8_t { None, Number, LetterAndNumber, StageToo };

/// The longest form that fits on average, so that a row is labelled evenly. Precondition: letter >
/// 0.
LabelForm label_form(const TimelineDocument& document, const Device& device, double mean_width,
                     double letter);
/// The label of an action; empty for actions without one.
std::string label_of(const Action& action, LabelForm form);

struct Detail {
    std::string name;
    std::string value;
    std::vector<Detail> parts = {};  ///< parts of the value
    friend bool operator==(const Detail&, const Detail&) = default;
};

/// An action in words, such as "forward of stage 2, microbatch 3".
std::string describe(const Action& action);

/// The details of a span: its action, its time and length, the bytes that it moved, and why it did
/// not start earlier.
std::vector<Detail> details_of(const TimelineDocument& document, std::uint32_t span);

/// The details of a bubble: what it waits for, and how long.
std::vector<Detail> details_of(const TimelineDocument& document, const Bubble& bubble);
/// The cause of a bubble, such as "waits for stage 2: 2B3 of rank 2".
std::string cause_of(const TimelineDocument& document, const Bubble& bubble);

/// The memory of a device at its peak, by class.
std::vector<Detail> details_of_peak(const TimelineDocument& document, const Device& device);

/// The texts next to a row.
struct GutterText {
    std::string name;    ///< such as "rank 3"
    std::string copies;  ///< such as "x16 identical"; empty if there is one only
    std::string idle;    ///< such as "idle 12.3 %"; empty if not known
    std::string memory;  ///< such as "71.3/80.0 GiB" or "88.0/80.0 GiB OOM"; empty if not known
    bool too_much = false;
};
GutterText gutter_text(const TimelineDocument& document, const Device& device);

/// The idle share of the whole in one line, by cause, the greatest first.
std::string idle_summary(const TimelineDocument& document);

struct Tick {
    Instant at;
    std::string text;  ///< time since the origin
};
/// Ticks of an axis at 1, 2 or 5 times a power of ten, at least `least_distance` pixels apart.
std::vector<Tick> ticks_of(const TimeAxis& axis, Instant origin, double least_distance);

}  // namespace debubble::gui

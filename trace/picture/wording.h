#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/action.h"
#include "trace/picture/document/document.h"

/// The texts of a timeline, in English, with numbers as in the reports.
namespace debubble::picture {

/// The parts of `words`, between semicolons, that are not in `other`: "zb-h1" for "4 x A100; zb-h1"
/// and "4 x A100; 1f1b".
std::string only_in(const std::string& words, const std::string& other);

/// The action and rank of a span, such as "2B3 of rank 2".
std::string place_text(const Span& span);

/// The exposed communication of a span, such as "4.2 ms, 61.4 % of it (EP 40.2 %, TP 21.2 %)".
std::string exposed_text(const TimelineDocument& document, const Span& span);

/// The cause of a bubble, such as "waits for stage 2: 2B3 of rank 2".
std::string cause_of(const TimelineDocument& document, const Bubble& bubble);

/// The tool tips of the parts of a timeline.
std::string tip_of(const TimelineDocument& document, const Span& span);
std::string tip_of(const TimelineDocument& document, const Bubble& bubble);
std::string tip_of(const TimelineDocument& document, const PairPart& part);
std::string tip_of(const MemoryPeak& peak);

/// The texts next to a row.
struct GutterText {
    std::string name;                    ///< such as "rank 3"
    std::optional<std::string> copies;   ///< "x16 identical", "1 of 16"; unset if there is one only
    std::optional<std::string> idle;     ///< such as "idle 12.3 %", if known
    std::optional<std::string> exposed;  ///< such as "exposed 12.3 %", if there is any
    std::optional<std::string> memory;   ///< "71.3/80.0 GiB" or "88.0/80.0 GiB OOM", if known
    bool too_much = false;
};
GutterText gutter_text(const TimelineDocument& document, const Device& device);

struct Tick {
    Instant at;
    std::string text;  ///< time since the origin
};
/// Ticks of an axis at 1, 2 or 5 times a power of ten, at least `least_distance` pixels apart.
std::vector<Tick> ticks_of(const TimeAxis& axis, Instant origin, double least_distance);

/// An action in words, such as "forward of stage 2, microbatch 3".
std::string describe(const Action& action);

}  // namespace debubble::picture

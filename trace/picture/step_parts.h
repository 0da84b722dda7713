#pragma once

#include <string>
#include <vector>

#include "trace/picture/colours.h"
#include "trace/picture/document/document.h"
#include "trace/picture/shapes.h"

/// The parts of one rank's step: compute, exposed communication, optimizer, and idle time by cause.
namespace debubble::picture {

struct StepPart {
    std::string name;  ///< "compute", or "idle: waits for a stage"
    Duration time{};
    Rgb light;  ///< its colour in the light theme; for idle time, that of its bubbles
    Rgb dark;
    bool idle = false;
    Rgb colour(Theme theme) const { return theme == Theme::Light ? light : dark; }
};

/// The parts that are not empty, idle time last. They add up to the step. Empty for a replica
/// without statistics.
std::vector<StepPart> step_parts(const Device& device);

Duration length_of(const std::vector<StepPart>& parts);  ///< the step: their sum

/// "12.3 ms, 4.5 %" of the step.
std::string text_of(const StepPart& part, Duration step);

/// A bar as wide as the rectangle, divided by the shares of the parts.
Shapes step_bar(const Device& device, Rect rect, Theme theme, bool tips);

}  // namespace debubble::picture

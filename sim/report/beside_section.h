#pragma once

#include <span>
#include <string>

#include "sim/plan/prediction.h"
#include "trace/picture/document/document.h"

namespace debubble::sim {

/// A timeline of several on one page.
struct TimelineBeside {
    std::string name;
    picture::Document document;
    const Prediction* prediction = nullptr;  ///< of a plan
};

/// The figures of all of them as HTML, a column each, and how much of the first one each other one
/// has more: the step, where it goes by cause and by what communication serves, its computes by
/// kind, and the memory of the fullest rank. Times are means of the ranks, so that each part of the
/// step adds up to it, however the layers are cut into stages.
std::string beside_section(std::span<const TimelineBeside> timelines);

}  // namespace debubble::sim

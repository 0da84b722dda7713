#pragma once

#include <string>
#include <vector>

#include "gui/viewmodel/timeline/document.h"
#include "trace/picture/wording.h"

/// The texts of a timeline, with numbers as in the reports.
namespace debubble::gui {

struct Detail {
    std::string name;
    std::string value;
    std::vector<Detail> parts = {};  ///< parts of the value
    friend bool operator==(const Detail&, const Detail&) = default;
};

/// The cause of a bubble in the window's language.
std::string said_cause(BubbleCause cause);

/// The details of a span: its action, its time and length, its bytes, and the reason why it did not
/// start earlier.
std::vector<Detail> details_of(const TimelineDocument& document, std::uint32_t span);

/// The details of a bubble: its cause and length, the action that ends it, and the parts of its
/// rank's step.
std::vector<Detail> details_of(const TimelineDocument& document, const Bubble& bubble);

/// The parts of a device's step with times and shares, idle time by cause. Empty without
/// statistics.
std::vector<Detail> details_of_step(const Device& device);

/// Details in one line, for screen readers.
std::string spoken(const std::vector<Detail>& details);

/// The memory of a device at an instant, by class.
std::vector<Detail> details_of_memory(const TimelineDocument& document, const Device& device,
                                      Instant at);

/// The use of a class of links by a device at an instant, and on average. Precondition: the
/// document has a table of links.
std::vector<Detail> details_of_links(const TimelineDocument& document, const Device& device,
                                     std::size_t of, Instant at);

/// The memory of a device at its peak, by class.
std::vector<Detail> details_of_peak(const TimelineDocument& document, const Device& device);

/// The idle share of all ranks in one line, by cause, the greatest first.
std::string idle_summary(const TimelineDocument& document);

}  // namespace debubble::gui

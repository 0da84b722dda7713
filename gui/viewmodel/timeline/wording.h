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

/// The details of a span: its action, its time and length, the bytes that it moved, and why it did
/// not start earlier.
std::vector<Detail> details_of(const TimelineDocument& document, std::uint32_t span);

/// The details of a bubble: what it waits for, how long, the action that ends it, and where the
/// step of its rank goes.
std::vector<Detail> details_of(const TimelineDocument& document, const Bubble& bubble);

/// Where the step of a device goes: its time and share by part, idle time by cause. None if its
/// statistics are not kept.
std::vector<Detail> details_of_step(const Device& device);

/// Details in one line, for those who listen to them.
std::string spoken(const std::vector<Detail>& details);

/// The memory of a device at an instant, by class.
std::vector<Detail> details_of_memory(const TimelineDocument& document, const Device& device,
                                      Instant at);

/// How much of a class of links a device uses at an instant, and on average. Precondition: the
/// document has a table of links.
std::vector<Detail> details_of_links(const TimelineDocument& document, const Device& device,
                                     std::size_t of, Instant at);

/// The memory of a device at its peak, by class.
std::vector<Detail> details_of_peak(const TimelineDocument& document, const Device& device);

/// The idle share of the whole in one line, by cause, the greatest first.
std::string idle_summary(const TimelineDocument& document);

}  // namespace debubble::gui

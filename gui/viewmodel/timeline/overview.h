#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/timeline/document.h"
#include "trace/picture/colours.h"

/// All ranks at once, a line of pixels each.
namespace debubble::gui {

/// Neighbouring devices with similar steps.
struct RankBand {
    std::size_t first = 0;  ///< indices in TimelineDocument::devices, both included
    std::size_t last = 0;
    std::string name;  ///< "rank 0", "similar ranks 1 to 998"
    bool has_several() const { return first != last; }
    friend bool operator==(const RankBand&, const RankBand&) = default;
};

/// The devices in bands of similar ones (trace/picture/document/similar_ranks.h).
std::vector<RankBand> rank_bands(const TimelineDocument& document);

/// Colours are 0xffRRGGBB, a line for each device.
struct OverviewPicture {
    std::size_t width = 0;
    std::vector<std::uint32_t> work;    ///< mean colours over time, including idle time
    std::vector<std::uint32_t> memory;  ///< the darker, the fuller; red above the limit
    std::size_t memory_width = 0;
    std::size_t lines() const { return width == 0 ? 0 : work.size() / width; }
};

/// Draws a document of any number of devices. Pure and thread-safe; throws Cancelled.
OverviewPicture overview_picture(const TimelineDocument& document, picture::Theme theme,
                                 std::size_t width, std::size_t memory_width,
                                 const std::stop_token& stop = {});

/// The devices [first, last] at two heights of a picture that is `height` high.
std::pair<std::size_t, std::size_t> devices_between(std::size_t devices, double height, double a,
                                                    double b);

}  // namespace debubble::gui

#include "gui/viewmodel/timeline/overview.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/parallel.h"
#include "gui/viewmodel/timeline/words.h"
#include "trace/picture/document/similar_ranks.h"
#include "trace/picture/raster.h"

namespace debubble::gui {
namespace {

std::string name_of_band(const TimelineDocument& document, const RankBand& band) {
    const Device& first = document.devices[band.first];
    if (!band.has_several()) return first.name;
    return filled(said("details", "similar ranks {} to {}"), first.rank.index,
                  document.devices[band.last].rank.index);
}

std::vector<std::uint32_t> memory_line(const TimelineDocument& document, const Device& device,
                                       const TimeAxis& axis, picture::Theme theme) {
    const picture::Ground& ground = picture::ground_of(theme);
    std::vector<std::uint32_t> line;
    if (device.memory.empty())
        return std::vector<std::uint32_t>(std::lround(axis.width()), picture::pixel(ground.lane));
    const Bytes full = document.memory_limit.value_or(document.memory_top);
    MemorySeries::Walk walk(device.memory);
    picture::for_each_column(axis, [&](int, TimeRange column) {
        const Bytes held = walk.over(column).greatest;
        const double share = static_cast<double>(held.count) /
                             static_cast<double>(std::max<std::int64_t>(full.count, 1));
        line.push_back(picture::pixel(
            document.memory_limit && held > full
                ? ground.warning
                : picture::mix(ground.lane, ground.memory_edge, std::clamp(share, 0.0, 1.0))));
    });
    return line;
}

}  // namespace

std::vector<RankBand> rank_bands(const TimelineDocument& document) {
    std::vector<std::size_t> all(document.devices.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<RankBand> bands;
    for (const picture::SimilarRun& run : picture::similar_runs(document, all)) {
        RankBand& band = bands.emplace_back(RankBand{run.first, run.last, {}});
        band.name = name_of_band(document, band);
    }
    return bands;
}

OverviewPicture overview_picture(const TimelineDocument& document, picture::Theme theme,
                                 std::size_t width, std::size_t memory_width,
                                 const std::stop_token& stop) {
    OverviewPicture drawn{width, {}, {}, memory_width};
    const auto colours = picture::colour(document, {theme});
    const picture::BarGround ground{document.range, picture::paint(Paint::Bubble, theme),
                                    picture::ground_of(theme).window};
    const TimeAxis axis(document.range, static_cast<double>(width));
    const TimeAxis memory_axis(document.range, static_cast<double>(memory_width));
    for (std::size_t d = 0; d < document.devices.size(); ++d) {
        give_up_if(stop);
        const picture::DeviceColours& of_device = colours->devices[d];
        std::vector<const picture::ColourSums*> tracks{&of_device.work};
        if (of_device.lower_half) tracks.push_back(&*of_device.lower_half);
        std::ranges::copy(picture::mean_colours(tracks, axis, ground),
                          std::back_inserter(drawn.work));
        std::ranges::copy(memory_line(document, document.devices[d], memory_axis, theme),
                          std::back_inserter(drawn.memory));
    }
    return drawn;
}

std::pair<std::size_t, std::size_t> devices_between(std::size_t devices, double height, double a,
                                                    double b) {
    if (devices == 0 || height <= 0) return {0, 0};
    const auto at = [&](double y) {
        const double device = std::floor(y / height * static_cast<double>(devices));
        return static_cast<std::size_t>(std::clamp(device, 0.0, static_cast<double>(devices - 1)));
    };
    const auto [top, bottom] = std::minmax(a, b);
    return {at(top), at(bottom)};
}

}  // namespace debubble::gui

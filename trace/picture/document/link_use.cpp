#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "trace/picture/document/document.h"
#include "trace/picture/document/link_table.h"

namespace debubble::picture {
namespace {

/// Calls add(begin, end, share of the limit) for each stretch of a bar over the class; times in
/// nanoseconds.
template <class Add>
void for_each_stretch(const LinkTable& table, const Span& span, std::uint32_t index, std::size_t of,
                      Add&& add) {
    const auto from = static_cast<double>(span.begin.time_since_epoch().count());
    const auto length = static_cast<double>(span.length().count());
    for (const LinkStretch& stretch : table.of(index)) {
        const double ns = length * (stretch.end - stretch.begin);
        if (stretch.of != of || ns <= 0) continue;
        add(from + length * stretch.begin, from + length * stretch.end,
            std::min(1.0, 1e9 * stretch.busy_s / ns));
    }
}

/// Calls add(begin, end, share of the limit) for every bar of a device that overlaps the range.
template <class Add>
void for_each_stretch(const TimelineDocument& document, const Device& device, TimeRange range,
                      std::size_t of, Add&& add) {
    const auto over = [&](const Bars& bars) {
        const auto [first, last] = bars_in(bars, range);
        for (std::size_t i = first; i < last; ++i)
            for_each_stretch(*document.link_table, document.span(bars[i].span), bars[i].span, of,
                             add);
    };
    over(device.work);
    for (const Stream& stream : device.streams) over(stream.bars);
}

}  // namespace

std::vector<float> link_use(const TimelineDocument& document, const Device& device, std::size_t of,
                            const TimeAxis& axis) {
    const auto columns = static_cast<std::size_t>(std::lround(axis.width()));
    std::vector<float> shares(columns);
    if (columns == 0) return shares;
    const TimeRange shown = axis.shown();
    const auto origin = static_cast<double>(shown.begin.time_since_epoch().count());
    const double per_ns =
        static_cast<double>(columns) / static_cast<double>(shown.length().count());
    const auto add = [&](double begin, double end, double level) {
        const double left = std::clamp((begin - origin) * per_ns, 0.0, double(columns));
        const double right = std::clamp((end - origin) * per_ns, 0.0, double(columns));
        for (auto x = static_cast<std::size_t>(left); x < columns && double(x) < right; ++x) {
            const double covered = std::min(right, double(x + 1)) - std::max(left, double(x));
            shares[x] += static_cast<float>(level * covered);
        }
    };
    for_each_stretch(document, device, shown, of, add);
    for (float& share : shares) share = std::min(share, 1.0F);
    return shares;
}

double mean_link_use(const TimelineDocument& document, const Device& device, std::size_t of) {
    double busy = 0;
    for_each_stretch(
        document, device, document.range, of,
        [&](double begin, double end, double level) { busy += level * (end - begin); });
    const auto all = static_cast<double>(document.range.length().count());
    return all > 0 ? std::min(1.0, busy / all) : 0;
}

std::string link_words(const TimelineDocument& document, const Device& device, std::size_t of) {
    const LinkClass& links = document.link_table->classes[of];
    const double limit = links.limits[device.rank.index].value / 1e9;
    const double mean = mean_link_use(document, device, of);
    return links.known_limits ? fmt::format("{:.1f} % of {:.3g} GB/s", 100 * mean, limit)
                              : fmt::format("{:.3g} GB/s, at most {:.3g}", mean * limit, limit);
}

}  // namespace debubble::picture

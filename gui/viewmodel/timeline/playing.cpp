#include "gui/viewmodel/timeline/playing.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/hit.h"
#include "gui/viewmodel/timeline/waits.h"
#include "gui/viewmodel/timeline/words.h"
#include "text/wording.h"
#include "trace/picture/svg_text.h"

namespace debubble::gui {
namespace {

constexpr double kLetter = 10;
constexpr double kMessage = 4;  ///< radius in pixels

std::string waiting_words(const TimelineDocument& document, const Bubble& bubble, Instant at) {
    const std::string left = text::time_text(bubble.end - at);
    switch (bubble.cause) {
        case BubbleCause::WarmUp: return filled(said("play", "begins in {}"), left);
        case BubbleCause::CoolDown: return said("play", "has done its passes");
        case BubbleCause::Optimizer:
            return filled(said("play", "waits at the optimizer, {}"), left);
        case BubbleCause::Launch: return filled(said("play", "waits for its host, {}"), left);
        default: break;
    }
    const auto end = action_that_ends(document, bubble);
    if (!end) return filled(said("play", "waits, {}"), left);
    const Span& span = document.span(*end);
    const bool other = span.rank != bubble.rank;
    return other ? filled(said("play", "waits for {} of rank {}, {}"), to_text(span.action),
                          span.rank.index, left)
                 : filled(said("play", "waits for {}, {}"), to_text(span.action), left);
}

const Device* device_with(const TimelineDocument& document, Rank rank, std::int32_t replica) {
    const auto found = std::ranges::find_if(document.devices, [&](const Device& device) {
        return device.rank == rank && device.replica == replica;
    });
    return found == document.devices.end() ? nullptr : &*found;
}

void add_messages(Now& now, const TimelineDocument& document, const Device& device, Instant at) {
    for (const Stream& stream : device.streams) {
        const Bar* bar = bar_at(stream.bars, at);
        if (bar == nullptr) continue;
        const Span& span = document.span(bar->span);
        const auto* send = std::get_if<Send>(&span.action);
        const Device* to =
            send == nullptr ? nullptr : device_with(document, send->to, device.replica);
        if (to == nullptr || span.length() <= Duration{}) continue;
        now.messages.push_back(
            {bar->span, &device, to, seconds(at - span.begin) / seconds(span.length())});
    }
}

class PlayingShapes {
public:
    PlayingShapes(const Scene& scene, const View& view) : scene_(scene), view_(view) {}

    Shapes all() {
        cursor();
        for (const Side side : {Side::A, Side::B})
            if (side == Side::A || scene_.comparison) of_side(side);
        return std::move(out_);
    }

private:
    Rgb accent() const { return view_.ground().accent; }

    void cursor() {
        const double x = std::floor(view_.x(*scene_.cursor)) + 0.5;
        const Rect lanes = view_.geometry.lanes();
        out_.emplace_back(Line{{x, lanes.y}, {x, lanes.bottom()}, accent(), 1.5});
        if (const std::string words = comparison_progress(scene_, *scene_.cursor); !words.empty())
            plate(x + 6, lanes.y + kLetter * view_.geometry.scale, words, accent());
    }

    void of_side(Side side) {
        const Layer& layer = scene_.layer(side);
        if (!layer) return;
        const Instant at = *scene_.cursor - layer.shift;
        const Now now = now_at(*layer.document, at);
        for (const Row& row : scene_.layout.rows) {
            if (!row.is_own() || !view_.shows(scene_, row)) continue;
            const Device* device = scene_.device(row, side);
            const auto doing = std::ranges::find(now.devices, device, &DeviceState::device);
            if (doing == now.devices.end()) continue;
            if (doing->span) running(row, side, *doing->span);
            if (doing->bubble) waiting(row, side, *doing);
            memory(row, side, *device, at);
        }
        for (const Transfer& message : now.messages) transfer(message, side);
    }

    static Band bars(const Row& row, Side side) { return side == Side::A ? row.bars : row.other; }

    void running(const Row& row, Side side, std::uint32_t span) {
        const Layer& layer = scene_.layer(side);
        const TimeRange range = layer.on_axis(layer.document->span(span));
        const double left = view_.x(range.begin);
        const Band band = bars(row, side);
        out_.emplace_back(Frame{{left, view_.y(row, band.y),
                                 std::max(view_.x(range.end) - left, 2.0), double(band.height)},
                                view_.ground().text,
                                2});
    }

    void waiting(const Row& row, Side side, const DeviceState& doing) {
        const Band band = bars(row, side);
        plate(view_.x(*scene_.cursor) + 6, view_.y(row, band.y) + band.height / 2.0, doing.words,
              view_.ground().warning);
    }

    void memory(const Row& row, Side side, const Device& device, Instant at) {
        const Band band = side == Side::A ? row.memory : row.other_memory;
        if (band.height <= 0 || row.heat || device.memory.empty()) return;
        const Bytes held = device.memory.held_at(at);
        const double x = view_.x(*scene_.cursor);
        const double y = view_.y(row, scene_.memory_scale().y(band, held));
        out_.emplace_back(Dot{{x, y}, 3, accent(), view_.ground().window, {}});
        plate(x + 6, y, text::gib_text(held) + " GiB", view_.ground().memory_edge);
    }

    /// Draws words on a ground of their own, since they cover bars; left of the cursor if they do
    /// not fit on its right.
    void plate(double x, double y, const std::string& words, Rgb fill) {
        const double size = kLetter * view_.geometry.scale;
        const double width = svg::text_width(words, size) + 8;
        const Rect lanes = view_.geometry.lanes();
        if (x + width > lanes.right()) x -= width + 12;
        out_.emplace_back(Area{{x, y - 0.7 * size, width, 1.4 * size}, fill, 0.9});
        out_.emplace_back(Text{{x + 4, y}, words, size, ink_on(fill), Anchor::Start});
    }

    std::optional<double> middle_of(const Device* device, Side side) const {
        const Layer& layer = scene_.layer(side);
        const std::size_t index = device - layer.document->devices.data();
        for (const Row& row : scene_.layout.rows) {
            if (!row.is_own() || scene_.device(row, side) != &layer.document->devices[index])
                continue;
            const Band band = bars(row, side);
            return view_.y(row, band.y) + band.height / 2.0;
        }
        return std::nullopt;
    }

    void transfer(const Transfer& message, Side side) {
        const auto from = middle_of(message.from, side);
        const auto to = middle_of(message.to, side);
        if (!from || !to) return;
        const double x = view_.x(*scene_.cursor);
        const double y = *from + (*to - *from) * std::clamp(message.share, 0.0, 1.0);
        const Rgb ink = picture::paint(Paint::PointToPoint, view_.theme);
        out_.emplace_back(Line{{x, *from}, {x, y}, ink, 2});
        out_.emplace_back(Dot{{x, y}, kMessage, ink, view_.ground().window, {}});
    }

    const Scene& scene_;
    const View& view_;
    Shapes out_;
};

}  // namespace

Now now_at(const TimelineDocument& document, Instant at) {
    Now now;
    for (const Device& device : document.devices) {
        DeviceState doing{&device, {}, {}, {}};
        const Bar* bar = bar_at(device.work, at);
        if (bar == nullptr) bar = bar_at(device.between, at);
        if (bar != nullptr)
            doing.span = bar->span;
        else if (const auto bubble = bubble_at(document, device, at)) {
            doing.bubble = bubble;
            doing.words = waiting_words(document, document.bubble(*bubble), at);
        }
        now.devices.push_back(std::move(doing));
        add_messages(now, document, device, at);
    }
    return now;
}

namespace {

std::string progress_words(const Scene& scene, Side side, Instant at) {
    const Layer& layer = scene.layer(side);
    const Instant there = at - layer.shift;
    const char* name = side == Side::A ? "A" : "B";
    std::size_t all = 0;
    std::size_t ended = 0;
    Instant last = layer.document->range.begin;
    for (const Device& device : layer.document->devices) {
        all += device.work.size();
        ended += std::ranges::upper_bound(device.work, there, {}, &Bar::end) - device.work.begin();
        if (!device.work.empty()) last = std::max(last, device.work.back().end);
    }
    if (ended == all)
        return filled(said("play", "{} done at {}"), name,
                      text::time_text(last - layer.document->range.begin));
    return fmt::format("{} {} %", name, 100 * ended / all);
}

}  // namespace

std::string comparison_progress(const Scene& scene, Instant at) {
    if (!scene.comparison || !scene.main || !scene.other) return {};
    return progress_words(scene, Side::A, at) + ", " + progress_words(scene, Side::B, at);
}

std::optional<Instant> advanced(const TimeAxis& axis, Instant at, double wall_s) {
    const double share = wall_s / kSecondsAcross;
    const auto step = static_cast<Duration::rep>(
        std::llround(share * static_cast<double>(axis.shown().length().count())));
    const Instant next = at + Duration{std::max<Duration::rep>(step, 1)};
    if (next >= axis.whole().end) return std::nullopt;
    return next;
}

Shapes playing_shapes(const Scene& scene, const View& view) {
    if (!scene.cursor || !scene.main) return {};
    return PlayingShapes(scene, view).all();
}

}  // namespace debubble::gui

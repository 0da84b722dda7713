#include "trace/picture/svg_memory.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "trace/picture/svg_text.h"

namespace debubble::svg {
namespace {

constexpr const char* kStaticFill = "#AEBBC6";
constexpr const char* kLiveFill = "#DCE4EA";
constexpr const char* kEdge = "#53677A";
constexpr const char* kTooMuch = "#D7263D";

bool is_static(MemoryClass c) {
    return c != MemoryClass::Activations && c != MemoryClass::Workspace;
}

/// The greatest total and the greatest static part of every column of pixels.
struct Profile {
    std::vector<Bytes> total;
    std::vector<Bytes> lasting;
};

Profile profile_of(const MemoryLane& lane) {
    const auto columns = static_cast<std::size_t>(std::ceil(lane.scale.width)) + 1;
    Profile profile{std::vector<Bytes>(columns), std::vector<Bytes>(columns)};
    MemoryByClass held{};
    Bytes lasting;
    std::size_t column = 0;
    const auto note = [&] {
        profile.total[column] = std::max(profile.total[column], total(held));
        profile.lasting[column] = std::max(profile.lasting[column], lasting);
    };
    for (std::size_t i = 0; i < lane.samples.size();) {
        const Instant at = lane.samples[i].at;
        const double x = std::clamp(lane.scale.x(at) - lane.scale.left, 0.0, lane.scale.width);
        while (column < static_cast<std::size_t>(x)) {
            ++column;
            note();
        }
        // All classes that change at one instant change together.
        for (; i < lane.samples.size() && lane.samples[i].at == at; ++i) {
            const MemorySample& sample = lane.samples[i];
            Bytes& of_class = held[static_cast<std::size_t>(sample.held_as)];
            if (is_static(sample.held_as)) lasting += sample.held - of_class;
            of_class = sample.held;
        }
        note();
    }
    while (++column < columns) note();
    return profile;
}

class Painter {
public:
    explicit Painter(const MemoryLane& lane) : lane_(lane) {}

    double y(Bytes held) const {
        const double part = static_cast<double>(held.count) /
                            static_cast<double>(std::max<std::int64_t>(lane_.top.count, 1));
        return lane_.band.y + lane_.band.height * (1 - std::clamp(part, 0.0, 1.0));
    }
    /// The outline, in steps, of the part of a column profile above `floor`.
    std::string steps(const std::vector<Bytes>& held, Bytes floor = {}) const {
        const double bottom = y(floor);
        std::string d = fmt::format("M{} {}", number(lane_.scale.left), number(bottom));
        double reached = bottom;
        for (std::size_t c = 0; c < held.size(); ++c) {
            const double to = std::min(std::round(y(held[c]) * 10) / 10, bottom);
            if (to == reached) continue;
            const double x = lane_.scale.left + std::min(static_cast<double>(c), lane_.scale.width);
            d += fmt::format("H{}V{}", number(x), number(to));
            reached = to;
        }
        return d +
               fmt::format("H{}V{}Z", number(lane_.scale.left + lane_.scale.width), number(bottom));
    }

private:
    const MemoryLane& lane_;
};

void write_limit(const MemoryLane& lane, const Painter& painter, const Profile& profile,
                 std::ostream& out) {
    const auto most = *std::ranges::max_element(profile.total);
    if (most > *lane.limit)
        out << fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", kTooMuch,
                           painter.steps(profile.total, *lane.limit));
    out << fmt::format("<path d=\"M{} {}h{}\" stroke=\"{}\" stroke-dasharray=\"6 4\"/>\n",
                       number(lane.scale.left), number(painter.y(*lane.limit)),
                       number(lane.scale.width), kTooMuch);
}

void write_peak(const MemoryLane& lane, const Painter& painter, bool exceeded, std::ostream& out) {
    const Bytes held = total(lane.peak->held);
    std::string title = fmt::format("peak {:.2f} GiB at {}", gib(held), lane.peak->action);
    if (!lane.peak->op.empty()) title += ", " + lane.peak->op;
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        title += fmt::format("\n{} {:.2f} GiB", name_of(static_cast<MemoryClass>(c)),
                             gib(lane.peak->held[c]));
    std::string safe;
    for (std::size_t at = 0; at <= title.size();) {  // line breaks are kept
        const std::size_t end = std::min(title.find('\n', at), title.size());
        safe += escaped(std::string_view(title).substr(at, end - at)) +
                (end < title.size() ? "\n" : "");
        at = end + 1;
    }
    out << fmt::format(R"(<circle cx="{}" cy="{}" r="3.2" fill="{}" stroke="#FFFFFF">)"
                       "<title>{}</title></circle>\n",
                       number(lane.scale.x(lane.peak->at)), number(painter.y(held)),
                       exceeded ? kTooMuch : "#1F2D3A", safe);
}

}  // namespace

void write_memory(const MemoryLane& lane, std::ostream& out) {
    const Painter painter(lane);
    const Profile profile = profile_of(lane);
    const std::string outline = painter.steps(profile.total);
    out << fmt::format("<path fill=\"{}\" d=\"{}\"/><path fill=\"{}\" d=\"{}\"/>\n", kLiveFill,
                       outline, kStaticFill, painter.steps(profile.lasting));
    if (lane.limit) write_limit(lane, painter, profile, out);
    out << fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"0.7\" d=\"{}\"/>\n", kEdge,
                       outline);
    if (lane.peak == nullptr) return;
    const bool exceeded = lane.limit && total(lane.peak->held) > *lane.limit;
    write_peak(lane, painter, exceeded, out);
}

}  // namespace debubble::svg

#include "trace/picture/step_parts.h"

#include <fmt/format.h>

#include "text/wording.h"
#include "trace/picture/bubbles.h"

namespace debubble::picture {

std::vector<StepPart> step_parts(const Device& device) {
    std::vector<StepPart> parts;
    if (device.statistics == nullptr) return parts;
    const RankStatistics& rank = *device.statistics;
    const auto add = [&](const char* name, Duration time, Rgb light, Rgb dark) {
        if (time > Duration{}) parts.push_back({name, time, light, dark, false});
    };
    const auto add_like = [&](const char* name, Duration time, Paint of) {
        add(name, time, paint(of, Theme::Light), paint(of, Theme::Dark));
    };
    // Grey in every colouring, so that the other parts stand out.
    add("compute", rank.busy, ground_of(Theme::Light).memory_lasting,
        ground_of(Theme::Dark).memory_lasting);
    add_like("exposed communication", rank.exposed, Paint::Collective);
    add_like("optimizer", rank.optimizer, Paint::Optimizer);
    for (std::size_t c = 0; c < kBubbleCauses; ++c) {
        const auto cause = static_cast<BubbleCause>(c);
        if (rank.idle_by_cause[c] > Duration{})
            parts.push_back({fmt::format("idle: {}", wording_of(cause)), rank.idle_by_cause[c],
                             bubble_colours(cause, Theme::Light).line,
                             bubble_colours(cause, Theme::Dark).line, true});
    }
    return parts;
}

Duration length_of(const std::vector<StepPart>& parts) {
    Duration step{};
    for (const StepPart& part : parts) step += part.time;
    return step;
}

std::string text_of(const StepPart& part, Duration step) {
    const double share = step > Duration{} ? seconds(part.time) / seconds(step) : 0;
    return fmt::format("{}, {}", text::time_text(part.time), text::percent(share));
}

Shapes step_bar(const Device& device, Rect rect, Theme theme, bool tips) {
    Shapes bar;
    const std::vector<StepPart> parts = step_parts(device);
    const Duration step = length_of(parts);
    Duration before{};
    for (const StepPart& part : parts) {
        const double left = rect.x + rect.width * (seconds(before) / seconds(step));
        before += part.time;
        const double right = rect.x + rect.width * (seconds(before) / seconds(step));
        Area area{{left, rect.y, right - left, rect.height}, part.colour(theme)};
        if (tips)
            area.tip = fmt::format("{} \u00b7 {} {}", device.name, part.name, text_of(part, step));
        bar.emplace_back(std::move(area));
    }
    return bar;
}

}  // namespace debubble::picture

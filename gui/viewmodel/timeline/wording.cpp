#include "gui/viewmodel/timeline/wording.h"

#include <algorithm>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/waits.h"
#include "gui/viewmodel/timeline/words.h"
#include "text/wording.h"
#include "trace/picture/step_parts.h"

namespace debubble::gui {
namespace {

using text::size_text;
using text::time_text;

/// The direct dependency of a span that ended last.
std::string reason_of_begin(const TimelineDocument& document, std::uint32_t index) {
    const Span& span = document.span(index);
    const Span* last = nullptr;
    for (const std::uint32_t needed : document.links.needs(index))
        if (last == nullptr || document.span(needed).end > last->end) last = &document.span(needed);
    if (last == nullptr) return said("details", "waits for nothing");
    const Duration after = span.begin - last->end;
    const std::string what = last->rank == span.rank ? to_text(last->action) : place_text(*last);
    return after > Duration{} ? filled(said("details", "{} after {}"), time_text(after), what)
                              : filled(said("details", "follows {}"), what);
}

/// The idle time of a device and its share of the step.
std::string idle_text(const Device& device) {
    const std::vector<StepPart> parts = step_parts(device);
    StepPart all;
    for (const StepPart& part : parts)
        if (part.idle) all.time += part.time;
    return text_of(all, length_of(parts));
}

/// The idle time of a device by its causes.
std::vector<Detail> details_of_idle(const Device& device) {
    const std::vector<StepPart> parts = step_parts(device);
    std::vector<Detail> details;
    for (const StepPart& part : parts)
        if (part.idle)
            details.push_back({said("parts", part.name), text_of(part, length_of(parts))});
    return details;
}

}  // namespace

std::string said_cause(BubbleCause cause) {
    return said("causes", std::string(wording_of(cause)));
}

std::vector<Detail> details_of(const TimelineDocument& document, std::uint32_t index) {
    const Span& span = document.span(index);
    const Device* device = document.device_of(span);
    std::vector<Detail> details{
        {said("details", "action"), to_text(span.action)},
        {"", describe(span.action)},
        {said("details", "where"), device == nullptr ? std::string() : device->name},
        {said("details", "start"), time_text(span.begin - document.range.begin)},
        {said("details", "duration"), time_text(span.length())},
    };
    const Duration waited = document.waits[index];
    if (waited > Duration{})
        details.push_back({said("details", "of it waiting"), time_text(waited)});
    if (span.exposed > Duration{})
        details.push_back({said("details", "exposed communication"), exposed_text(document, span)});
    if (span.bytes.count > 0) {
        details.push_back({said("details", "bytes"), size_text(span.bytes)});
        const double net = seconds(document.net_length(index));
        if (net > 0)
            details.push_back(
                {"rate",
                 fmt::format("{:.3g} GB/s", static_cast<double>(span.bytes.count) / net / 1e9)});
    }
    details.push_back({said("details", "begins"), reason_of_begin(document, index)});
    return details;
}

std::vector<Detail> details_of(const TimelineDocument& document, const Bubble& bubble) {
    const Duration length = bubble.end - bubble.begin;
    const Duration step = document.range.length();
    const double share = step > Duration{} ? seconds(length) / seconds(step) : 0;
    std::vector<Detail> details{
        {said("details", "bubble"), cause_of(document, bubble)},
        {said("details", "where"), filled(said("details", "rank {}"), bubble.rank.index)},
        {said("details", "start"), time_text(bubble.begin - document.range.begin)},
        {said("details", "duration"),
         filled(said("details", "{}, {:.2g} % of the step"), time_text(length), 100 * share)},
    };
    if (const auto end = action_that_ends(document, bubble))
        details.push_back({said("details", "ended by"), place_text(document.span(*end))});
    const Device* device = document.device_of(bubble.rank);
    if (device != nullptr && device->statistics != nullptr)
        details.push_back(
            {said("details", "idle in all"), idle_text(*device), details_of_idle(*device)});
    return details;
}

std::vector<Detail> details_of_step(const Device& device) {
    const std::vector<StepPart> parts = step_parts(device);
    std::vector<Detail> details;
    for (const StepPart& part : parts)
        details.push_back({said("parts", part.name), text_of(part, length_of(parts))});
    return details;
}

std::string spoken(const std::vector<Detail>& details) {
    std::string line;
    for (const Detail& detail : details) {
        if (detail.value.empty()) continue;
        line += fmt::format("{}{}{}{}", line.empty() ? "" : "; ", detail.name,
                            detail.name.empty() ? "" : ": ", detail.value);
    }
    return line;
}

std::vector<Detail> details_of_memory(const TimelineDocument& document, const Device& device,
                                      Instant at) {
    if (device.memory.empty()) return details_of_peak(document, device);
    std::vector<Detail> details{
        {said("details", "held"), text::gib_text(device.memory.held_at(at)) + " GiB"},
        {said("details", "where"), device.name},
        {said("details", "at"), time_text(at - document.range.begin)},
    };
    if (const Bar* bar = bar_at(device.work, at))
        details.push_back({said("details", "during"), to_text(document.span(bar->span).action)});
    const MemoryByClass held = device.memory.held_by_class(at);
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        if (held[c].count > 0)
            details.push_back({said("classes", std::string(name_of(static_cast<MemoryClass>(c)))),
                               size_text(held[c])});
    if (device.peak != nullptr)
        details.push_back(
            {said("details", "peak"), text::gib_text(total(device.peak->held)) + " GiB"});
    return details;
}

std::vector<Detail> details_of_links(const TimelineDocument& document, const Device& device,
                                     std::size_t of, Instant at) {
    const picture::LinkClass& links = document.link_table->classes[of];
    const double limit = links.limits[device.rank.index].value;
    const TimeAxis instant({at, at + Duration{1}}, 1);
    const double used = picture::link_use(document, device, of, instant).front();
    const auto rate = [&](double share) {
        return links.known_limits
                   ? filled(said("details", "{:.1f} % of {:.3g} GB/s"), 100 * share, limit / 1e9)
                   : fmt::format("{:.3g} GB/s", share * limit / 1e9);
    };
    return {{said("details", "links"), said("details", links.name)},
            {said("details", "where"), device.name},
            {said("details", "at"), time_text(at - document.range.begin)},
            {said("details", "used"), rate(used)},
            {said("details", "on average"), rate(picture::mean_link_use(document, device, of))}};
}

std::vector<Detail> details_of_peak(const TimelineDocument& document, const Device& device) {
    if (device.peak == nullptr) return {};
    const MemoryPeak& peak = *device.peak;
    const Bytes held = total(peak.held);
    std::vector<Detail> details{
        {said("details", "peak"), text::gib_text(held) + " GiB"},
        {said("details", "where"), device.name},
        {said("details", "at"),
         peak.op.empty() ? peak.action : fmt::format("{}, {}", peak.action, peak.op)},
    };
    const std::size_t rank = device.rank.index;
    if (rank < document.memory_left.size()) {
        const Bytes left = document.memory_left[rank];
        details.push_back(left < Bytes{}
                              ? Detail{said("details", "lacking"), size_text(Bytes{} - left)}
                              : Detail{said("details", "left"), size_text(left)});
    } else if (document.memory_limit) {
        const Bytes left = *document.memory_limit - held;
        details.push_back(
            left < Bytes{} ? Detail{said("details", "above the limit"), size_text(Bytes{} - left)}
                           : Detail{said("details", "left"), size_text(left)});
    }
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        if (peak.held[c].count > 0)
            details.push_back({said("classes", std::string(name_of(static_cast<MemoryClass>(c)))),
                               size_text(peak.held[c])});
    return details;
}

std::string idle_summary(const TimelineDocument& document) {
    const auto sums = idle_by_cause(document.statistics);
    const double all =
        seconds(document.statistics.step) * static_cast<double>(document.statistics.ranks.size());
    if (all <= 0) return {};
    std::vector<std::size_t> causes;
    for (std::size_t c = 0; c < kBubbleCauses; ++c)
        if (sums[c] > Duration{}) causes.push_back(c);
    std::ranges::stable_sort(causes, std::ranges::greater{},
                             [&](std::size_t c) { return sums[c]; });
    Duration idle{};
    for (const Duration sum : sums) idle += sum;
    std::string text = filled(said("details", "idle {:.1f} %"), 100 * seconds(idle) / all);
    for (std::size_t i = 0; i < causes.size(); ++i)
        text += fmt::format("{}{} {:.1f} %", i == 0 ? ": " : ", ",
                            name_of(static_cast<BubbleCause>(causes[i])),
                            100 * seconds(sums[causes[i]]) / all);
    return text;
}

}  // namespace debubble::gui

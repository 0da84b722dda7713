#include "trace/profile/rank_profile.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace debubble::profile {

std::uint32_t Names::number_of(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(text);
    numbers_.emplace(texts_.back(), number);
    return number;
}

namespace {

bool holds(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

/// The innermost range of NCCL in which a kernel was launched; empty if there is none.
std::string_view launched_in(const RankProfile& profile, const DeviceSpan& kernel) {
    if (kernel.launched == kNoLaunch) return {};
    constexpr int kLooked = 64;
    int looked = 0;
    auto range = std::ranges::upper_bound(profile.ranges, kernel.launched, {}, &HostSpan::begin);
    while (range != profile.ranges.begin() && looked++ < kLooked) {
        --range;
        const std::string_view name = profile.names[range->name];
        if (range->end >= kernel.launched && name.starts_with("nccl:")) return name;
    }
    return {};
}

/// NCCL also uses SendRecv kernels for other collectives. The recorded collective decides, else the
/// range in which the kernel was launched, else the other communication of its stream.
void tell_exchanges_apart(RankProfile& profile) {
    std::set<std::int32_t> exchanging;  // streams
    std::vector<std::size_t> unsure;
    for (std::size_t i = 0; i < profile.kernels.size(); ++i) {
        DeviceSpan& kernel = profile.kernels[i];
        if (kernel.kernel_class != KernelClass::PointToPoint) continue;
        const std::optional<std::string>& noted = profile.notes[kernel.note].collective;
        const std::string_view words =
            noted ? std::string_view(*noted) : launched_in(profile, kernel);
        if (holds(words, "all_to_all") || holds(words, "alltoall")) {
            kernel.kernel_class = KernelClass::Dispatch;
            exchanging.insert(kernel.stream);
        } else if (holds(words, "gather") || holds(words, "scatter")) {
            kernel.kernel_class = KernelClass::Collective;
        } else if (holds(words, "reduce") || holds(words, "broadcast")) {
            unsure.push_back(i);
        }
    }
    for (const std::size_t i : unsure)
        profile.kernels[i].kernel_class = exchanging.contains(profile.kernels[i].stream)
                                              ? KernelClass::Dispatch
                                              : KernelClass::Collective;
}

/// A range of gloo begins when its call is about to return, by when the message may be in flight.
void begin_messages_with_calls(RankProfile& profile) {
    std::vector<HostSpan> calls;
    for (const HostSpan& op : profile.ops)
        if (profile.names[op.name].starts_with("c10d::")) calls.push_back(op);
    for (HostSpan& range : profile.ranges) {
        if (!profile.names[range.name].starts_with("gloo:")) continue;
        const auto after = std::ranges::upper_bound(calls, range.begin, {}, &HostSpan::begin);
        if (after != calls.begin() && (after - 1)->end >= range.begin &&
            (after - 1)->thread == range.thread)
            range.begin = (after - 1)->begin;
    }
}

}  // namespace

void finish(RankProfile& profile) {
    const auto by_time = [](const auto& a, const auto& b) {
        return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    };
    std::ranges::stable_sort(profile.kernels, by_time);
    std::ranges::stable_sort(profile.ops, by_time);
    begin_messages_with_calls(profile);
    // The outer of two ranges that begin together comes first.
    std::ranges::stable_sort(profile.ranges, [](const HostSpan& a, const HostSpan& b) {
        return std::tie(a.begin, b.end) < std::tie(b.begin, a.end);
    });
    std::vector<KernelClass> classes;
    for (std::uint32_t i = 0; i < profile.names.size(); ++i)
        classes.push_back(class_of(profile.names[i]));
    for (DeviceSpan& kernel : profile.kernels) {
        if (kernel.kernel_class != KernelClass::Copy) kernel.kernel_class = classes[kernel.name];
    }
    tell_exchanges_apart(profile);
}

}  // namespace debubble::profile

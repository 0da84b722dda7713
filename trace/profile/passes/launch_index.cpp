#include "trace/profile/passes/accounts.h"

#include <algorithm>

namespace debubble::profile {
namespace {

Intervals collectives_of(const RankProfile& profile) {
    Intervals out;
    for (const DeviceSpan& kernel : profile.kernels)
        if (kernel.kernel_class == KernelClass::Collective ||
            kernel.kernel_class == KernelClass::Dispatch)
            out.push_back({kernel.begin, kernel.end});
    return union_of(std::move(out));
}

}  // namespace

LaunchIndex::LaunchIndex(const RankProfile& profile)
    : profile_(profile), compute_(compute_of(profile)), collectives_(collectives_of(profile)) {
    for (std::uint32_t i = 0; i < profile.kernels.size(); ++i)
        if (profile.kernels[i].launched != kNoLaunch) by_launch_.push_back(i);
    std::ranges::stable_sort(by_launch_, {},
                             [&](std::uint32_t i) { return profile.kernels[i].launched; });
}

std::span<const std::uint32_t> LaunchIndex::launched_in(std::int64_t begin,
                                                        std::int64_t end) const {
    const auto launched = [&](std::uint32_t i) { return profile_.kernels[i].launched; };
    const auto first = std::ranges::lower_bound(by_launch_, begin, {}, launched);
    const auto last = std::ranges::upper_bound(by_launch_, end, {}, launched);
    if (last <= first) return {};
    return {first, last};
}

std::int64_t LaunchIndex::exposed_in(std::int64_t begin, std::int64_t end) const {
    const Intervals communication = clipped(collectives_, begin, end);
    if (communication.empty()) return 0;
    return length_of(communication) - common_length(communication, clipped(compute_, begin, end));
}

std::int64_t bytes_of(const CollectiveNote& note) {
    const auto is = [&](std::string_view word) {
        return note.type.find(word) != std::string::npos;
    };
    if (note.type.empty()) return 0;
    std::int64_t size = 4;  // Float, Int
    if (is("16") || is("Half")) size = 2;
    if (is("8") || is("Byte") || is("Char") || is("Bool")) size = 1;
    if (is("64") || is("Double") || is("Long")) size = 8;
    const std::int64_t elements = std::max(note.in_elements, note.out_elements);
    constexpr std::int64_t kMostElements = std::int64_t{1} << 48U;
    return std::clamp<std::int64_t>(elements, 0, kMostElements) * size;
}

}  // namespace debubble::profile

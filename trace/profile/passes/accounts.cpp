#include "trace/profile/passes/accounts.h"

#include <algorithm>

namespace debubble::profile {
namespace {

template <class Wanted>
Intervals of(const RankProfile& profile, Wanted&& wanted) {
    Intervals out;
    for (const DeviceSpan& kernel : profile.kernels)
        if (wanted(kernel.kernel_class)) out.push_back({kernel.begin, kernel.end});
    return union_of(std::move(out));
}

bool is_compute(KernelClass kernel_class) {
    return !is_communication(kernel_class) && kernel_class != KernelClass::Copy;
}

/// Idle time by the launch of the kernel that ends it.
void waits(const RankProfile& profile, DeviceAccount& account) {
    constexpr std::int64_t kShortGap = 30'000;
    std::int64_t free = INT64_MIN;
    for (const DeviceSpan& kernel : profile.kernels) {
        if (free != INT64_MIN && kernel.begin > free) {
            const std::int64_t gap = kernel.begin - free;
            if (kernel.launched != kNoLaunch && kernel.launched > free)
                account.host_wait += Duration{gap};
            else if (gap <= kShortGap)
                account.kernel_wait += Duration{gap};
        }
        free = std::max(free, kernel.end);
    }
}

}  // namespace

Intervals union_of(Intervals intervals) {
    std::ranges::sort(intervals, {}, &Interval::begin);
    Intervals out;
    for (const Interval& interval : intervals) {
        if (interval.end <= interval.begin) continue;
        if (!out.empty() && interval.begin <= out.back().end)
            out.back().end = std::max(out.back().end, interval.end);
        else
            out.push_back(interval);
    }
    return out;
}

std::int64_t length_of(const Intervals& united) {
    std::int64_t sum = 0;
    for (const Interval& interval : united) sum += interval.end - interval.begin;
    return sum;
}

std::int64_t common_length(const Intervals& a, const Intervals& b) {
    std::int64_t sum = 0;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        const std::int64_t begin = std::max(i->begin, j->begin);
        const std::int64_t end = std::min(i->end, j->end);
        sum += std::max<std::int64_t>(0, end - begin);
        i->end < j->end ? static_cast<void>(++i) : static_cast<void>(++j);
    }
    return sum;
}

Intervals clipped(const Intervals& united, std::int64_t begin, std::int64_t end) {
    Intervals out;
    auto i = std::ranges::upper_bound(united, begin, {}, &Interval::end);
    for (; i != united.end() && i->begin < end; ++i)
        out.push_back({std::max(i->begin, begin), std::min(i->end, end)});
    return out;
}

Intervals compute_of(const RankProfile& profile) {
    return of(profile, is_compute);
}

Intervals communication_of(const RankProfile& profile) {
    return of(profile, is_communication);
}

DeviceAccount account_of(const RankProfile& profile) {
    DeviceAccount out;
    out.kernels = profile.kernels.size();
    if (profile.kernels.empty()) return out;
    std::int64_t end = INT64_MIN;
    for (const DeviceSpan& kernel : profile.kernels) {
        end = std::max(end, kernel.end);
        out.by_class[kernel.kernel_class] += Duration{kernel.length()};
        ++out.count[kernel.kernel_class];
        if (kernel.kernel_class == KernelClass::Unknown && out.unknown.size() < 5 &&
            std::ranges::find(out.unknown, kernel.name) == out.unknown.end())
            out.unknown.push_back(kernel.name);
    }
    const Intervals compute = compute_of(profile);
    const Intervals communication = communication_of(profile);
    out.span = Duration{end - profile.kernels.front().begin};
    out.busy = Duration{length_of(of(profile, [](KernelClass) { return true; }))};
    out.compute = Duration{length_of(compute)};
    out.communication = Duration{length_of(communication)};
    out.overlapped = Duration{common_length(compute, communication)};
    out.exposed = out.communication - out.overlapped;
    out.idle = out.span - out.busy;
    waits(profile, out);
    return out;
}

}  // namespace debubble::profile

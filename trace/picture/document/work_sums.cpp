#include "trace/picture/document/work_sums.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace debubble::picture {
namespace {

constexpr std::uint64_t kWhole = std::numeric_limits<std::uint32_t>::max();

/// a x b / c, rounded. Precondition: a <= c or b <= c.
std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    if (a <= kWhole && b <= kWhole) return (a * b + c / 2) / c;
    return static_cast<std::uint64_t>(
        static_cast<double>(a) / static_cast<double>(c) * static_cast<double>(b) + 0.5);
}

void add(WorkArea& sum, const WorkArea& more) {
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind) sum[kind] += more[kind];
}

}  // namespace

BarWork::BarWork(Duration exposed, Duration length, WorkKind first, WorkKind second)
    : first_(first), second_(second) {
    assert(exposed >= Duration{} && exposed <= length && "the exposed part is within the length");
    if (length > Duration{})
        exposed_ =
            static_cast<std::uint32_t>(scaled(static_cast<std::uint64_t>(exposed.count()), kWhole,
                                              static_cast<std::uint64_t>(length.count())));
}

WorkArea BarWork::of(Duration length) const {
    WorkArea work{};
    std::int64_t exposed = 0;  // of most bars
    if (exposed_ == kWhole)
        exposed = length.count();
    else if (exposed_ != 0)
        exposed = static_cast<std::int64_t>(
            scaled(exposed_, static_cast<std::uint64_t>(length.count()), kWhole));
    const std::int64_t rest = length.count() - exposed;
    work[WorkKind::Exposed] = exposed;
    work[first_] += rest - rest / 2;
    work[second_] += rest / 2;
    return work;
}

void BarWork::add_part(WorkArea& work, Duration length, double share) const {
    const WorkArea all = of(length);
    const auto add = [&](WorkKind kind) {
        const double part = static_cast<double>(all[kind]) * share;
        work[kind] += static_cast<std::int64_t>(part + 0.5);
    };
    if (exposed_ > 0) add(WorkKind::Exposed);
    add(first_);
    if (second_ != first_) add(second_);
}

WorkSums::WorkSums(std::span<const Bar> bars, std::vector<BarWork> work)
    : bars_(bars), work_(std::move(work)) {
    assert(bars_.size() == work_.size() && "every bar has its work");
    before_.reserve(bars_.size() / kBlock + 1);
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        if (i % kBlock == 0) before_.push_back(all_);
        add(all_, work_[i].of(bars_[i].end - bars_[i].begin));
    }
    if (bars_.size() % kBlock == 0) before_.push_back(all_);
}

void WorkSums::put_between(std::span<const Bar> between) {
    between_ = between;
    between_before_.reserve(between_.size() + 1);
    std::int64_t exposed = 0;
    for (const Bar& bar : between_) {
        between_before_.push_back(exposed);
        exposed += (bar.end - bar.begin).count();
    }
    between_before_.push_back(exposed);
    all_[WorkKind::Exposed] += exposed;
}

/// Adds the work of a bar up to an instant before its end.
void WorkSums::add_start(WorkArea& work, std::size_t bar, Instant at) const {
    if (bar == bars_.size() || at <= bars_[bar].begin) return;
    const Duration length = bars_[bar].end - bars_[bar].begin;
    work_[bar].add_part(
        work, length,
        static_cast<double>((at - bars_[bar].begin).count()) / static_cast<double>(length.count()));
}

void WorkSums::add_between(WorkArea& work, std::size_t next, Instant at) const {
    std::int64_t& exposed = work[WorkKind::Exposed];
    exposed += between_before_[next];
    if (next < between_.size() && at > between_[next].begin)
        exposed += (at - between_[next].begin).count();
}

WorkArea WorkSums::over(TimeRange window) const {
    Walk walk(*this);
    const WorkArea left = walk.until(window.begin);
    WorkArea work = walk.until(window.end);
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind) work[kind] -= left[kind];
    return work;
}

WorkArea WorkSums::Walk::until(Instant at) {
    const WorkSums& sums = *sums_;
    if (sums.before_.empty()) return {};
    next_ = first_to_end_after(sums.bars_, next_, at);
    if (const std::size_t block = next_ / kBlock; block * kBlock >= summed_) {
        before_ = sums.before_[block];
        summed_ = block * kBlock;
    }
    for (; summed_ < next_; ++summed_) {
        const Bar& bar = sums.bars_[summed_];
        add(before_, sums.work_[summed_].of(bar.end - bar.begin));
    }
    WorkArea work = before_;
    sums.add_start(work, next_, at);
    if (sums.between_.empty()) return work;
    next_between_ = first_to_end_after(sums.between_, next_between_, at);
    sums.add_between(work, next_between_, at);
    return work;
}

}  // namespace debubble::picture

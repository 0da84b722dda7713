#include "trace/picture/document/work_sums.h"

#include <algorithm>

namespace debubble::picture {

WorkSums::WorkSums(const std::vector<Piece>& pieces) {
    if (pieces.empty()) return;
    entries_.reserve(pieces.size() + 1);
    WorkArea before{};
    for (const Piece& piece : pieces) {
        entries_.push_back({piece.range.begin, piece.range.end, before});
        for (std::size_t kind = 0; kind < kWorkKinds; ++kind) before[kind] += piece.work[kind];
    }
    entries_.push_back({Instant::max(), Instant::max(), before});
}

WorkArea WorkSums::at_piece(std::size_t next, Instant at) const {
    const Entry& entry = entries_[next];
    WorkArea work = entry.before;
    if (at <= entry.begin) return work;
    const double share = static_cast<double>((at - entry.begin).count()) /
                         static_cast<double>((entry.end - entry.begin).count());
    const WorkArea& after = entries_[next + 1].before;
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
        work[kind] += static_cast<std::int64_t>(
            static_cast<double>(after[kind] - entry.before[kind]) * share + 0.5);
    return work;
}

WorkArea WorkSums::over(TimeRange window) const {
    Walk walk(*this);
    const WorkArea left = walk.until(window.begin);
    WorkArea work = walk.until(window.end);
    for (std::size_t kind = 0; kind < kWorkKinds; ++kind) work[kind] -= left[kind];
    return work;
}

WorkArea WorkSums::Walk::until(Instant at) {
    const std::vector<Entry>& entries = sums_->entries_;
    if (entries.empty()) return {};
    // The steps double: near pieces are found at once, far ones in logarithmic time.
    std::size_t step = 1;
    std::size_t last = next_;
    while (entries[last].end <= at) {
        next_ = last + 1;
        last = std::min(last + step, entries.size() - 1);
        step *= 2;
    }
    const auto first = entries.begin() + static_cast<std::ptrdiff_t>(std::min(next_, last));
    const auto end = entries.begin() + static_cast<std::ptrdiff_t>(last) + 1;
    next_ = static_cast<std::size_t>(
        std::ranges::upper_bound(first, end, at, std::ranges::less{}, &Entry::end) -
        entries.begin());
    return sums_->at_piece(next_, at);
}

}  // namespace debubble::picture

#include "trace/profile/formats/recorded_kernels.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <tuple>

namespace debubble::profile {
namespace {

constexpr std::int64_t kMostSum = 1'000'000'000'000'000;  ///< ns of a sum
constexpr std::size_t kNoOperator = std::numeric_limits<std::size_t>::max();

/// Operators by thread and begin, the outer one first among those that begin together.
void sort_by_place(std::vector<OperatorSpan>& operators) {
    std::ranges::sort(operators, [](const OperatorSpan& one, const OperatorSpan& other) {
        return std::tuple(one.thread, one.begin, other.end) <
               std::tuple(other.thread, other.begin, one.end);
    });
}

/// The operator that contains each of them. Operators of a thread are nested.
std::vector<std::size_t> parents(const std::vector<OperatorSpan>& sorted) {
    std::vector<std::size_t> out(sorted.size(), kNoOperator);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        while (!open.empty() && (sorted[open.back()].thread != sorted[i].thread ||
                                 sorted[open.back()].end < sorted[i].end))
            open.pop_back();
        if (!open.empty()) out[i] = open.back();
        open.push_back(i);
    }
    return out;
}

class Owners {
public:
    Owners(const std::vector<OperatorSpan>& sorted, std::vector<LaunchSpan> launches)
        : operators_(sorted), parents_(parents(sorted)), launches_(std::move(launches)) {
        for (std::size_t i = 0; i < sorted.size(); ++i)
            if (sorted[i].external > 0) by_id_.emplace_back(sorted[i].external, i);
        std::ranges::sort(by_id_);
        std::ranges::stable_sort(launches_, {}, &LaunchSpan::correlation);
    }

    std::size_t of(const LaunchedKernel& kernel) const {
        if (const std::size_t found = by_id(kernel.external); found != kNoOperator) return found;
        const auto launch =
            std::ranges::lower_bound(launches_, kernel.correlation, {}, &LaunchSpan::correlation);
        if (kernel.correlation < 0 || launch == launches_.end() ||
            launch->correlation != kernel.correlation)
            return kNoOperator;
        return around(*launch);
    }

private:
    /// An id of several operators is ambiguous.
    std::size_t by_id(std::int64_t external) const {
        if (external <= 0) return kNoOperator;
        const auto found = std::ranges::equal_range(by_id_, external, {},
                                                    &std::pair<std::int64_t, std::size_t>::first);
        return found.size() == 1 ? found.front().second : kNoOperator;
    }

    std::size_t around(const LaunchSpan& launch) const {
        const auto place = [](const OperatorSpan& op) { return std::tuple(op.thread, op.begin); };
        const auto next = std::ranges::upper_bound(
            operators_, std::tuple(launch.thread, launch.begin), {}, place);
        if (next == operators_.begin()) return kNoOperator;
        std::size_t at = next - operators_.begin() - 1;
        if (operators_[at].thread != launch.thread) return kNoOperator;
        while (at != kNoOperator && operators_[at].end < launch.begin) at = parents_[at];
        return at;
    }

    const std::vector<OperatorSpan>& operators_;
    std::vector<std::size_t> parents_;
    std::vector<LaunchSpan> launches_;
    std::vector<std::pair<std::int64_t, std::size_t>> by_id_;
};

}  // namespace

OperatorTimes kernel_times(std::vector<OperatorSpan>& operators,
                           const std::vector<LaunchedKernel>& kernels,
                           std::vector<LaunchSpan> launches) {
    sort_by_place(operators);
    const Owners owners(operators, std::move(launches));
    OperatorTimes out{std::vector<std::int64_t>(operators.size(), 0), 0};
    for (const LaunchedKernel& kernel : kernels) {
        const std::size_t owner = owners.of(kernel);
        if (owner == kNoOperator && !kernel.matrix) continue;
        std::int64_t& sum = owner == kNoOperator ? out.without : out.of[owner];
        sum = std::min(sum + kernel.length, kMostSum);
    }
    return out;
}

OperatorTimes innermost_times(std::vector<OperatorSpan>& operators) {
    sort_by_place(operators);
    OperatorTimes out;
    for (const OperatorSpan& op : operators) out.of.push_back(op.end - op.begin);
    for (const std::size_t parent : parents(operators))
        if (parent != kNoOperator) out.of[parent] = 0;
    return out;
}

}  // namespace debubble::profile

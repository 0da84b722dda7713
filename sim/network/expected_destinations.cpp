#include "sim/network/collective_cost.h"

#include <algorithm>
#include <cmath>

namespace debubble::sim {
namespace {

/// The probability that none of `rows` distinct experts, chosen uniformly from `open`, is among
/// `here`.
double chance_to_miss(double open, double here, std::int64_t rows) {
    double missed = 1;
    for (std::int64_t row = 0; row < rows; ++row)
        missed *= std::max(0.0, open - here - static_cast<double>(row)) /
                  (open - static_cast<double>(row));
    return missed;
}

/// The logarithm of C(n, k).
double log_ways(std::int64_t n, std::int64_t k) {
    const auto of = [](std::int64_t m) { return std::lgamma(static_cast<double>(m) + 1); };
    return of(n) - of(k) - of(n - k);
}

/// A destination with consecutive experts: it has `whole` groups, and parts of two others.
struct Destination {
    std::int64_t whole = 0;
    double first = 0;  ///< experts of a group that it holds in part
    double last = 0;
};

Destination destination_at(double begin, double end, double group) {
    constexpr double kRounding = 1e-9;
    const double from = std::ceil(begin / group - kRounding);
    const double to = std::floor(end / group + kRounding);
    if (to < from) return {0, end - begin, 0};
    const auto part = [](double experts) { return experts > kRounding ? experts : 0; };
    return {static_cast<std::int64_t>(to - from), part(from * group - begin),
            part(end - to * group)};
}

/// The probability that a token is not sent to the destination.
double chance_to_miss(const Destination& destination, const models::Routing& routing,
                      double group) {
    const std::int64_t parts = (destination.first > 0) + (destination.last > 0);
    const std::int64_t others = routing.groups - destination.whole - parts;
    const double open = group * static_cast<double>(routing.groups_chosen);
    const double log_all = log_ways(routing.groups, routing.groups_chosen);
    double missed = 0;
    for (int first = 0; first <= (destination.first > 0); ++first)
        for (int last = 0; last <= (destination.last > 0); ++last)
            for (std::int64_t whole = 0; whole <= destination.whole; ++whole) {
                const std::int64_t elsewhere = routing.groups_chosen - whole - first - last;
                if (elsewhere < 0 || elsewhere > others) continue;
                const double chance = std::exp(log_ways(destination.whole, whole) +
                                               log_ways(others, elsewhere) - log_all);
                const double here = group * static_cast<double>(whole) + first * destination.first +
                                    last * destination.last;
                missed += chance * chance_to_miss(open, here, routing.per_token);
            }
    return missed;
}

}  // namespace

double expected_destinations(std::int64_t destinations, const models::Routing& routing) {
    const auto count = static_cast<double>(destinations);
    const auto experts = static_cast<double>(routing.experts);
    const double each = experts / count;
    if (routing.groups == 1 || routing.groups_chosen == routing.groups)
        return count * (1 - chance_to_miss(experts, each, routing.per_token));
    const double group = experts / static_cast<double>(routing.groups);
    const bool identical = destinations % routing.groups == 0 || routing.groups % destinations == 0;
    double hit = 0;
    for (std::int64_t i = 0; i < (identical ? 1 : destinations); ++i) {
        const auto at = static_cast<double>(i);
        hit +=
            1 - chance_to_miss(destination_at(at * each, (at + 1) * each, group), routing, group);
    }
    return identical ? count * hit : hit;
}

}  // namespace debubble::sim

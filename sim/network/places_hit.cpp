#include "sim/network/places_hit.h"

#include <algorithm>
#include <cmath>

namespace debubble::sim {
namespace {

/// The probability that none of `rows` experts, of `open` that are as likely, is one of `here`.
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

/// A place of experts that lie side by side: it has `whole` groups, and parts of two others.
struct StretchPlace {
    std::int64_t whole = 0;
    double first = 0;  ///< experts of a group of which it has some
    double last = 0;
};

StretchPlace place_at(double begin, double end, double group) {
    constexpr double kRounding = 1e-9;
    const double from = std::ceil(begin / group - kRounding);
    const double to = std::floor(end / group + kRounding);
    if (to < from) return {0, end - begin, 0};
    const auto part = [](double experts) { return experts > kRounding ? experts : 0; };
    return {static_cast<std::int64_t>(to - from), part(from * group - begin),
            part(end - to * group)};
}

/// The probability that no row of a token goes to the place.
double chance_to_miss(const StretchPlace& place, const models::Routing& routing, double group) {
    const std::int64_t parts = (place.first > 0) + (place.last > 0);
    const std::int64_t others = routing.groups - place.whole - parts;
    const double open = group * static_cast<double>(routing.groups_chosen);
    const double log_all = log_ways(routing.groups, routing.groups_chosen);
    double missed = 0;
    for (int first = 0; first <= (place.first > 0); ++first)
        for (int last = 0; last <= (place.last > 0); ++last)
            for (std::int64_t whole = 0; whole <= place.whole; ++whole) {
                const std::int64_t elsewhere = routing.groups_chosen - whole - first - last;
                if (elsewhere < 0 || elsewhere > others) continue;
                const double chance =
                    std::exp(log_ways(place.whole, whole) + log_ways(others, elsewhere) - log_all);
                const double here =
                    group * static_cast<double>(whole) + first * place.first + last * place.last;
                missed += chance * chance_to_miss(open, here, routing.per_token);
            }
    return missed;
}

}  // namespace

double places_hit(std::int64_t places, const models::Routing& routing) {
    const auto count = static_cast<double>(places);
    const auto experts = static_cast<double>(routing.experts);
    const double each = experts / count;
    if (routing.groups == 1 || routing.groups_chosen == routing.groups)
        return count * (1 - chance_to_miss(experts, each, routing.per_token));
    const double group = experts / static_cast<double>(routing.groups);
    const bool alike = places % routing.groups == 0 || routing.groups % places == 0;
    double hit = 0;
    for (std::int64_t i = 0; i < (alike ? 1 : places); ++i) {
        const auto at = static_cast<double>(i);
        hit += 1 - chance_to_miss(place_at(at * each, (at + 1) * each, group), routing, group);
    }
    return alike ? count * hit : hit;
}

}  // namespace debubble::sim

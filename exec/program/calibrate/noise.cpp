#include "exec/program/calibrate/noise.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "models/graph/operator_runs.h"

namespace debubble::exec {
namespace {

/// The share of the measured time that noisy operators may take without a warning: operators of
/// microseconds are always noisy.
constexpr double kOfAllTime = 0.10;
constexpr std::size_t kNamed = 3;

struct Spread {
    std::string name;
    Duration median{};
    Duration deviation{};
    double share() const { return seconds(deviation) / seconds(median); }
};

}  // namespace

std::string noise_warning(const scenarios::Measured& measured, const std::string& file) {
    std::vector<Spread> noisy;
    double all = 0;
    double in_noisy = 0;
    for (const auto& [key, found] : measured.operators) {
        all += seconds(found.median);
        const Spread spread{fmt::format("{} ({})", key.first, models::name_of(key.second)),
                            found.median, found.deviation};
        if (found.samples < 2 || found.median <= Duration{} || spread.share() <= kNoisy) continue;
        in_noisy += seconds(found.median);
        noisy.push_back(spread);
    }
    if (noisy.empty() || in_noisy <= kOfAllTime * all) return {};
    std::ranges::stable_sort(noisy, std::ranges::greater{}, &Spread::deviation);
    std::string worst;
    for (std::size_t i = 0; i < std::min(kNamed, noisy.size()); ++i)
        worst += fmt::format("{}{} by {:.0f} % of {:.3g} ms", i > 0 ? ", " : "", noisy[i].name,
                             100 * noisy[i].share(), 1e3 * seconds(noisy[i].median));
    return fmt::format(
        "warning: the repeated timings of {} of {} operators, which take {:.0f} % of the measured "
        "time, are more than {:.0f} % apart: {}{}. Others use this machine, or its clock changes; "
        "measure {} again on a quiet machine",
        noisy.size(), measured.operators.size(), 100 * in_noisy / all, 100 * kNoisy, worst,
        noisy.size() > kNamed ? fmt::format(" and {} more", noisy.size() - kNamed) : "", file);
}

std::string busy_warning(const scenarios::Measured& measured, const std::string& file) {
    if (!measured.core_share) return {};
    return fmt::format(
        "warning: the threads that were timed had a core for {:.0f} % of the time that they "
        "computed, so that the times in {} are too long, as its 'core_share' says: measure again "
        "on an idle machine",
        100 * *measured.core_share, file);
}

}  // namespace debubble::exec

#include "trace/core_share.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace debubble {
namespace {

struct Times {
    Duration computed{};
    Duration on_core{};

    void add(const Span& span) {
        if (span.on_core == Duration{}) return;
        computed += span.length() - span.exposed;
        on_core += span.on_core;
    }
    std::optional<double> share() const {
        if (computed <= Duration{}) return std::nullopt;
        return std::min(1.0, seconds(on_core) / seconds(computed));
    }
};

}  // namespace

std::optional<double> core_share(std::span<const Span> spans) {
    Times times;
    for (const Span& span : spans) times.add(span);
    return times.share();
}

std::vector<CoreShare> core_shares(const Trace& trace) {
    std::map<std::pair<Rank, std::int32_t>, Times> of;
    for (const Span& span : trace.spans) of[{span.rank, span.replica}].add(span);
    std::vector<CoreShare> shares;
    for (const auto& [who, times] : of)
        if (const auto share = times.share()) shares.push_back({who.first, who.second, *share});
    return shares;
}

bool is_disturbed(double share, double cores_per_thread) {
    return share < kUndisturbed * cores_per_thread;
}

std::string busy_machine(const Trace& trace) {
    const std::vector<CoreShare> shares = core_shares(trace);
    const auto worst = std::ranges::min_element(shares, {}, &CoreShare::share);
    const double cores = trace.header.cores_per_thread;
    if (worst == shares.end() || !is_disturbed(worst->share, cores)) return {};
    return fmt::format(
        "rank {}{}'s threads had a core for {:.0f} % of the time that they computed{}: "
        "repeat on an idle machine",
        worst->rank.index, trace.header.folded ? "" : fmt::format(" of replica {}", worst->replica),
        100 * worst->share,
        cores < 1 ? fmt::format(" (the host has {:.2g} for each of the job's threads)", cores)
                  : "");
}

}  // namespace debubble

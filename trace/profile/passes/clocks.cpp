#include "trace/profile/passes/clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace debubble::profile {
namespace {

/// Two ranks whose clocks were compared: `ahead` is the second one's less the first one's.
struct Link {
    std::size_t a = 0;
    std::size_t b = 0;
    double ahead = 0;
    double weight = 1;
};

/// Least squares: the normal equations of the links, with the first rank of each connected part
/// fixed at 0, by Gauss-Seidel, which converges on these diagonally dominant matrices.
std::vector<double> solve(std::size_t ranks, const std::vector<Link>& links) {
    std::vector<std::vector<std::pair<std::size_t, std::pair<double, double>>>> of(ranks);
    for (const Link& link : links) {
        of[link.a].push_back({link.b, {-link.ahead, link.weight}});
        of[link.b].push_back({link.a, {link.ahead, link.weight}});
    }
    std::vector<double> at(ranks, 0);
    std::vector<bool> held(ranks, false);
    std::vector<bool> seen(ranks, false);
    for (std::size_t root = 0; root < ranks; ++root) {  // first a spanning tree, exactly
        if (seen[root]) continue;
        held[root] = seen[root] = true;
        std::vector<std::size_t> queue{root};
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (const auto& [other, link] : of[queue[i]])
                if (!seen[other]) {
                    seen[other] = true;
                    at[other] = at[queue[i]] - link.first;
                    queue.push_back(other);
                }
    }
    constexpr int kRounds = 200;
    for (int round = 0; round < kRounds; ++round)
        for (std::size_t r = 0; r < ranks; ++r) {
            if (held[r] || of[r].empty()) continue;
            double sum = 0;
            double weights = 0;
            for (const auto& [other, link] : of[r]) {
                sum += link.second * (at[other] + link.first);
                weights += link.second;
            }
            at[r] = sum / weights;
        }
    return at;
}

std::vector<std::int64_t> rounded(const std::vector<double>& values) {
    std::vector<std::int64_t> out;
    for (const double x : values) out.push_back(std::llround(x));
    return out;
}

std::int64_t median(std::vector<std::int64_t> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// The difference between the clocks of a pair when the ends of a message were seen.
struct Distance {
    std::int64_t at = 0;  ///< by the first clock
    std::int64_t ahead = 0;
};
using Distances = std::map<std::pair<std::size_t, std::size_t>, std::vector<Distance>>;

Distances distances_of(const std::vector<MatchedEnds>& matched) {
    Distances out;
    for (const MatchedEnds& m : matched) {
        const std::int64_t ahead = m.received - m.send_ended;
        if (m.from < m.to)
            out[{m.from, m.to}].push_back({m.send_ended, ahead});
        else
            out[{m.to, m.from}].push_back({m.received, -ahead});
    }
    for (auto& [pair, values] : out) std::ranges::stable_sort(values, {}, &Distance::at);
    return out;
}

/// The median point of some distances, in time and in size.
Distance middle(std::span<const Distance> values) {
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> sizes;
    for (const Distance& d : values) {
        times.push_back(d.at);
        sizes.push_back(d.ahead);
    }
    return {median(std::move(times)), median(std::move(sizes))};
}

Clocks constant(std::size_t ranks, const Distances& apart) {
    std::vector<Link> links;
    for (const auto& [pair, values] : apart)
        links.push_back({pair.first, pair.second, static_cast<double>(middle(values).ahead),
                         static_cast<double>(values.size())});
    Clocks out;
    out.ahead = rounded(solve(ranks, links));
    return out;
}

/// Nothing if a pair has fewer than 20 messages, or all within a second.
std::optional<Clocks> with_drift(std::size_t ranks, const Distances& apart) {
    constexpr std::size_t kEnough = 20;
    constexpr std::int64_t kShort = 1'000'000'000;
    constexpr double kMostDrift = 1e-3;  // quartz is within 1e-4
    Clocks out;
    out.drift_from = middle(apart.begin()->second).at;
    std::vector<Link> drifts;
    std::vector<Link> links;
    for (const auto& [pair, values] : apart) {
        const std::size_t third = values.size() / 3;
        const std::span<const Distance> all(values);
        if (values.size() < kEnough || values.back().at - values.front().at < kShort)
            return std::nullopt;
        const Distance first = middle(all.first(third));
        const Distance last = middle(all.last(third));
        if (last.at <= first.at) return std::nullopt;
        const double gained =
            static_cast<double>(last.ahead - first.ahead) / static_cast<double>(last.at - first.at);
        if (std::abs(gained) > kMostDrift) return std::nullopt;
        std::vector<std::int64_t> level;
        for (const Distance& d : values)
            level.push_back(d.ahead -
                            std::llround(gained * static_cast<double>(d.at - out.drift_from)));
        const auto weight = static_cast<double>(values.size());
        drifts.push_back({pair.first, pair.second, gained, weight});
        links.push_back({pair.first, pair.second, static_cast<double>(median(level)), weight});
    }
    out.ahead = rounded(solve(ranks, links));
    out.drift = solve(ranks, drifts);
    return out;
}

/// The 95th percentile of the differences between the ends of messages by these clocks.
Duration error_of(const Clocks& clocks, const std::vector<MatchedEnds>& matched) {
    std::vector<std::int64_t> left;
    for (const MatchedEnds& m : matched)
        left.push_back(
            std::abs(clocks.moved(m.to, m.received) - clocks.moved(m.from, m.send_ended)));
    std::ranges::sort(left);
    return Duration{left[left.size() * 95 / 100]};
}

}  // namespace

Clocks align_by_ends(std::size_t ranks, const std::vector<MatchedEnds>& matched) {
    Clocks out = constant(ranks, distances_of(matched));
    out.matched = matched.size();
    if (matched.empty()) return out;
    out.error = error_of(out, matched);
    if (const auto drifting = with_drift(ranks, distances_of(matched))) {
        const Duration error = error_of(*drifting, matched);
        if (2 * error < out.error) {
            out = *drifting;
            out.error = error;
            out.matched = matched.size();
        }
    }
    std::vector<std::int64_t> lengths;
    for (const MatchedEnds& m : matched)
        lengths.push_back(std::min(m.send_ended - m.sent, m.received - m.recv_began));
    constexpr std::int64_t kNever = 1'000'000;
    if (out.error.count() > std::max(kNever, 4 * median(lengths)))
        out.why_not = fmt::format(
            "the two ends of {} messages lie {:.3f} ms apart at the 95th percentile, by whatever "
            "constant and drift the clocks are moved",
            out.matched, static_cast<double>(out.error.count()) / 1e6);
    return out;
}

std::int64_t Clocks::moved(std::size_t rank, std::int64_t at) const {
    const std::int64_t by = ahead[rank];
    if (!drift) return at - by;
    return at - by - std::llround((*drift)[rank] * static_cast<double>(at - by - drift_from));
}

Clocks align_by_order(std::size_t ranks, const std::vector<MatchedEnds>& matched) {
    Clocks out;
    out.ahead.assign(ranks, 0);
    out.matched = matched.size();
    constexpr std::int64_t kFar = INT64_MAX / 4;
    struct Bounds {
        std::int64_t most = kFar;  ///< of the second clock less the first one
        std::int64_t least = -kFar;
    };
    std::map<std::pair<std::size_t, std::size_t>, Bounds> bounds;
    for (const MatchedEnds& m : matched) {
        const std::int64_t late = m.received - m.sent;
        if (m.from < m.to) {
            Bounds& b = bounds[{m.from, m.to}];
            b.most = std::min(b.most, late);
        } else {
            Bounds& b = bounds[{m.to, m.from}];
            b.least = std::max(b.least, -late);
        }
    }
    constexpr std::int64_t kSlack = 100'000;  ///< ns by which one host's clocks may differ
    bool moved = false;
    std::vector<Link> links;
    for (const auto& [pair, b] : bounds) {
        if (b.least > b.most + kSlack) {
            out.why_not = fmt::format(
                "whatever constant the clocks of two ranks are moved by, messages arrive up to "
                "{:.3f} ms before they are sent",
                static_cast<double>(b.least - b.most) / 2e6);
            return out;
        }
        double ahead = 0;
        if (b.most < -kSlack || b.least > kSlack) {
            const std::int64_t nearest = b.most < 0 ? b.most : b.least;
            ahead = static_cast<double>(
                b.least > -kFar && b.most < kFar ? b.least + (b.most - b.least) / 2 : nearest);
            moved = true;
        }
        links.push_back({pair.first, pair.second, ahead, 1});
    }
    out.shared = !moved;
    if (moved) out.ahead = rounded(solve(ranks, links));
    return out;
}

}  // namespace debubble::profile

#include "trace/profile/clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

namespace debubble::profile {
namespace {

/// A pair of ranks whose clocks were compared: `ahead` is the second one's less the first one's.
struct Link {
    std::size_t a = 0;
    std::size_t b = 0;
    double ahead = 0;
    double weight = 1;
};

/// Least squares: the normal equations of the links, with the first rank of each connected part
/// held at 0, by Gauss-Seidel, which converges on these diagonally dominant matrices.
std::vector<std::int64_t> solve(std::size_t ranks, const std::vector<Link>& links) {
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
    std::vector<std::int64_t> out;
    for (const double x : at) out.push_back(std::llround(x));
    return out;
}

std::int64_t median(std::vector<std::int64_t> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

}  // namespace

Clocks align_by_ends(std::size_t ranks, const std::vector<MatchedEnds>& matched) {
    Clocks out;
    out.ahead.assign(ranks, 0);
    out.matched = matched.size();
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> apart;
    for (const MatchedEnds& m : matched) {
        const std::int64_t ahead = m.received - m.send_ended;
        if (m.from < m.to)
            apart[{m.from, m.to}].push_back(ahead);
        else
            apart[{m.to, m.from}].push_back(-ahead);
    }
    std::vector<Link> links;
    for (const auto& [pair, values] : apart)
        links.push_back({pair.first, pair.second, static_cast<double>(median(values)),
                         static_cast<double>(values.size())});
    out.ahead = solve(ranks, links);
    std::vector<std::int64_t> left;
    std::vector<std::int64_t> lengths;
    for (const MatchedEnds& m : matched) {
        const std::int64_t apart_now =
            (m.received - out.ahead[m.to]) - (m.send_ended - out.ahead[m.from]);
        left.push_back(std::abs(apart_now));
        lengths.push_back(std::min(m.send_ended - m.sent, m.received - m.recv_began));
    }
    if (left.empty()) return out;
    std::ranges::sort(left);
    out.error = Duration{left[left.size() * 95 / 100]};
    constexpr std::int64_t kNever = 1'000'000;
    if (out.error.count() > std::max(kNever, 4 * median(lengths)))
        out.why_not = fmt::format(
            "the two ends of {} messages lie {:.3f} ms apart at the 95th percentile, by whatever "
            "constant the clocks are moved",
            out.matched, static_cast<double>(out.error.count()) / 1e6);
    return out;
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
    constexpr std::int64_t kSlack = 100'000;  ///< ns by which one host's clocks may be off
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
    if (moved) out.ahead = solve(ranks, links);
    return out;
}

}  // namespace debubble::profile

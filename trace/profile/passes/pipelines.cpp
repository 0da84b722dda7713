#include "trace/profile/passes/message_ends.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::profile {
namespace {

[[noreturn]] void refuse(const std::string& file, std::string sentence) {
    throw InputError({Diagnostic{{file, 0, 0}, std::move(sentence), {}}});
}

bool is_pipeline(const ProcessGroup& group) {
    std::string text;
    for (const char c : group.description)
        text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text == "pp" || text == "mesh_pp" || text == "pipeline_model_parallel_group";
}

struct Extent {
    std::int64_t begin = INT64_MAX;
    std::int64_t end = INT64_MIN;
};

Extent extent_of(const RankProfile& profile) {
    Extent out;
    const auto cover = [&](const auto& spans) {
        for (const auto& span : spans) {
            out.begin = std::min(out.begin, span.begin);
            out.end = std::max(out.end, span.end);
        }
    };
    cover(profile.kernels);
    cover(profile.ranges);
    cover(profile.ops);
    return out;
}

}  // namespace

void check_one_run(const std::vector<RankProfile>& ranks) {
    std::map<int, const RankProfile*> by_rank;
    for (const RankProfile& profile : ranks) {
        if (ranks.size() > 1 && !profile.rank)
            refuse(profile.file,
                   "no 'distributedInfo' says which rank this is: give it alone, or the files of "
                   "a distributed run");
        if (!profile.rank) continue;
        const auto [found, is_new] = by_rank.emplace(*profile.rank, &profile);
        if (!is_new)
            refuse(profile.file, fmt::format("this is rank {}, and so is {}: the files are of "
                                             "different runs",
                                             *profile.rank, found->second->file));
        if (profile.world_size && *profile.rank >= *profile.world_size)
            refuse(profile.file, fmt::format("rank {} is not one of {} ranks", *profile.rank,
                                             *profile.world_size));
    }
    const RankProfile& first = ranks.front();
    const Extent of_first = extent_of(first);
    for (const RankProfile& profile : ranks) {
        constexpr std::int64_t kLongestRun = 1'000'000'000'000'000;  // eleven days
        const Extent whole = extent_of(profile);
        if (whole.begin <= whole.end && whole.end - whole.begin > kLongestRun)
            refuse(profile.file,
                   "its first and its last event lie more than eleven days apart, which is "
                   "impossible in a profile");
        if (profile.world_size != first.world_size)
            refuse(profile.file,
                   fmt::format("this is of a run of {} ranks, {} is of one of {}: the files are of "
                               "different runs",
                               profile.world_size.value_or(1), first.file,
                               first.world_size.value_or(1)));
        if (profile.backend != first.backend)
            refuse(profile.file, fmt::format("this run communicates by {}, that of {} by {}: the "
                                             "files are of different runs",
                                             profile.backend, first.file, first.backend));
        // Clocks of hosts differ by milliseconds; by seconds where they are not synchronised.
        constexpr std::int64_t kFarOff = 10'000'000'000;
        const Extent own = extent_of(profile);
        if (own.begin <= own.end && of_first.begin <= of_first.end &&
            (own.begin > of_first.end + kFarOff || of_first.begin > own.end + kFarOff))
            refuse(profile.file,
                   fmt::format("this and {} have no time in common, by more than ten seconds: the "
                               "files are of different runs",
                               first.file));
    }
}

std::vector<Place> places_of(const std::vector<RankProfile>& ranks) {
    check_one_run(ranks);
    std::map<std::vector<int>, std::int32_t> replicas;
    std::vector<Place> out(ranks.size());
    const auto group_of = [](const RankProfile& profile) -> const ProcessGroup* {
        for (const ProcessGroup& group : profile.groups)
            if (is_pipeline(group) && profile.rank &&
                std::ranges::find(group.ranks, *profile.rank) != group.ranks.end())
                return &group;
        return nullptr;
    };
    if (std::ranges::all_of(ranks, [&](const RankProfile& p) { return group_of(p) != nullptr; })) {
        for (const RankProfile& profile : ranks) replicas.emplace(group_of(profile)->ranks, 0);
        std::int32_t number = 0;
        for (auto& [group, replica] : replicas) replica = number++;
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            const std::vector<int>& group = group_of(ranks[i])->ranks;
            const auto index = std::ranges::find(group, *ranks[i].rank) - group.begin();
            out[i] = {replicas[group], Rank{static_cast<std::int32_t>(index)}};
        }
        return out;
    }
    std::vector<std::size_t> order(ranks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i].rank.value_or(0); });
    for (std::size_t i = 0; i < order.size(); ++i)
        out[order[i]] = {0, Rank{static_cast<std::int32_t>(i)}};
    return out;
}

std::map<int, Rank> pipeline_ranks(const std::vector<RankProfile>& ranks,
                                   const std::vector<Place>& places) {
    std::map<int, Rank> out;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i].rank) out.try_emplace(*ranks[i].rank, places[i].rank);
        for (const ProcessGroup& group : ranks[i].groups) {
            if (!is_pipeline(group)) continue;
            for (std::size_t at = 0; at < group.ranks.size(); ++at)
                out.try_emplace(group.ranks[at], Rank{static_cast<std::int32_t>(at)});
        }
    }
    return out;
}

}  // namespace debubble::profile

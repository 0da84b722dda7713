#include "trace/profile/name_passes.h"

#include <algorithm>

#include <fmt/format.h>

#include "schedule/generators/generators.h"

namespace debubble::profile {
namespace {

/// The forwards and backwards of a rank's list, in order.
std::vector<Compute> passes_in(const ActionList& list) {
    std::vector<Compute> out;
    for (const Action& action : list)
        for_each_compute(action, [&](const Compute& compute) { out.push_back(compute); });
    return out;
}

std::string kinds_of(const std::vector<Compute>& passes) {
    std::string out;
    for (const Compute& pass : passes) out += letter_of(pass.pass);
    return out;
}

/// The first step of which all passes were recorded: the longest.
const std::string& kinds_of(const RankActions& found) {
    return *std::ranges::max_element(found.pass_kinds, {}, &std::string::size);
}

/// Where a rank's passes leave a schedule's order; nothing if they have it.
std::optional<std::string> mismatch(const std::vector<RankActions*>& found,
                                    const std::vector<int>& ranks, const Schedule& schedule) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (ranks[i] >= static_cast<int>(schedule.ranks.size()))
            return fmt::format("it has {} ranks", schedule.ranks.size());
        const auto listed = passes_in(schedule.ranks[static_cast<std::size_t>(ranks[i])]);
        const std::string expected = kinds_of(listed);
        const std::string& own = kinds_of(*found[i]);
        if (own == expected) continue;
        const auto [a, b] = std::ranges::mismatch(own, expected);
        const auto at = static_cast<std::size_t>(a - own.begin());
        if (at == own.size() || at == expected.size())
            return fmt::format("rank {} ran {} passes in a step, and it lists {}", ranks[i],
                               own.size(), expected.size());
        return fmt::format("pass {} of rank {} is a {}, and it lists {}", at + 1, ranks[i], own[at],
                           to_text(Action(listed[at])));
    }
    return std::nullopt;
}

void rename(RankActions& found, const std::vector<Compute>& listed) {
    std::vector<Compute> forwards;
    std::vector<Compute> backwards;
    for (const Compute& pass : listed)
        (pass.pass == Pass::Forward ? forwards : backwards).push_back(pass);
    for (TimedAction& timed : found.actions) {
        auto* const pass = std::get_if<Compute>(&timed.action);
        if (pass == nullptr) continue;
        const auto& named = pass->pass == Pass::Forward ? forwards : backwards;
        const auto k = static_cast<std::size_t>(pass->micro_batch.index);
        if (k < named.size()) *pass = named[k];
    }
}

/// Messages were matched as of one stage per rank; with several nothing says whose they are.
void drop_messages(RankActions& found) {
    std::erase_if(found.actions, [](const TimedAction& timed) {
        return std::holds_alternative<Send>(timed.action) ||
               std::holds_alternative<Recv>(timed.action);
    });
    found.notes.clear();
}

std::optional<Schedule> candidate(std::string_view name, const PipelineShape& shape) {
    const Generator* const generator = find_generator(name);
    if (generator == nullptr || generator->why_not(shape, {})) return std::nullopt;
    return generator->make(shape, {});
}

}  // namespace

PassNames name_passes(const std::vector<RankActions*>& found, const std::vector<int>& ranks,
                      int pipeline, const std::optional<Program>& program) {
    PassNames out;
    const auto use = [&](const Schedule& schedule) {
        out.order = schedule.name;
        const bool several = schedule.shape.stages_per_rank > 1 ||
                             schedule.stage_count() > static_cast<int>(schedule.ranks.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            rename(*found[i], passes_in(schedule.ranks[static_cast<std::size_t>(ranks[i])]));
            if (several) drop_messages(*found[i]);
        }
        if (several)
            out.notes.push_back(
                "several stages per rank: which exchange carries which message is not written");
    };
    if (program) {
        const auto wrong = mismatch(found, ranks, *program);
        if (!wrong) {
            use(*program);
            return out;
        }
        out.notes.push_back(fmt::format("the passes do not have the order of the scenario's {}: {}",
                                        program->name, *wrong));
    }
    std::size_t forwards = 0;
    for (const RankActions* rank : found)
        forwards =
            std::max(forwards, static_cast<std::size_t>(std::ranges::count(kinds_of(*rank), 'F')));
    if (forwards == 0) return out;
    std::optional<std::string> of_1f1b;
    constexpr int kMostStagesPerRank = 16;
    for (int per_rank = 1; per_rank <= kMostStagesPerRank; ++per_rank) {
        if (forwards % static_cast<std::size_t>(per_rank) != 0) continue;
        const PipelineShape shape{pipeline, per_rank, static_cast<int>(forwards) / per_rank, 1};
        if (shape.computes() > kMostComputes) continue;
        const std::vector<std::string_view> names =
            per_rank == 1 ? std::vector<std::string_view>{"1f1b", "gpipe"}
                          : std::vector<std::string_view>{"interleaved-1f1b"};
        for (const std::string_view name : names) {
            const auto schedule = candidate(name, shape);
            if (!schedule) continue;
            const auto wrong = mismatch(found, ranks, *schedule);
            if (!wrong) {
                use(*schedule);
                return out;
            }
            if (name == "1f1b") of_1f1b = wrong;
        }
    }
    out.notes.push_back(fmt::format(
        "no known order fits the passes, and the k-th of a rank is taken as that of microbatch k; "
        "of 1f1b, {}",
        of_1f1b.value_or("there is none of this shape")));
    for (RankActions* rank : found) ++rank->anchors;
    return out;
}

}  // namespace debubble::profile

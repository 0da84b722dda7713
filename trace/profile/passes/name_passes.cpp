#include "trace/profile/passes/name_passes.h"

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

/// The first step whose passes were all recorded: the longest.
const std::string& kinds_of(const RankActions& found) {
    return *std::ranges::max_element(found.pass_kinds, {}, &std::string::size);
}

/// The difference between a rank's passes and a schedule's order; nothing if they agree.
std::optional<std::string> mismatch(const std::vector<RankActions*>& found,
                                    const std::vector<int>& ranks, const Schedule& schedule) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (ranks[i] >= static_cast<int>(schedule.ranks.size()))
            return fmt::format("it has {} ranks", schedule.ranks.size());
        const auto listed = passes_in(schedule.ranks[ranks[i]]);
        const std::string expected = kinds_of(listed);
        const std::string& own = kinds_of(*found[i]);
        if (own == expected) continue;
        const auto [a, b] = std::ranges::mismatch(own, expected);
        const std::size_t at = a - own.begin();
        if (at == own.size() || at == expected.size())
            return fmt::format("rank {} ran {} passes in a step, and it lists {}", ranks[i],
                               own.size(), expected.size());
        return fmt::format("pass {} of rank {} is a {}, and it lists {}", at + 1, ranks[i], own[at],
                           to_text(Action(listed[at])));
    }
    return std::nullopt;
}

void rename(RankActions& found, const std::vector<Compute>& listed) {
    std::map<Pass, std::vector<Compute>> of_kind;
    for (const Compute& pass : listed) of_kind[pass.pass].push_back(pass);
    for (TimedAction& timed : found.actions) {
        auto* const pass = std::get_if<Compute>(&timed.action);
        if (pass == nullptr) continue;
        const std::vector<Compute>& named = of_kind[pass->pass];
        const std::size_t k = pass->micro_batch.index;
        if (k < named.size()) *pass = named[k];
    }
}

/// The mean times of the found passes, for schedules whose order depends on costs.
PipelineCosts costs_of(const std::vector<RankActions*>& found) {
    std::map<Pass, std::pair<Duration, int>> sums;
    for (const RankActions* const rank : found)
        for (const TimedAction& timed : rank->actions)
            if (const auto* const pass = std::get_if<Compute>(&timed.action)) {
                auto& [time, count] = sums[pass->pass];
                time += Duration{timed.end - timed.begin};
                ++count;
            }
    const auto mean = [&](Pass pass) {
        const auto [time, count] = sums[pass];
        return count == 0 ? Duration{} : time / count;
    };
    return {{{mean(Pass::Forward), mean(Pass::BackwardInput), mean(Pass::BackwardWeight)}},
            Duration{},
            std::nullopt};
}

/// The candidate orders, those of one stage per rank first.
class Candidates {
public:
    Candidates(int pipeline, std::size_t forwards, bool split, const PipelineCosts& measured)
        : pipeline_(pipeline), forwards_(static_cast<int>(forwards)), split_(split) {
        measured_.costs = measured;
    }

    /// Calls try_one(schedule) until it returns true.
    template <class Try>
    void each(Try&& try_one) const {
        constexpr int kMostStagesPerRank = 16;
        for (int per_rank = 1; per_rank <= kMostStagesPerRank; ++per_rank) {
            if (forwards_ % per_rank != 0) continue;
            const PipelineShape shape{pipeline_, per_rank, forwards_ / per_rank, 1};
            if (shape.computes() > kMostComputes) continue;
            for (const std::string_view name : {"1f1b", "interleaved-1f1b", "gpipe"})
                if (made(*find_generator(name), shape, {}, try_one)) return;
            for (const Generator& generator : generators())
                if (made(generator, shape, {}, try_one)) return;
            for (const Generator& generator : generators())
                if (generator.uses_costs && made(generator, shape, measured_, try_one)) return;
        }
    }

private:
    template <class Try>
    bool made(const Generator& generator, const PipelineShape& shape,
              const GeneratorOptions& options, Try&& try_one) const {
        constexpr int kMostSearched = 8192;  // computes of a search that takes less than a second
        if (generator.overlaps || generator.splits_backward != split_) return false;
        if (generator.stages_per_rank.value_or(shape.stages_per_rank) != shape.stages_per_rank)
            return false;
        if (generator.uses_costs && shape.computes() > kMostSearched) return false;
        if (generator.why_not(shape, options)) return false;
        const Schedule schedule = generator.make(shape, options);
        if (schedule.placement.name() == "bidirectional" && pipeline_ > 1) return false;
        return try_one(schedule);
    }

    int pipeline_;
    int forwards_;
    bool split_;
    GeneratorOptions measured_;
};

/// The found passes as a schedule of one stage per rank, in which the k-th pass of a kind is that
/// of microbatch k.
Schedule as_found(const std::vector<RankActions*>& found, const std::vector<int>& ranks,
                  int pipeline) {
    Schedule out{"found", {pipeline, 1, 1, 1}, loop_placement(pipeline, 1), {}};
    out.ranks.resize(pipeline);
    for (std::size_t i = 0; i < found.size(); ++i) {
        ActionList& list = out.ranks[ranks[i]];
        if (!list.empty()) continue;  // of another replica
        std::map<char, int> count;
        for (const char kind : kinds_of(*found[i]))
            for (const Pass pass :
                 {Pass::Forward, Pass::Backward, Pass::BackwardInput, Pass::BackwardWeight})
                if (letter_of(pass) == kind)
                    list.emplace_back(
                        Compute{pass, Stage{ranks[i]}, MicroBatch{count[kind]++, {}}});
    }
    return out;
}

/// The messages of a rank's sends as often as the schedule has them, where peers are recorded.
bool exchanges_fit(const std::vector<RankActions*>& found, const std::vector<int>& ranks,
                   const Schedule& schedule, const std::map<int, Rank>& pipeline_ranks) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        RankActions trial = *found[i];
        trial.anchors = 0;
        trial.fitting = 0;
        rename(trial, passes_in(schedule.ranks[ranks[i]]));
        name_messages(trial, Rank{ranks[i]}, schedule, pipeline_ranks);
        if (trial.fitting < trial.anchors) return false;
    }
    return true;
}

}  // namespace

PassNames name_passes(const std::vector<RankActions*>& found, const std::vector<int>& ranks,
                      int pipeline, const std::optional<Program>& program,
                      const std::map<int, Rank>& pipeline_ranks) {
    PassNames out;
    const auto use = [&](const Schedule& schedule) {
        for (std::size_t i = 0; i < found.size(); ++i) {
            rename(*found[i], passes_in(schedule.ranks[ranks[i]]));
            name_messages(*found[i], Rank{ranks[i]}, schedule, pipeline_ranks);
        }
    };
    if (program) {
        const auto wrong = mismatch(found, ranks, *program);
        if (!wrong) {
            out.order = program->name;
            use(*program);
            return out;
        }
        out.notes.push_back(fmt::format("the passes do not have the order of the scenario's {}: {}",
                                        program->name, *wrong));
    }
    std::size_t forwards = 0;
    bool split = false;
    for (const RankActions* rank : found) {
        const std::string& kinds = kinds_of(*rank);
        forwards = std::max<std::size_t>(forwards, std::ranges::count(kinds, 'F'));
        split |= kinds.find('W') != std::string::npos;
    }
    if (forwards == 0) return out;
    std::optional<Schedule> first;
    std::optional<Schedule> best;
    std::optional<std::string> of_usual;
    const std::string_view usual = split ? "zb-h1" : "1f1b";
    Candidates(pipeline, forwards, split, costs_of(found)).each([&](const Schedule& schedule) {
        const auto wrong = mismatch(found, ranks, schedule);
        if (wrong && schedule.name == usual) of_usual = wrong;
        if (wrong) return false;
        if (!first) first = schedule;
        if (!exchanges_fit(found, ranks, schedule, pipeline_ranks)) return false;
        best = schedule;
        return true;
    });
    if (!best) best = first;
    if (best) {
        out.order = best->name;
        use(*best);
        return out;
    }
    use(as_found(found, ranks, pipeline));
    out.notes.push_back(fmt::format(
        "no known order fits the passes, so the k-th of a rank is taken as that of microbatch k; "
        "of {}, {}",
        usual, of_usual.value_or("there is none of this shape")));
    for (RankActions* rank : found) ++rank->anchors;
    return out;
}

}  // namespace debubble::profile

#include "sim/report/traces/profile_report.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "schedule/validate.h"
#include "sim/engine/replay_measured.h"
#include "trace/steps.h"

namespace debubble::sim {
namespace {

using KindIndex = std::size_t;

/// A word for the kind of an action: "REDUCE_GRAD".
std::string kind_word(const Action& action) {
    const std::string text = to_text(action);
    const std::size_t letters = text.find_first_not_of("0123456789");
    const std::size_t end = text.find_last_not_of("0123456789.");
    return letters == std::string::npos ? text : text.substr(letters, end + 1 - letters);
}

/// Passes and messages are always compared: the check of the order reports where they differ.
bool always_compared(const Action& action) {
    return std::holds_alternative<Compute>(action) || std::holds_alternative<Overlap>(action);
}
bool is_message(const Action& action) {
    return std::holds_alternative<Send>(action) || std::holds_alternative<Recv>(action);
}

using Counts = std::map<KindIndex, std::map<int, std::size_t>>;  ///< by kind and rank

Counts counts_of(const Program& program) {
    Counts out;
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        for (const Action& action : program.ranks[r]) ++out[action.index()][static_cast<int>(r)];
    return out;
}

Counts counts_of(const Trace& trace) {
    const std::size_t steps = std::max(1, steps_in(trace));
    std::set<std::int32_t> replicas;
    for (const Span& span : trace.spans) replicas.insert(span.replica);
    Counts out;
    for (const Span& span : trace.spans) ++out[span.action.index()][span.rank.index];
    for (auto& [kind, ranks] : out)
        for (auto& [rank, count] : ranks)
            count /= steps * std::max<std::size_t>(1, replicas.size());
    return out;
}

Trace reduced(const Trace& trace, const Program& program, const std::set<KindIndex>& kinds) {
    Trace out{trace.header, {}, trace.memory, trace.peaks, program};
    for (const Span& span : trace.spans)
        if (kinds.contains(span.action.index())) out.spans.push_back(span);
    out.header.program_hash = program_hash(program);
    out.exposed_parts = trace.exposed_parts;
    return out;
}

}  // namespace

OnCommonGround on_common_ground(const Trace& simulated, const Trace& executed,
                                const Program& program) {
    OnCommonGround out;
    const Counts planned = counts_of(program);
    const Counts ran = counts_of(executed);
    std::map<KindIndex, std::string> words;
    std::set<KindIndex> kinds;
    const auto consider = [&](const Action& action) {
        if (!words.emplace(action.index(), kind_word(action)).second) return;
        const auto of = [&](const Counts& counts) {
            std::size_t sum = 0;
            if (const auto found = counts.find(action.index()); found != counts.end())
                for (const auto& [rank, count] : found->second) sum += count;
            return sum;
        };
        const std::size_t a = of(planned);
        const std::size_t b = of(ran);
        const bool same = planned.contains(action.index()) && ran.contains(action.index()) &&
                          planned.at(action.index()) == ran.at(action.index());
        if (always_compared(action) || same || (is_message(action) && a > 0 && b > 0)) {
            kinds.insert(action.index());
            return;
        }
        out.left_out.push_back(
            fmt::format("{} is not compared: {} in a step of the plan, {} in the trace",
                        words[action.index()], a, b));
    };
    for (const ActionList& rank : program.ranks)
        for (const Action& action : rank) consider(action);
    for (const Span& span : executed.spans) consider(span.action);
    Program common = program;
    for (ActionList& rank : common.ranks)
        std::erase_if(rank, [&](const Action& a) { return !kinds.contains(a.index()); });
    out.simulated = reduced(simulated, common, kinds);
    out.executed = reduced(executed, common, kinds);
    TraceHeader& header = out.executed.header;
    header.scenario = simulated.header.scenario;
    header.sends_block = simulated.header.sends_block;
    header.copies_block = simulated.header.copies_block;
    header.reductions_block = simulated.header.reductions_block;
    return out;
}

namespace {

/// The median length of every kind of pass on the other ranks.
std::map<Pass, Duration> usual_lengths(const Trace& step, const std::set<Rank>& named) {
    std::map<Pass, std::vector<Duration>> lengths;
    for (const Span& span : step.spans)
        if (const auto* pass = std::get_if<Compute>(&span.action))
            if (!named.contains(span.rank)) lengths[pass->pass].push_back(span.length());
    std::map<Pass, Duration> out;
    for (auto& [pass, all] : lengths) {
        std::ranges::sort(all);
        out[pass] = all[(all.size() - 1) / 2];
    }
    return out;
}

StepFigures figures_of_replay(const Program& program, const Trace& trace) {
    const Trace replayed = replay_measured(program, trace);
    return compare(replayed, replayed).step.simulated;
}

}  // namespace

AsFastAsOthers as_fast_as_others(const Trace& executed, const std::vector<Rank>& ranks) {
    if (executed.program.ranks.empty())
        throw InputError("the trace holds no program, so that it cannot be played again");
    const auto violations = validate(executed.program, Transport::Buffered);
    if (!violations.empty())
        throw InputError(fmt::format("the trace cannot be played again: rank {}: {}",
                                     violations.front().rank.index, violations.front().message));
    const std::set<Rank> named(ranks.begin(), ranks.end());
    for (const Rank rank : named)
        if (rank.index < 0 || rank.index >= static_cast<int>(executed.program.ranks.size()))
            throw InputError(fmt::format("there is no rank {}: the trace has {} pipeline ranks",
                                         rank.index, executed.program.ranks.size()));
    Trace step = median_step(executed);
    AsFastAsOthers out{ranks, figures_of_replay(executed.program, step), {}};
    const std::map<Pass, Duration> usual = usual_lengths(step, named);
    if (usual.empty()) throw InputError("there are no other ranks to compare with");
    for (Span& span : step.spans) {
        const auto* pass = std::get_if<Compute>(&span.action);
        if (pass == nullptr || !named.contains(span.rank) || !usual.contains(pass->pass)) continue;
        const Duration length = std::min(span.length(), usual.at(pass->pass));
        span.end = span.begin + length;
        span.exposed = std::min(span.exposed, length);
    }
    out.levelled = figures_of_replay(executed.program, step);
    return out;
}

}  // namespace debubble::sim

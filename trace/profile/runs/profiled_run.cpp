#include "trace/profile/runs/profiled_run.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "schedule/csv/csv.h"
#include "trace/profile/memory_curve.h"
#include "trace/profile/passes/message_ends.h"
#include "trace/profile/passes/name_passes.h"

namespace debubble::profile {
namespace {

Lane lane_of(const Action& action) {
    return std::visit(
        Overloaded{[](const Compute&) { return Lane::Compute; },
                   [](const Recompute&) { return Lane::Compute; },
                   [](const Overlap&) { return Lane::Compute; },
                   [](const OptimizerStep&) { return Lane::Compute; },
                   [](const Send&) { return Lane::Send; }, [](const Recv&) { return Lane::Recv; },
                   [](const Offload&) { return Lane::Copy; },
                   [](const Reload&) { return Lane::Copy; },
                   [](const auto&) { return Lane::Collective; }},
        action);
}

class Assembler {
public:
    Assembler(std::vector<RankProfile> ranks, const RunOptions& options)
        : profiles_(std::move(ranks)), options_(options), places_(places_of(profiles_)) {
        for (const Place& place : places_) {
            pipeline_ = std::max(pipeline_, place.rank.index + 1);
            replicas_ = std::max(replicas_, place.replica + 1);
        }
    }

    ProfiledRun run() {
        for (std::size_t i = 0; i < profiles_.size(); ++i) found_.push_back(recognise(i));
        name_all();
        same_steps();
        drop_partial_steps();
        match();
        align();
        facts();
        spans();
        program();
        return std::move(out_);
    }

private:
    RankActions recognise(std::size_t i, std::optional<int> layers = std::nullopt) const {
        RecogniseOptions options{places_[i].rank.index, pipeline_, layers};
        const std::size_t stage = places_[i].rank.index;
        if (options_.layers) {
            const bool one_stage_each = static_cast<int>(options_.layers->size()) == pipeline_;
            const int planned = options_.layers->at(one_stage_each ? stage : 0);
            if (planned > 0) options.layers = planned;
        }
        RankActions actions = actions_by_names(profiles_[i], options);
        if (actions.evidence == Evidence::None) {
            const std::vector<std::string> notes = std::move(actions.notes);
            actions = actions_by_anchors(profiles_[i], options);
            actions.notes.insert(actions.notes.begin(), notes.begin(), notes.end());
        }
        return actions;
    }

    void name_all() {
        std::vector<RankActions> first = found_;
        PassNames named = named_passes(first);
        const std::optional<int> layers = common_layers();
        if (!named.order && layers) {
            std::vector<RankActions> second;
            for (std::size_t i = 0; i < profiles_.size(); ++i)
                second.push_back(recognise(
                    i, found_[i].evidence == Evidence::Anchors ? layers : std::optional<int>()));
            PassNames again = named_passes(second);
            if (again.order) {
                first = std::move(second);
                named = std::move(again);
            }
        }
        found_ = std::move(first);
        out_.order = std::move(named.order);
        std::ranges::move(named.notes, std::back_inserter(out_.notes));
    }

    /// The number of layers of a stage if all stages are equal, where the anchors of a rank show a
    /// multiple: at the turn of a V, passes of both stages are consecutive.
    std::optional<int> common_layers() const {
        int common = 0;
        int most = 0;
        for (const RankActions& rank : found_) {
            if (rank.evidence != Evidence::Anchors) continue;
            common = std::gcd(common, rank.layers);
            most = std::max(most, rank.layers);
        }
        return common > 0 && common < most ? std::optional(common) : std::nullopt;
    }

    PassNames named_passes(std::vector<RankActions>& found) const {
        std::vector<RankActions*> anchored;
        std::vector<int> ranks;
        for (std::size_t i = 0; i < found.size(); ++i)
            if (found[i].evidence == Evidence::Anchors) {
                anchored.push_back(&found[i]);
                ranks.push_back(places_[i].rank.index);
            }
        if (anchored.empty()) return {};
        return name_passes(anchored, ranks, pipeline_, options_.program,
                           pipeline_ranks(profiles_, places_));
    }

    [[noreturn]] void refuse(std::size_t i, std::string sentence) const {
        throw InputError({Diagnostic{{profiles_[i].file, 0, 0}, std::move(sentence), {}}});
    }

    void same_steps() {
        for (std::size_t i = 0; i < found_.size(); ++i) {
            if (found_[i].evidence == Evidence::None) continue;
            if (out_.step_names.empty()) out_.step_names = found_[i].step_names;
            if (found_[i].step_names == out_.step_names) continue;
            if (found_[i].step_names.empty() || out_.step_names.empty()) continue;
            refuse(i, fmt::format("this has the steps {} to {}, {} has {} to {}: the files are of "
                                  "different runs, or were recorded at different steps",
                                  found_[i].step_names.front(), found_[i].step_names.back(),
                                  profiles_.front().file, out_.step_names.front(),
                                  out_.step_names.back()));
        }
    }

    /// A step with missing passes of a rank (the profiler started or ended within it) is useless.
    void drop_partial_steps() {
        std::map<int, std::size_t> passes;
        for (const RankActions& rank : found_)
            for (const TimedAction& action : rank.actions)
                if (lane_of(action.action) == Lane::Compute) ++passes[action.step];
        if (passes.size() < 2) return;
        std::size_t most = 0;
        for (const auto& [step, count] : passes) most = std::max(most, count);
        std::set<int> dropped;
        for (const auto& [step, count] : passes)
            if (count < most) dropped.insert(step);
        if (dropped.empty() || dropped.size() == passes.size()) return;
        for (RankActions& rank : found_)
            std::erase_if(rank.actions,
                          [&](const TimedAction& a) { return dropped.contains(a.step); });
        out_.notes.push_back(fmt::format("{} of {} steps lack passes and were left out",
                                         dropped.size(), passes.size()));
    }

    void match() {
        MatchedMessages matched = match_messages(found_, places_);
        pairs_ = std::move(matched.pairs);
        if (matched.alone > 0)
            out_.notes.push_back(fmt::format("{} messages have one end only", matched.alone));
    }

    TimedAction& action(const MessageEnd& end) { return found_[end.rank].actions[end.action]; }

    void align() {
        std::vector<MatchedEnds> matched;
        for (const auto& [send, recv] : pairs_) {
            const TimedAction& s = action(send);
            const TimedAction& r = action(recv);
            matched.push_back({send.rank, recv.rank, s.begin, s.end, r.begin, r.end});
        }
        const bool by_ends = profiles_.front().backend.find("nccl") != std::string::npos;
        if (by_ends) match_norms(matched);
        out_.clocks = by_ends ? align_by_ends(profiles_.size(), matched)
                              : align_by_order(profiles_.size(), matched);
        if (out_.clocks.why_not)
            refuse(profiles_.size() > 1 ? 1 : 0,
                   fmt::format("the clocks of this run's ranks cannot be aligned: {}",
                               *out_.clocks.why_not));
        constexpr std::size_t kEnough = 20;
        if (by_ends && profiles_.size() > 1 && matched.size() < kEnough)
            out_.notes.push_back(fmt::format(
                "only {} messages were matched: the clocks are aligned less well", matched.size()));
        for (std::size_t r = 0; r < found_.size(); ++r)
            for (TimedAction& timed : found_[r].actions) {
                timed.begin = out_.clocks.moved(r, timed.begin);
                timed.end = out_.clocks.moved(r, timed.end);
            }
        exchanges_ = exchange_times(found_, pairs_);
        end_sends();
    }

    /// The all-reduce of the norm ends everywhere at once.
    void match_norms(std::vector<MatchedEnds>& matched) const {
        std::map<int, MessageEnd> first;
        for (std::size_t r = 0; r < found_.size(); ++r)
            for (std::size_t a = 0; a < found_[r].actions.size(); ++a) {
                const TimedAction& timed = found_[r].actions[a];
                if (!std::holds_alternative<GradNorm>(timed.action)) continue;
                const auto [found, is_new] = first.try_emplace(timed.step, MessageEnd{r, a});
                if (is_new) continue;
                const TimedAction& other = found_[found->second.rank].actions[found->second.action];
                matched.push_back(
                    {found->second.rank, r, other.begin, other.end, timed.begin, timed.end});
            }
    }

    /// A send on the host ends when its end is queried, long after its message arrived.
    void end_sends() {
        if (!profiles_.front().kernels.empty()) return;
        for (const auto& [send, recv] : pairs_) {
            TimedAction& s = action(send);
            s.end = std::clamp(action(recv).end, s.begin, s.end);
        }
    }

    void facts() {
        for (std::size_t i = 0; i < profiles_.size(); ++i) {
            const RankProfile& profile = profiles_[i];
            RankFacts facts;
            facts.file = profile.file;
            facts.format = profile.format;
            facts.global_rank = profile.rank.value_or(0);
            facts.replica = places_[i].replica;
            facts.rank = places_[i].rank;
            facts.device = profile.device;
            facts.events = profile.events;
            facts.account = account_of(profile);
            for (const std::uint32_t name : facts.account.unknown)
                facts.unknown.push_back(profile.names[name]);
            facts.peak_allocated = profile.peak_allocated;
            facts.clock_ahead = out_.clocks.ahead[i];
            if (out_.clocks.drift) facts.clock_drift = (*out_.clocks.drift)[i];
            facts.evidence = found_[i].evidence;
            facts.fitting = found_[i].fitting;
            facts.anchors = found_[i].anchors;
            facts.layers = found_[i].layers;
            facts.exchanges = exchanges_[i];
            facts.notes = found_[i].notes;
            if (profile.cut_off)
                facts.notes.push_back(fmt::format("the file is cut off: {}", *profile.cut_off));
            out_.ranks.push_back(std::move(facts));
        }
        std::ranges::stable_sort(out_.ranks, {},
                                 [](const RankFacts& f) { return std::tuple(f.replica, f.rank); });
    }

    void spans() {
        std::int64_t start = INT64_MAX;
        for (const RankActions& rank : found_)
            for (const TimedAction& timed : rank.actions) start = std::min(start, timed.begin);
        Trace& trace = out_.trace;
        for (std::size_t r = 0; r < found_.size(); ++r)
            for (const TimedAction& timed : found_[r].actions)
                trace.spans.push_back({places_[r].rank, places_[r].replica, lane_of(timed.action),
                                       timed.action, Instant{Duration{timed.begin - start}},
                                       Instant{Duration{timed.end - start}},
                                       Duration{timed.exposed}, Bytes{timed.bytes}});
        std::ranges::stable_sort(trace.spans, {},
                                 [](const Span& s) { return std::tuple(s.begin, s.rank, s.lane); });
        trace.header = {.source = TraceSource::Profiled,
                        .scenario = profiles_.front().format,
                        .data = replicas_,
                        .pipeline = pipeline_,
                        .folded = replicas_ == 1,
                        .clock_error = {.ranks = out_.clocks.error}};
        add_recorded_memory(trace, memory_over(start));
    }

    /// The allocated memory of the ranks, by the time of the trace.
    std::vector<RecordedMemory> memory_over(std::int64_t start) const {
        std::vector<RecordedMemory> out;
        for (std::size_t r = 0; r < profiles_.size(); ++r) {
            RecordedMemory recorded{places_[r].rank, places_[r].replica, profiles_[r].memory};
            for (MemoryPoint& point : recorded.points)
                point.at = out_.clocks.moved(r, point.at) - start;
            out.push_back(std::move(recorded));
        }
        return out;
    }

    /// The first step of the first replica as a program.
    void program() {
        std::vector<std::vector<TimedAction>> rows(pipeline_);
        int first = INT32_MAX;
        for (std::size_t r = 0; r < found_.size(); ++r)
            for (const TimedAction& timed : found_[r].actions) first = std::min(first, timed.step);
        for (std::size_t r = 0; r < found_.size(); ++r)
            for (const TimedAction& timed : found_[r].actions)
                if (places_[r].replica == 0 && timed.step == first)
                    rows[places_[r].rank.index].push_back(timed);
        std::string csv;
        for (auto& row : rows) {
            if (row.empty()) return;
            std::ranges::stable_sort(row, {}, &TimedAction::begin);
            for (std::size_t i = 0; i < row.size(); ++i)
                csv += (i == 0 ? "" : ",") + to_text(row[i].action);
            csv += '\n';
        }
        try {
            out_.trace.program =
                read_csv(csv, {.file = "the trace", .name = "profiled", .placement = {}}).schedule;
            out_.trace.header.program_hash = program_hash(out_.trace.program);
        } catch (const InputError& error) {
            out_.notes.push_back(fmt::format("the actions do not form a program: {}",
                                             error.diagnostics().front().message));
        }
    }

    std::vector<RankProfile> profiles_;
    const RunOptions& options_;
    std::vector<Place> places_;
    int pipeline_ = 1;
    int replicas_ = 1;
    std::vector<RankActions> found_;
    EndPairs pairs_;
    std::vector<ExchangeTimes> exchanges_;
    ProfiledRun out_;
};

}  // namespace

double ProfiledRun::confidence() const {
    std::size_t fitting = 0;
    std::size_t anchors = 0;
    for (const RankFacts& rank : ranks) {
        if (rank.evidence == Evidence::None) ++anchors;
        fitting += rank.fitting;
        anchors += rank.anchors;
    }
    return anchors == 0 ? 0 : static_cast<double>(fitting) / static_cast<double>(anchors);
}

ProfiledRun put_together(std::vector<RankProfile> ranks, const RunOptions& options) {
    if (ranks.empty()) throw InputError("there is no file for any rank");
    return Assembler(std::move(ranks), options).run();
}

}  // namespace debubble::profile

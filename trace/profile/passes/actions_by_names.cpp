#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "schedule/csv/csv.h"
#include "trace/profile/passes/accounts.h"
#include "trace/profile/passes/rank_actions.h"

namespace debubble::profile {
namespace {

constexpr std::string_view kPrefix = "PP:";

/// "Forward 3" is the forward of microbatch 3 of the rank's one stage.
std::optional<Action> of_gpipe(std::string_view name, int stage) {
    for (const auto& [word, pass] : {std::pair<std::string_view, Pass>{"Forward ", Pass::Forward},
                                     {"Backward ", Pass::Backward}}) {
        if (!name.starts_with(word)) continue;
        const std::string_view digits = name.substr(word.size());
        int micro_batch = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), micro_batch);
        if (error == std::errc() && end == digits.data() + digits.size() && micro_batch >= 0)
            return Compute{pass, Stage{stage}, MicroBatch{micro_batch, {}}};
    }
    return std::nullopt;
}

/// "## forward ##", as many scripts mark it: without the signs and in lower case.
std::string plain(std::string_view name) {
    std::string out;
    for (const char c : name)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

class NamedActions {
public:
    NamedActions(const RankProfile& profile, const RecogniseOptions& options)
        : profile_(profile), options_(options), steps_(step_ranges(profile)), launches_(profile) {}

    RankActions find() {
        const bool launches = std::ranges::any_of(
            profile_.kernels, [](const DeviceSpan& k) { return k.launched != kNoLaunch; });
        if (has_device() && !launches) {
            out_.notes.emplace_back(
                "launches were not recorded, so kernels cannot be assigned to ranges");
            return std::move(out_);
        }
        for (const HostSpan& range : profile_.ranges) take(range);
        messages_of_gpipe();
        merge_optimizers();
        if (out_.evidence == Evidence::Named) finish();
        return std::move(out_);
    }

private:
    bool has_device() const { return !profile_.kernels.empty(); }

    void take(const HostSpan& range) {
        const std::string& name = profile_.names[range.name];
        if (name.starts_with(kPrefix)) {
            const auto parsed = parse_action(std::string_view(name).substr(kPrefix.size()));
            if (const auto* action = std::get_if<Action>(&parsed)) return named(*action, range);
            ++not_actions_;
            return;
        }
        if (const auto action = of_gpipe(name, options_.rank)) {
            gpipe_ = true;
            return named(*action, range);
        }
        if (name.starts_with("Optimizer.step")) return optimizer(range);
        if (options_.pipeline == 1) of_script(name, range);
    }

    /// A script that trains on one rank marks its parts, once in a step each.
    void of_script(const std::string& name, const HostSpan& range) {
        const std::string word = plain(name);
        const int step = steps_.step_at(range.begin).value_or(0);
        if (word == "forward" || word == "backward") {
            const bool forward = word == "forward";
            int& count = scripted_[{step, forward}];
            compute(Compute{forward ? Pass::Forward : Pass::Backward, Stage{0},
                            MicroBatch{count++, {}}},
                    range);
        } else if (word == "optimizer") {
            optimizer(range);
        }
    }

    void named(const Action& action, const HostSpan& range) {
        std::visit(Overloaded{[&](const Send&) { message(action, range); },
                              [&](const Recv&) { message(action, range); },
                              [&](const Compute&) { compute(action, range); },
                              [&](const Overlap&) { compute(action, range); },
                              [&](const Recompute&) { compute(action, range); },
                              [&](const auto&) { other(action, range); }},
                   action);
    }

    void compute(const Action& action, const HostSpan& range) {
        out_.evidence = Evidence::Named;
        ++out_.anchors;
        const auto extent =
            has_device() ? extent_on_device(range, false) : extent_of_operators(range);
        if (!extent) {  // the split backward of stage 0 has an empty I
            add(action, range.begin, range.begin, range);
            ++empty_;
            return;
        }
        ++out_.fitting;
        add(action, extent->begin, extent->end, range);
        if (has_device())
            out_.actions.back().exposed = launches_.exposed_in(extent->begin, extent->end);
    }

    /// From the first to the last compute kernel that was launched in the range; with `any`, of all
    /// kernels.
    std::optional<Interval> extent_on_device(const HostSpan& range, bool any) const {
        std::optional<Interval> out;
        for (const std::uint32_t i : launches_.launched_in(range.begin, range.end)) {
            const DeviceSpan& kernel = profile_.kernels[i];
            if (!any && is_communication(kernel.kernel_class)) continue;
            if (!out) out = Interval{kernel.begin, kernel.end};
            out->begin = std::min(out->begin, kernel.begin);
            out->end = std::max(out->end, kernel.end);
        }
        return out;
    }

    std::optional<Interval> extent_of_operators(const HostSpan& range) const {
        std::optional<Interval> out;
        auto op = std::ranges::lower_bound(profile_.ops, range.begin, {}, &HostSpan::begin);
        for (; op != profile_.ops.end() && op->begin <= range.end; ++op) {
            if (op->end > range.end || is_message_operator(profile_.names[op->name])) continue;
            if (!out) out = Interval{op->begin, op->end};
            out->end = std::max(out->end, op->end);
        }
        return out;
    }

    void message(const Action& action, const HostSpan& range) {
        if (!has_device()) {
            const bool send = std::holds_alternative<Send>(action);
            const auto found = asynchronous(send ? "send" : "recv", range);
            if (!found.empty()) return add(action, found.front()->begin, found.front()->end, range);
            ++unseen_[send ? "SEND" : "RECV"];
            return;
        }
        other(action, range);
    }

    /// The ranges of the back end's own messages that begin in a range.
    std::vector<const HostSpan*> asynchronous(std::string_view what, const HostSpan& in) const {
        std::vector<const HostSpan*> out;
        auto range = std::ranges::lower_bound(profile_.ranges, in.begin, {}, &HostSpan::begin);
        for (; range != profile_.ranges.end() && range->begin <= in.end; ++range) {
            const std::string_view name = profile_.names[range->name];
            const std::size_t colon = name.find(':');
            if (colon != std::string_view::npos && name.substr(colon + 1).starts_with(what) &&
                (name.starts_with("gloo:") || name.starts_with("mpi:")))
                out.push_back(&*range);
        }
        return out;
    }

    /// Without FSDP, UNSHARD and the like are marked and have no effect.
    void other(const Action& action, const HostSpan& range) {
        const auto extent = has_device() ? extent_on_device(range, true) : std::nullopt;
        if (!extent) {
            const std::string text = to_text(action);
            ++unseen_[text.substr(std::min(text.find_first_not_of("0123456789"), text.size()))];
            return;
        }
        add(action, extent->begin, extent->end, range);
        for (const std::uint32_t i : launches_.launched_in(range.begin, range.end))
            out_.actions.back().bytes = std::max(
                out_.actions.back().bytes, bytes_of(profile_.notes[profile_.kernels[i].note]));
    }

    void optimizer(const HostSpan& range) {
        const auto extent =
            has_device() ? extent_on_device(range, true) : extent_of_operators(range);
        if (extent) add(OptimizerStep{}, extent->begin, extent->end, range);
    }

    void add(const Action& action, std::int64_t begin, std::int64_t end, const HostSpan& range) {
        const auto step = steps_.step_at(range.begin);
        if (!step && !steps_.ranges.empty()) {
            ++outside_;
            return;
        }
        out_.actions.push_back({action, begin, end, 0, 0, step.value_or(0)});
    }

    /// GPipe does not mark messages: a message of gloo belongs to the pass that it overlaps.
    void messages_of_gpipe() {
        if (!gpipe_ || has_device()) return;
        std::vector<TimedAction> passes;
        for (const TimedAction& action : out_.actions)
            if (std::holds_alternative<Compute>(action.action)) passes.push_back(action);
        std::ranges::stable_sort(passes, {}, &TimedAction::begin);
        for (const HostSpan& range : profile_.ranges) {
            const std::string_view name = profile_.names[range.name];
            const bool send = name.starts_with("gloo:send");
            if (!send && !name.starts_with("gloo:recv")) continue;
            const auto next =
                std::ranges::upper_bound(passes, range.begin, {}, &TimedAction::begin);
            if (send ? next == passes.begin() : next == passes.end()) continue;
            const TimedAction& beside = send ? *(next - 1) : *next;
            const auto& pass = std::get<Compute>(beside.action);
            if (const auto action = message_of(pass, send))
                out_.actions.push_back({*action, range.begin, range.end, 0, 0, beside.step});
        }
    }

    std::optional<Action> message_of(const Compute& pass, bool send) const {
        const bool forward = pass.pass == Pass::Forward;
        const int producer = send ? pass.stage.index : pass.stage.index + (forward ? -1 : 1);
        const int consumer = producer + (forward ? 1 : -1);
        if (std::min(producer, consumer) < 0 || std::max(producer, consumer) >= options_.pipeline)
            return std::nullopt;
        const Message message{forward ? Message::Kind::Activation : Message::Kind::Gradient,
                              Stage{producer}, pass.micro_batch};
        if (send) return Send{message, Rank{}};
        return Recv{message, Rank{}};
    }

    /// A rank with several stages has an optimizer for each: they are one step.
    void merge_optimizers() {
        std::map<int, std::size_t> first;
        std::vector<TimedAction> kept;
        for (const TimedAction& action : out_.actions) {
            if (std::holds_alternative<OptimizerStep>(action.action) && !steps_.ranges.empty()) {
                const auto [found, is_new] = first.try_emplace(action.step, kept.size());
                if (!is_new) {
                    TimedAction& before = kept[found->second];
                    before.begin = std::min(before.begin, action.begin);
                    before.end = std::max(before.end, action.end);
                    continue;
                }
            }
            kept.push_back(action);
        }
        out_.actions = std::move(kept);
    }

    void finish() {
        out_.step_names = steps_.names;
        out_.steps = std::max<int>(1, static_cast<int>(steps_.ranges.size()));
        std::ranges::stable_sort(out_.actions, [](const TimedAction& a, const TimedAction& b) {
            return std::tie(a.step, a.begin) < std::tie(b.step, b.begin);
        });
        if (empty_ > 0)
            out_.notes.push_back(fmt::format("{} passes have no kernel of their own", empty_));
        if (outside_ > 0)
            out_.notes.push_back(
                fmt::format("{} actions lie outside of the steps and were left out", outside_));
        if (not_actions_ > 0)
            out_.notes.push_back(fmt::format(
                "{} ranges are named PP: but are not actions of a schedule", not_actions_));
        for (const auto& [word, count] : unseen_)
            out_.notes.push_back(
                fmt::format("{} ranges {} hold no kernel: no work was done in them", count, word));
    }

    const RankProfile& profile_;
    RecogniseOptions options_;
    StepRanges steps_;
    LaunchIndex launches_;
    RankActions out_;
    bool gpipe_ = false;
    std::map<std::pair<int, bool>, int> scripted_;
    std::map<std::string, int> unseen_;
    int empty_ = 0;
    int outside_ = 0;
    int not_actions_ = 0;
};

}  // namespace

std::optional<int> StepRanges::step_at(std::int64_t host_time) const {
    const auto after = std::ranges::upper_bound(ranges, host_time, {}, &HostSpan::begin);
    if (after == ranges.begin() || (after - 1)->end < host_time) return std::nullopt;
    return static_cast<int>(after - ranges.begin()) - 1;
}

StepRanges step_ranges(const RankProfile& profile) {
    StepRanges out;
    for (const HostSpan& range : profile.ranges) {
        const std::string& name = profile.names[range.name];
        if (!name.starts_with("ProfilerStep#")) continue;
        if (!out.names.empty() && out.names.back() == name) continue;
        out.ranges.push_back(range);
        out.names.push_back(name);
    }
    return out;
}

bool is_message_operator(std::string_view op) {
    return op.starts_with("c10d::") || op.starts_with("gloo:") || op.starts_with("nccl:") ||
           op.starts_with("record_param_comms") || op.starts_with("mpi:");
}

RankActions actions_by_names(const RankProfile& profile, const RecogniseOptions& options) {
    return NamedActions(profile, options).find();
}

}  // namespace debubble::profile

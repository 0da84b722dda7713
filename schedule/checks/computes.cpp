#include <algorithm>

#include <fmt/format.h>

#include "schedule/checks/checks.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

using Kind = Violation::Kind;

struct Seen {
    int rank = -1;
    std::size_t position = 0;
};

class ComputeChecker {
public:
    ComputeChecker(const Schedule& schedule, Findings& findings)
        : schedule_(schedule),
          findings_(findings),
          index_(schedule),
          holders_(schedule.placement),
          seen_(index_.size() / 2) {}

    void check() {
        for_each([&](const Seen& at, const Compute& c) { note(at, c); });
        for_each([&](const Seen& at, const Compute& c) { check_order(at, c); });
        check_complete();
    }

private:
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (int r = 0; r < static_cast<int>(schedule_.ranks.size()); ++r)
            for (std::size_t i = 0; i < schedule_.ranks[r].size(); ++i)
                for_each_compute(schedule_.ranks[r][i], [&](const Compute& c) {
                    visit(Seen{r, i}, c);
                });
    }

    const Seen& seen(Pass pass, Stage stage, const MicroBatch& mb) const {
        return seen_[index_.of(stage, mb)][pass];
    }
    /// The position of the compute that makes a result.
    Seen maker_of(const Message& m) const {
        if (m.kind == Message::Kind::Activation)
            return seen(Pass::Forward, m.producer, m.micro_batch);
        const Seen& input = seen(Pass::BackwardInput, m.producer, m.micro_batch);
        return input.rank >= 0 ? input : seen(Pass::Backward, m.producer, m.micro_batch);
    }

    void note(const Seen& at, const Compute& c) {
        const std::string text = to_text(Action{c});
        if (!index_.contains(c)) {
            findings_.add(
                Kind::Misplaced, Rank{at.rank}, at.position,
                fmt::format("{} is outside the shape of {} stages, {} microbatches and {} "
                            "slices",
                            text, index_.stage_count(), schedule_.shape.micro_batches,
                            index_.slices()));
            return;
        }
        const auto& held = schedule_.placement.stages[at.rank];
        if (std::find(held.begin(), held.end(), c.stage) == held.end())
            findings_.add(Kind::Misplaced, Rank{at.rank}, at.position,
                          fmt::format("{} is on rank {}, which does not hold stage {}", text,
                                      at.rank, c.stage.index));
        Seen& known = seen_[index_.of(c.stage, c.micro_batch)][c.pass];
        if (known.rank >= 0)
            findings_.add(Kind::Duplicate, Rank{at.rank}, at.position,
                          fmt::format("{} is listed twice: on rank {} already", text, known.rank));
        else
            known = at;
    }

    void check_order(const Seen& at, const Compute& c) {
        if (!index_.contains(c)) return;
        for (const Message& input : inputs_of(c, index_.stage_count(), index_.slices())) {
            const Seen maker = maker_of(input);
            if (maker.rank < 0) continue;  // check_complete() reports it
            const bool forward = input.kind == Message::Kind::Activation;
            const std::string what =
                fmt::format("the {} of stage {}, microbatch {}", forward ? "forward" : "backward",
                            input.producer.index, to_text(input.micro_batch));
            if (maker.rank == at.rank && maker.position >= at.position)
                findings_.add(
                    Kind::Order, Rank{at.rank}, at.position,
                    fmt::format("{} comes before {}, which it needs", to_text(Action{c}), what));
            if (maker.rank != at.rank && input.producer == c.stage)
                findings_.add(Kind::Misplaced, Rank{at.rank}, at.position,
                              fmt::format("{} is on rank {}, but {} is on rank {}",
                                          to_text(Action{c}), at.rank, what, maker.rank));
        }
    }

    void check_complete() {
        for (std::size_t i = 0; i < index_.size() / 2; ++i) {
            const Message unit = index_.at(i);
            const auto has = [&](Pass pass) {
                return seen(pass, unit.producer, unit.micro_batch).rank >= 0;
            };
            const bool input = has(Pass::BackwardInput);
            const bool weight = has(Pass::BackwardWeight);
            if (!has(Pass::Forward)) missing(Pass::Forward, unit);
            if (has(Pass::Backward) && (input || weight)) in_both_forms(unit, input);
            if (has(Pass::Backward)) continue;
            if (!input && !weight) missing(Pass::Backward, unit);
            if (!input && weight) missing(Pass::BackwardInput, unit);
            if (input && !weight) missing(Pass::BackwardWeight, unit);
        }
    }

    void missing(Pass pass, const Message& unit) {
        const Action action = Compute{pass, unit.producer, unit.micro_batch};
        const auto holders = holders_.ranks_of(unit.producer);
        const Rank rank = holders.empty() ? Rank{0} : holders.front();
        findings_.add(Kind::Missing, rank, schedule_.ranks[rank.index].size(),
                      fmt::format("{} is on no rank", to_text(action)));
    }
    void in_both_forms(const Message& unit, bool input) {
        const Compute whole{Pass::Backward, unit.producer, unit.micro_batch};
        const Compute half{input ? Pass::BackwardInput : Pass::BackwardWeight, unit.producer,
                           unit.micro_batch};
        const Seen& at = seen(half.pass, half.stage, half.micro_batch);
        findings_.add(Kind::Duplicate, Rank{at.rank}, at.position,
                      fmt::format("{} is listed along with {}, which does the same work",
                                  to_text(Action{half}), to_text(Action{whole})));
    }

    const Schedule& schedule_;
    Findings& findings_;
    ResultIndex index_;
    PlacementIndex holders_;
    std::vector<ArrayBy<Pass, Seen, 4>> seen_;  ///< positions by stage, microbatch and slice
};

/// The state of a microbatch's saved tensors of a stage on one rank.
enum class Saved : std::uint8_t { No, Here, OnHost, Back };

/// Recompute, Offload and Reload come between a forward and its backward. `saved` is No for
/// everything before and after.
void check_saved(const Schedule& schedule, int rank, const ResultIndex& index,
                 std::vector<Saved>& saved, Findings& findings) {
    const ActionList& list = schedule.ranks[rank];
    std::vector<std::size_t> touched;
    const auto at = [&](Stage stage, const MicroBatch& mb) -> Saved& {
        touched.push_back(index.of(stage, mb));
        return saved[touched.back()];
    };
    const auto step = [&](std::size_t i, Stage stage, const MicroBatch& mb, auto&& change) {
        if (index.contains(stage, mb) && change(at(stage, mb))) return;
        findings.add(Kind::Order, Rank{rank}, i,
                     fmt::format("{} is not between its forward and its backward, where it belongs",
                                 to_text(list[i])));
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
        for_each_compute(list[i], [&](const Compute& c) {
            if (!index.contains(c) || c.pass == Pass::BackwardWeight) return;
            Saved& now = at(c.stage, c.micro_batch);
            if (c.pass != Pass::Forward && now == Saved::OnHost)
                findings.add(
                    Kind::Order, Rank{rank}, i,
                    fmt::format("{} needs what is offloaded and not reloaded", to_text(Action{c})));
            now = c.pass == Pass::Forward ? Saved::Here : Saved::No;
        });
        if (const auto* o = std::get_if<Offload>(&list[i]))
            step(i, o->stage, o->micro_batch, [](Saved& s) {
                const bool fits = s == Saved::Here;
                s = Saved::OnHost;
                return fits;
            });
        if (const auto* o = std::get_if<Reload>(&list[i]))
            step(i, o->stage, o->micro_batch, [](Saved& s) {
                const bool fits = s == Saved::OnHost;
                s = Saved::Back;
                return fits;
            });
        if (const auto* o = std::get_if<Recompute>(&list[i]))
            step(i, o->stage, o->micro_batch,
                 [](Saved& s) { return s == Saved::Here || s == Saved::Back; });
    }
    std::ranges::sort(touched);
    for (const std::size_t i : touched) {
        if (saved[i] == Saved::OnHost)
            findings.add(Kind::Leftover, Rank{rank}, list.size(),
                         fmt::format("microbatch {} of stage {} is still offloaded at the end",
                                     to_text(index.at(i).micro_batch), index.at(i).producer.index));
        saved[i] = Saved::No;
    }
}

bool has_saved_actions(const ActionList& list) {
    return std::any_of(list.begin(), list.end(), [](const Action& a) {
        return std::holds_alternative<Recompute>(a) || std::holds_alternative<Offload>(a) ||
               std::holds_alternative<Reload>(a);
    });
}

}  // namespace

void check_computes(const Schedule& schedule, Findings& findings) {
    ComputeChecker(schedule, findings).check();
    const ResultIndex index(schedule);
    std::vector<Saved> saved;
    for (int r = 0; r < static_cast<int>(schedule.ranks.size()); ++r) {
        if (!has_saved_actions(schedule.ranks[r])) continue;
        saved.resize(index.size() / 2);
        check_saved(schedule, r, index, saved, findings);
    }
}

}  // namespace debubble

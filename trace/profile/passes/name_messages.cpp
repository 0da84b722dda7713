#include "trace/profile/passes/name_passes.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "schedule/dependencies.h"

namespace debubble::profile {
namespace {

/// A pass with its times, and its results and inputs that cross a link.
struct Crossing {
    Compute pass;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::optional<std::pair<Rank, Message>> sends;
    std::optional<std::pair<Rank, Message>> receives;
};

/// The ranks that hold the stages of an order.
class Holders {
public:
    explicit Holders(const Schedule& order) : stages_(order.stage_count()) {
        for (std::size_t r = 0; r < order.placement.stages.size(); ++r)
            for (const Stage stage : order.placement.stages[r])
                holder_.try_emplace(stage.index, Rank{static_cast<std::int32_t>(r)});
    }

    std::optional<std::pair<Rank, Message>> sent_by(const Compute& pass, Rank own) const {
        const auto message = result_of(pass);
        if (!message) return std::nullopt;
        const bool up = message->kind == Message::Kind::Activation;
        return across(*message, message->producer.index + (up ? 1 : -1), own);
    }

    std::optional<std::pair<Rank, Message>> received_by(const Compute& pass, Rank own) const {
        const auto message = neighbour_input_of(pass, stages_);
        return message ? across(*message, message->producer.index, own) : std::nullopt;
    }

private:
    std::optional<std::pair<Rank, Message>> across(const Message& message, int stage,
                                                   Rank own) const {
        const auto other = holder_.find(stage);
        if (other == holder_.end() || other->second == own) return std::nullopt;
        return std::pair(other->second, message);
    }

    int stages_ = 0;
    std::map<int, Rank> holder_;
};

class MessageNamer {
public:
    MessageNamer(RankActions& found, Rank rank, const Schedule& order,
                 const std::map<int, Rank>& pipeline_ranks)
        : found_(found),
          rank_(rank),
          order_(order),
          pipeline_ranks_(pipeline_ranks),
          holders_(order) {}

    void run() {
        std::vector<std::vector<Crossing>> steps(found_.exchanges.size());
        for (const TimedAction& timed : found_.actions)
            if (const auto* const pass = std::get_if<Compute>(&timed.action))
                steps[timed.step].push_back({*pass, timed.begin, timed.end,
                                             holders_.sent_by(*pass, rank_),
                                             holders_.received_by(*pass, rank_)});
        for (std::size_t step = 0; step < steps.size(); ++step) {
            std::ranges::stable_sort(steps[step], {}, &Crossing::begin);
            one(steps[step], found_.exchanges[step], static_cast<int>(step));
        }
    }

private:
    void one(const std::vector<Crossing>& passes, const std::vector<Exchange>& exchanges,
             int step) {
        if (exchanges.empty()) return;
        const auto named = [](const Exchange& e) { return e.peer.has_value(); };
        if (std::ranges::all_of(exchanges, named)) return by_peers(passes, exchanges, step);
        const bool whole = std::ranges::none_of(
            passes, [](const Crossing& c) { return c.pass.pass == Pass::BackwardWeight; });
        if (whole && order_.stage_count() == static_cast<int>(order_.ranks.size()))
            return between_passes(passes, exchanges, step);
        by_times(passes, exchanges, step);
    }

    // ---- where both ends are written -------------------------------------------------------

    using Way = std::pair<Rank, bool>;  ///< the peer; true for sends

    void by_peers(const std::vector<Crossing>& passes, const std::vector<Exchange>& exchanges,
                  int step) {
        std::map<Way, std::vector<Message>> listed;
        std::map<Way, std::vector<const Exchange*>> seen;
        for (const Crossing& pass : passes)
            if (pass.sends) listed[{pass.sends->first, true}].push_back(pass.sends->second);
        for (std::size_t r = 0; r < order_.ranks.size(); ++r)
            sent_here(Rank{static_cast<std::int32_t>(r)}, listed);
        for (const Exchange& exchange : exchanges) {
            const auto peer = pipeline_ranks_.find(*exchange.peer);
            if (peer != pipeline_ranks_.end())
                seen[{peer->second, exchange.sends}].push_back(&exchange);
        }
        std::set<Way> ways;
        for (const auto& [way, messages] : listed) ways.insert(way);
        for (const auto& [way, kernels] : seen) ways.insert(way);
        for (const Way& way : ways) one_way(way, listed[way], seen[way], passes, step);
    }

    /// The messages that the order sends from rank `from` to this one.
    void sent_here(Rank from, std::map<Way, std::vector<Message>>& listed) const {
        if (from == rank_) return;
        for (const Action& action : order_.ranks[from])
            for_each_compute(action, [&](const Compute& pass) {
                const auto sent = holders_.sent_by(pass, from);
                if (sent && sent->first == rank_) listed[{from, false}].push_back(sent->second);
            });
    }

    void one_way(const Way& way, const std::vector<Message>& listed,
                 const std::vector<const Exchange*>& seen, const std::vector<Crossing>& passes,
                 int step) {
        found_.anchors += std::max(listed.size(), seen.size());
        if (listed.size() != seen.size())
            return note(fmt::format("step {}: {} messages {} rank {}, of which the order has {}",
                                    step + 1, seen.size(), way.second ? "to" : "from",
                                    way.first.index, listed.size()));
        for (std::size_t k = 0; k < listed.size(); ++k) {
            found_.fitting += possible(listed[k], *seen[k], passes);
            if (way.second)
                add(Send{listed[k], way.first}, *seen[k], step);
            else
                add(Recv{listed[k], way.first}, *seen[k], step);
        }
    }

    /// False if a result was sent before its pass ended, or an input received after its pass began.
    static bool possible(const Message& message, const Exchange& exchange,
                         const std::vector<Crossing>& passes) {
        return std::ranges::none_of(passes, [&](const Crossing& pass) {
            return (pass.sends && pass.sends->second == message && exchange.end < pass.end) ||
                   (pass.receives && pass.receives->second == message && exchange.end > pass.begin);
        });
    }

    // ---- where a transfer is one call of Megatron-LM's p2p_communication.py ----------------

    /// The transfers between two passes carry the sends of the first and the receives of the
    /// second: one transfer each, or one for both.
    void between_passes(const std::vector<Crossing>& passes, const std::vector<Exchange>& exchanges,
                        int step) {
        auto exchange = exchanges.begin();
        for (std::size_t i = 0; i <= passes.size(); ++i) {
            const std::int64_t until = i < passes.size() ? passes[i].begin : INT64_MAX;
            std::vector<Action> due;
            if (i > 0 && passes[i - 1].sends)
                due.emplace_back(Send{passes[i - 1].sends->second, Rank{}});
            if (i < passes.size() && passes[i].receives)
                due.emplace_back(Recv{passes[i].receives->second, Rank{}});
            std::vector<Exchange> between;
            for (; exchange != exchanges.end() && exchange->begin < until; ++exchange)
                between.push_back(*exchange);
            match(due, between, i, step);
        }
    }

    void match(const std::vector<Action>& due, const std::vector<Exchange>& between,
               std::size_t pass, int step) {
        found_.anchors += std::max(due.size(), between.size());
        const bool apart =
            std::ranges::any_of(between, [](const Exchange& e) { return !e.sends || !e.receives; });
        if (apart) {  // the profiler records which sends and which receives
            for (const Action& action : due) {
                const bool send = std::holds_alternative<Send>(action);
                const auto fits = std::ranges::find_if(
                    between, [&](const Exchange& e) { return send ? e.sends : e.receives; });
                if (fits == between.end()) continue;
                ++found_.fitting;
                add(action, *fits, step);
            }
        } else if (between.size() == 1 && due.size() == 2) {
            found_.fitting += 2;
            for (const Action& action : due) add(action, between.front(), step);
        } else if (between.size() == due.size()) {
            found_.fitting += due.size();
            for (std::size_t i = 0; i < due.size(); ++i) add(due[i], between[i], step);
        } else {
            note(
                fmt::format("step {}, before pass {}: {} transfers where a pipeline of one stage "
                            "per rank has {}",
                            step + 1, pass + 1, between.size(), due.size()));
        }
    }

    // ---- where a transfer carries up to four messages ----------------------------------------

    void by_times(const std::vector<Crossing>& passes, const std::vector<Exchange>& exchanges,
                  int step) {
        std::vector<std::pair<Action, const Exchange*>> carried;
        std::set<std::tuple<const Exchange*, Rank, bool>> taken;
        std::size_t due = 0;
        const auto carry = [&](const Action& action, Rank peer, const Exchange* exchange) {
            ++due;
            const bool send = std::holds_alternative<Send>(action);
            if (exchange != nullptr && taken.insert({exchange, peer, send}).second)
                carried.emplace_back(action, exchange);
        };
        for (const Crossing& pass : passes) {
            if (pass.sends)
                carry(Send{pass.sends->second, pass.sends->first}, pass.sends->first,
                      first_after(exchanges, pass.end));
            if (pass.receives)
                carry(Recv{pass.receives->second, pass.receives->first}, pass.receives->first,
                      last_before(exchanges, pass.begin));
        }
        std::set<const Exchange*> used;
        for (const auto& [action, exchange] : carried) used.insert(exchange);
        if (carried.size() != due || used.size() != exchanges.size())
            return note(
                "it is unknown which transfer carries which message: the profile does not record "
                "it, and "
                "times do not show it");
        found_.anchors += due;
        found_.fitting += due;
        for (const auto& [action, exchange] : carried) add(action, *exchange, step);
    }

    static const Exchange* first_after(const std::vector<Exchange>& exchanges, std::int64_t end) {
        const auto found = std::ranges::lower_bound(exchanges, end, {}, &Exchange::begin);
        return found == exchanges.end() ? nullptr : &*found;
    }

    static const Exchange* last_before(const std::vector<Exchange>& exchanges, std::int64_t begin) {
        const Exchange* last = nullptr;
        for (const Exchange& exchange : exchanges)
            if (exchange.end <= begin && (last == nullptr || exchange.end >= last->end))
                last = &exchange;
        return last;
    }

    // ----------------------------------------------------------------------------------------

    void add(const Action& action, const Exchange& exchange, int step) {
        found_.actions.push_back({action, exchange.begin, exchange.end, 0, exchange.bytes, step});
    }

    void note(const std::string& sentence) {
        constexpr std::size_t kMostNotes = 8;
        if (found_.notes.size() < kMostNotes &&
            std::ranges::find(found_.notes, sentence) == found_.notes.end())
            found_.notes.push_back(sentence);
    }

    RankActions& found_;
    Rank rank_;
    const Schedule& order_;
    const std::map<int, Rank>& pipeline_ranks_;
    Holders holders_;
};

}  // namespace

void name_messages(RankActions& found, Rank rank, const Schedule& order,
                   const std::map<int, Rank>& pipeline_ranks) {
    MessageNamer(found, rank, order, pipeline_ranks).run();
}

}  // namespace debubble::profile

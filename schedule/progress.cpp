#include "schedule/standstill.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "schedule/communicators.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

struct RankState {
    std::size_t position = 0;              ///< position of the first action that is not done
    std::vector<std::size_t> issued;       ///< positions of communications, in list order
    std::size_t started = 0;               ///< number of these that have started, if they start in
                                           ///< that order
    std::vector<std::size_t> collectives;  ///< positions of the collectives among those issued
    std::size_t collectives_done = 0;
};

struct SideState {
    std::size_t issued = 0;
    std::size_t started = 0;
};

/// A position in a rank's list.
struct ListPosition {
    int rank = -1;
    std::size_t position = 0;
    friend auto operator<=>(const ListPosition&, const ListPosition&) = default;
};

class Player {
public:
    Player(const Program& program, Transport transport)
        : program_(program),
          transport_(transport),
          index_(program),
          communicators_(program),
          ranks_(program.ranks.size()),
          done_(communicators_.all().size(), 0),
          made_(index_.size(), false),
          arrived_(index_.size(), false),
          send_of_(index_.size()),
          receive_of_(index_.size()),
          queued_(ranks_.size(), false) {
        for (const Communicator& c : communicators_.all()) sides_.emplace_back(c.sides.size());
        for (int r = 0; r < static_cast<int>(ranks_.size()); ++r)
            for (std::size_t i = 0; i < program_.ranks[r].size(); ++i) {
                const Action& action = program_.ranks[r][i];
                if (const auto* send = std::get_if<Send>(&action))
                    send_of_[index_.of(send->message)] = {r, i};
                if (const auto* recv = std::get_if<Recv>(&action))
                    receive_of_[index_.of(recv->message)] = {r, i};
            }
    }

    std::optional<Standstill> play() {
        for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) wake(r);
        run();
        const auto stuck = first_unfinished();
        return stuck ? std::optional(describe(chain_from(*stuck))) : std::nullopt;
    }

    Unjamming play_and_unjam() {
        for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) wake(r);
        Unjamming found;
        for (run(); const auto stuck = first_unfinished(); run()) {
            const auto jam = jam_in(chain_from(*stuck));
            found.finishes = jam.has_value();
            if (!jam) break;
            found.moves.push_back(receive_now(*jam));
        }
        return found;
    }

private:
    void run() {
        while (!queue_.empty()) {
            const int rank = queue_.front();
            queue_.pop_front();
            queued_[rank] = false;
            active_ = rank;
            start_what_can(rank);
            advance(rank);
        }
        active_ = kNobody;
    }

    std::optional<ListPosition> first_unfinished() const {
        for (int r = 0; r < static_cast<int>(ranks_.size()); ++r)
            if (const auto place = unfinished(r)) return place;
        return std::nullopt;
    }

    const Action& action(const ListPosition& at) const {
        return program_.ranks[at.rank][at.position];
    }
    const Part& part(const ListPosition& at) const {
        return communicators_.part(Rank{at.rank}, at.position);
    }
    bool is_channel(const Part& p) const { return communicators_[*p.communicator].is_channel; }

    /// A rank that is stepping through its list notices by itself what has changed, if its
    /// communications start in their order.
    void wake(int rank) {
        if (queued_[rank]) return;
        if (rank == active_ && transport_ == Transport::IssueOrdered) return;
        queued_[rank] = true;
        queue_.push_back(rank);
    }

    /// Steps through the list until an action cannot run yet.
    void advance(int rank) {
        const ActionList& list = program_.ranks[rank];
        RankState& state = ranks_[rank];
        for (; state.position < list.size(); ++state.position) {
            const ListPosition here{rank, state.position};
            if (missing_input(here)) return;
            if (std::holds_alternative<OptimizerStep>(action(here)) &&
                state.collectives_done < state.collectives.size())
                return;
            for_each_compute(action(here), [&](const Compute& c) {
                if (const auto result = result_of(c)) made_[index_.of(*result)] = true;
            });
            if (part(here).communicator && !issued(here)) issue(here);
        }
    }

    /// The first result that the action needs and that is not on the rank.
    std::optional<Message> missing_input(const ListPosition& at) const {
        std::optional<Message> missing;
        for_each_compute(action(at), [&](const Compute& c) {
            for (const Message& input : inputs_of(c, index_.stage_count(), index_.slices())) {
                const std::size_t i = index_.of(input);
                const bool comes = input.producer != c.stage && receive_of_[i].rank == at.rank;
                if (!missing && !(comes ? arrived_[i] : made_[i])) missing = input;
            }
        });
        return missing;
    }

    void issue(const ListPosition& at) {
        const Part& p = part(at);
        ++sides_[*p.communicator][p.side].issued;
        if (!is_channel(p)) ranks_[at.rank].collectives.push_back(at.position);
        if (transport_ == Transport::Buffered && is_channel(p)) {
            deliver(at);
            return;
        }
        ranks_[at.rank].issued.push_back(at.position);
        start_what_can(at.rank);
    }

    bool issued(const ListPosition& at) const {
        return part(at).number < sides_[*part(at).communicator][part(at).side].issued;
    }

    /// A buffered message arrives when both ends are issued, whatever the order.
    void deliver(const ListPosition& at) {
        const auto* send = std::get_if<Send>(&action(at));
        const std::size_t i =
            index_.of(send != nullptr ? send->message : std::get<Recv>(action(at)).message);
        if (!issued(send_of_[i]) || !issued(receive_of_[i])) return;
        arrived_[i] = true;
        wake(receive_of_[i].rank);
    }

    void start_what_can(int rank) {
        if (transport_ == Transport::IssueOrdered) {
            RankState& state = ranks_[rank];
            while (state.started < state.issued.size() &&
                   can_start({rank, state.issued[state.started]}))
                start({rank, state.issued[state.started++]});
            return;
        }
        for (const Part& mine : communicators_.of(Rank{rank})) {
            const auto& positions = communicators_[*mine.communicator].sides[mine.side].positions;
            const SideState& side = sides_[*mine.communicator][mine.side];
            while (side.started < side.issued && can_start({rank, positions[side.started]}))
                start({rank, positions[side.started]});
        }
    }

    /// True if the actions before it in its communicator are done; collectives also wait for each
    /// other, since they share a stream.
    bool can_start(const ListPosition& at) const {
        const Part& p = part(at);
        if (transport_ == Transport::Buffered && is_channel(p)) return false;  // see deliver()
        if (done_[*p.communicator] != p.number) return false;
        const RankState& state = ranks_[at.rank];
        return is_channel(p) || state.collectives[state.collectives_done] == at.position;
    }

    void start(const ListPosition& at) {
        const Part& p = part(at);
        auto& sides = sides_[*p.communicator];
        ++sides[p.side].started;
        const bool all = std::ranges::all_of(
            sides, [&](const SideState& side) { return side.started > p.number; });
        if (!all || (is_channel(p) && !ends_match(p))) return;
        ++done_[*p.communicator];
        for (const Communicator::Side& side : communicators_[*p.communicator].sides) {
            if (!is_channel(p)) ++ranks_[side.rank.index].collectives_done;
            wake(side.rank.index);
        }
        if (is_channel(p)) arrived_[index_.of(ends(p).second.message)] = true;
    }

    std::pair<const Send&, const Recv&> ends(const Part& p) const {
        const auto& sides = communicators_[*p.communicator].sides;
        return {std::get<Send>(action({sides[0].rank.index, sides[0].positions[p.number]})),
                std::get<Recv>(action({sides[1].rank.index, sides[1].positions[p.number]}))};
    }
    bool ends_match(const Part& p) const {
        const auto [send, recv] = ends(p);
        return send.message == recv.message;
    }

    /// The place at which the rank stops; nothing if it finishes.
    std::optional<ListPosition> unfinished(int rank) const {
        if (const auto place = waits_at(rank)) return place;
        for (const Part& mine : communicators_.of(Rank{rank})) {
            const auto& positions = communicators_[*mine.communicator].sides[mine.side].positions;
            if (transport_ == Transport::Buffered && is_channel(mine)) continue;
            if (done_[*mine.communicator] < positions.size())
                return ListPosition{rank, positions[done_[*mine.communicator]]};
        }
        return std::nullopt;
    }

    /// The communication that a rank waits for in its list.
    std::optional<ListPosition> waits_at(int rank) const {
        const RankState& state = ranks_[rank];
        if (state.position == program_.ranks[rank].size()) return std::nullopt;
        const ListPosition here{rank, state.position};
        const auto missing = missing_input(here);
        if (!missing) return ListPosition{rank, state.collectives[state.collectives_done]};
        const ListPosition recv = receive_of_[index_.of(*missing)];
        return recv.rank == rank ? recv : here;
    }

    /// The place that `at` waits for: on its own rank the action that must start before it, else on
    /// another rank the part that has not joined.
    std::optional<ListPosition> next(const ListPosition& at) const {
        if (!part(at).communicator) return std::nullopt;
        if (!issued(at)) return waits_at(at.rank);
        const Part& p = part(at);
        const Communicator& communicator = communicators_[*p.communicator];
        if (transport_ == Transport::Buffered && communicator.is_channel) {
            const auto& recv = std::get<Recv>(action(at));
            return send_of_[index_.of(recv.message)];
        }
        if (sides_[*p.communicator][p.side].started <= p.number) return starts_before(at);
        for (std::size_t s = 0; s < communicator.sides.size(); ++s) {
            const Communicator::Side& side = communicator.sides[s];
            const bool mismatch = communicator.is_channel && static_cast<int>(s) != p.side;
            if (p.number >= side.positions.size())
                return ListPosition{side.rank.index, kPastTheEnd};
            if (mismatch || sides_[*p.communicator][s].started <= p.number)
                return ListPosition{side.rank.index, side.positions[p.number]};
        }
        return std::nullopt;
    }

    ListPosition starts_before(const ListPosition& at) const {
        const Part& p = part(at);
        const auto& mine = communicators_[*p.communicator].sides[p.side].positions;
        if (done_[*p.communicator] < p.number) return {at.rank, mine[done_[*p.communicator]]};
        const RankState& state = ranks_[at.rank];
        if (transport_ == Transport::IssueOrdered && state.issued[state.started] != at.position)
            return {at.rank, state.issued[state.started]};
        return {at.rank, state.collectives[state.collectives_done]};
    }

    /// Follows the waits until a place recurs, or the chain ends.
    std::vector<ListPosition> chain_from(ListPosition place) const {
        std::vector<ListPosition> path{place};
        while (const auto to = next(path.back())) {
            if (to->position == kPastTheEnd) return path;
            const auto met = std::ranges::find(path, *to);
            const bool closed = met != path.end();
            path.push_back(*to);
            if (!closed) continue;
            path.erase(path.begin(), std::ranges::find(path, *to));
            return path;
        }
        return path;
    }

    /// A receive that has not started although its send has.
    std::optional<ListPosition> jam_in(const std::vector<ListPosition>& chain) const {
        for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
            const bool over_a_link = chain[i].rank != chain[i + 1].rank &&
                                     std::holds_alternative<Send>(action(chain[i])) &&
                                     std::holds_alternative<Recv>(action(chain[i + 1]));
            if (!over_a_link) continue;
            const Part& p = part(chain[i + 1]);
            if (sides_[*p.communicator][p.side].started <= p.number) return chain[i + 1];
        }
        return std::nullopt;
    }

    /// Starts the receive before everything else that its rank has not started.
    Move receive_now(const ListPosition& recv) {
        RankState& state = ranks_[recv.rank];
        std::size_t before = state.position;
        if (state.started < state.issued.size()) before = state.issued[state.started];
        if (issued(recv)) {
            std::erase(state.issued, recv.position);
        } else {
            ++sides_[*part(recv).communicator][part(recv).side].issued;
        }
        start(recv);
        return {Rank{recv.rank}, recv.position, before};
    }

    /// `path` is a chain; in a cycle its last place equals its first.
    Standstill describe(std::vector<ListPosition> path) const {
        const bool cycle = path.size() > 1 && path.front() == path.back();
        if (cycle) {
            path.pop_back();
            std::rotate(path.begin(), std::ranges::min_element(path), path.end());
            path.push_back(path.front());
        }
        Standstill found{Rank{path.front().rank}, ranks_[path.front().rank].position, {}};
        for (std::size_t i = 0; i + 1 < path.size() || i == 0; ++i) {
            const bool last = i + 1 >= path.size();
            if (!last && path[i].rank == path[i + 1].rank) continue;
            found.sentence += found.sentence.empty() ? fmt::format("rank {} waits", path[i].rank)
                                                     : std::string(", which waits");
            found.sentence += fmt::format(" at {}", to_text(action(path[i])));
            if (!last) found.sentence += fmt::format(" for rank {}", path[i + 1].rank);
        }
        const std::size_t end = program_.ranks[found.rank.index].size();
        if (found.position == end) found.position = path.front().position;
        return found;
    }

    static constexpr std::size_t kPastTheEnd = static_cast<std::size_t>(-1);
    static constexpr int kNobody = -1;

    const Program& program_;
    Transport transport_;
    ResultIndex index_;
    Communicators communicators_;
    std::vector<RankState> ranks_;
    std::vector<std::vector<SideState>> sides_;  ///< by communicator
    std::vector<std::size_t> done_;              ///< by communicator
    std::vector<bool> made_;                     ///< by result, on the rank that makes it
    std::vector<bool> arrived_;                  ///< by result, on the rank that receives it
    std::vector<ListPosition> send_of_;
    std::vector<ListPosition> receive_of_;
    std::deque<int> queue_;  ///< ranks that may be able to continue
    std::vector<bool> queued_;
    int active_ = kNobody;  ///< the rank that is stepping through its list
};

}  // namespace

Unjamming moves_against_jams(const Program& program) {
    return Player(program, Transport::IssueOrdered).play_and_unjam();
}

std::optional<Standstill> find_standstill(const Program& program, Transport transport) {
    if (shares_streams(transport)) return find_standstill_on_streams(program, transport);
    return Player(program, transport).play();
}

}  // namespace debubble

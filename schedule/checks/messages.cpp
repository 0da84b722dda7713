#include <fmt/format.h>

#include "schedule/checks/checks.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

using Kind = Violation::Kind;

struct End {
    int rank = -1;
    std::size_t position = 0;
    Rank peer;
};

class MessageChecker {
public:
    MessageChecker(const Program& program, Findings& findings)
        : program_(program),
          findings_(findings),
          index_(program),
          made_(index_.size()),
          taken_(index_.size()),
          sent_(index_.size()),
          received_(index_.size()) {}

    void check() {
        for (int r = 0; r < static_cast<int>(program_.ranks.size()); ++r)
            for (std::size_t i = 0; i < program_.ranks[r].size(); ++i) note(r, i);
        for (std::size_t i = 0; i < index_.size(); ++i) {
            const Message m = index_.at(i);
            if (sent_[i].rank >= 0) check_send(m, sent_[i], received_[i], made_[i]);
            if (received_[i].rank >= 0) check_receive(m, received_[i], sent_[i], taken_[i]);
            const bool crosses =
                made_[i].rank >= 0 && taken_[i].rank >= 0 && made_[i].rank != taken_[i].rank;
            if (crosses && received_[i].rank < 0)
                add(Kind::Unmatched, taken_[i], "{} needs {}, which its rank does not list",
                    to_text(action(taken_[i])), to_text(Action{Recv{m, {}}}));
        }
    }

private:
    const Action& action(const End& at) const { return program_.ranks[at.rank][at.position]; }

    template <class... Args>
    void add(Kind kind, const End& at, fmt::format_string<Args...> sentence, Args&&... args) {
        findings_.add(kind, Rank{at.rank}, at.position,
                      fmt::format(sentence, std::forward<Args>(args)...));
    }

    void note(int rank, std::size_t position) {
        const Action& a = program_.ranks[rank][position];
        for_each_compute(a, [&](const Compute& c) {
            if (const auto result = result_of(c)) made_[index_.of(*result)] = {rank, position, {}};
            if (const auto input = neighbour_input_of(c, index_.stage_count()))
                taken_[index_.of(*input)] = {rank, position, {}};
        });
        if (const auto* send = std::get_if<Send>(&a))
            note_end(sent_, send->message, {rank, position, send->to});
        if (const auto* recv = std::get_if<Recv>(&a))
            note_end(received_, recv->message, {rank, position, recv->from});
    }

    void note_end(std::vector<End>& ends, const Message& m, const End& at) {
        if (!index_.contains(m) || at.peer.index < 0 ||
            at.peer.index >= static_cast<int>(program_.ranks.size()) || at.peer.index == at.rank)
            add(Kind::Misplaced, at, "{} crosses no link between two ranks", to_text(action(at)));
        else if (ends[index_.of(m)].rank >= 0)
            add(Kind::Duplicate, at, "{} is listed twice", to_text(action(at)));
        else
            ends[index_.of(m)] = at;
    }

    void check_send(const Message& m, const End& send, const End& recv, const End& maker) {
        const std::string text = to_text(action(send));
        if (recv.rank != send.peer.index || recv.peer.index != send.rank)
            add(Kind::Unmatched, send, "{} has no {} on rank {}", text,
                to_text(Action{Recv{m, {}}}), send.peer.index);
        if (maker.rank != send.rank)
            add(Kind::Misplaced, send, "{} is on rank {}, which does not compute it", text,
                send.rank);
        else if (maker.position > send.position)
            add(Kind::Order, send, "{} comes before {}, which makes its message", text,
                to_text(action(maker)));
    }

    void check_receive(const Message& m, const End& recv, const End& send, const End& taker) {
        const std::string text = to_text(action(recv));
        if (send.rank != recv.peer.index || send.peer.index != recv.rank)
            add(Kind::Unmatched, recv, "{} has no {} on rank {}", text,
                to_text(Action{Send{m, {}}}), recv.peer.index);
        if (taker.rank != recv.rank)
            add(Kind::Leftover, recv, "{} brings what no compute of rank {} takes", text,
                recv.rank);
        else if (taker.position < recv.position)
            add(Kind::Order, recv, "{} comes after {}, which needs it", text,
                to_text(action(taker)));
    }

    const Program& program_;
    Findings& findings_;
    ResultIndex index_;
    // The computes that make and take each result, and the ends of its transfer, by result.
    std::vector<End> made_;
    std::vector<End> taken_;
    std::vector<End> sent_;
    std::vector<End> received_;
};

}  // namespace

void check_messages(const Program& program, Findings& findings) {
    MessageChecker(program, findings).check();
}

}  // namespace debubble

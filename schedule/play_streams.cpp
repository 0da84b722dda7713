#include <cstdint>
#include <vector>

#include "schedule/dependencies.h"
#include "schedule/standstill.h"

namespace debubble {
namespace {

constexpr std::int32_t kNoMessage = -1;

/// Steps through all lists, each as far as it goes. Messages are numbered by channel: the k-th send
/// of one rank to another and the k-th receive are the ends of one message.
class StreamPlayer {
public:
    StreamPlayer(const Program& program, Transport transport)
        : program_(program),
          transport_(transport),
          index_(program),
          ranks_(program.ranks.size()),
          brought_(index_.size()) {}

    bool finishes() {
        if (!number_messages()) return false;
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) awake_.push_back(rank);
        while (!awake_.empty()) {
            const int rank = awake_.back();
            awake_.pop_back();
            advance(rank);
            tell_ranks();
        }
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
            if (ranks_[rank].position < program_.ranks[rank].size()) return false;
        return told_ == messages_.size();
    }

private:
    /// Messages of a rank to or from a peer.
    struct Channel {
        int peer = 0;
        std::int32_t count = 0;
        std::int32_t next = 0;  ///< number of the message whose end is issued next
    };
    /// Messages that start one after the other.
    struct Stream {
        int peer = 0;
        std::vector<std::int32_t> issued;
        std::size_t head = 0;  ///< those before it are there
    };
    struct RankState {
        std::vector<Channel> out;
        std::vector<Channel> in;
        std::vector<Stream> streams;
        std::vector<std::int32_t>
            batch;  ///< since the last compute, as far as not known to be there
        std::size_t position = 0;
        std::int32_t waits_for = kNoMessage;
    };
    struct Message {
        int from = 0;
        int to = 0;
        int ends = 0;  ///< that have started
    };
    /// The message that brought a result to a rank.
    struct Brought {
        int rank = -1;
        std::int32_t message = kNoMessage;
    };

    static Channel& channel(std::vector<Channel>& all, int peer) {
        for (Channel& known : all)
            if (known.peer == peer) return known;
        return all.emplace_back(Channel{peer, 0, 0});
    }
    Stream& stream(int rank, int peer) {
        std::vector<Stream>& all = ranks_[rank].streams;
        const int key = transport_ == Transport::Group ? 0 : peer;
        for (Stream& known : all)
            if (known.peer == key) return known;
        return all.emplace_back(Stream{key, {}, 0});
    }
    bool is_there(std::int32_t message) const { return messages_[message].ends == 2; }

    /// False where the sends and receives of two ranks are not as many.
    bool number_messages() {
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
            for (const Action& action : program_.ranks[rank]) {
                if (const auto* send = std::get_if<Send>(&action))
                    ++channel(ranks_[rank].out, send->to.index).count;
                if (const auto* recv = std::get_if<Recv>(&action))
                    ++channel(ranks_[rank].in, recv->from.index).count;
            }
        std::size_t receives = 0;
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
            for (const Channel& in : ranks_[rank].in) receives += in.count;
            for (Channel& out : ranks_[rank].out) {
                Channel& in = channel(ranks_[out.peer].in, rank);
                if (in.count != out.count) return false;
                out.next = in.next = static_cast<std::int32_t>(messages_.size());
                messages_.insert(messages_.end(), out.count, {rank, out.peer, 0});
            }
        }
        return receives == messages_.size();
    }

    void advance(int rank) {
        RankState& state = ranks_[rank];
        const ActionList& list = program_.ranks[rank];
        for (; state.position < list.size(); ++state.position) {
            const Action& action = list[state.position];
            if (const auto* send = std::get_if<Send>(&action)) {
                issue(rank, send->to.index, channel(state.out, send->to.index));
            } else if (const auto* recv = std::get_if<Recv>(&action)) {
                Channel& in = channel(state.in, recv->from.index);
                brought_[index_.of(recv->message)] = {rank, in.next};
                issue(rank, recv->from.index, in);
            } else {
                state.waits_for = missing(rank, action);
                if (state.waits_for != kNoMessage) return;
            }
        }
    }

    /// A message that the action waits for.
    std::int32_t missing(int rank, const Action& action) {
        std::vector<std::int32_t>& batch = ranks_[rank].batch;
        for (; !batch.empty(); batch.pop_back())
            if (!is_there(batch.back())) return batch.back();
        std::int32_t missing = kNoMessage;
        for_each_compute(action, [&](const Compute& c) {
            const auto input = neighbour_input_of(c, index_.stage_count());
            if (!input) return;
            const Brought& brought = brought_[index_.of(*input)];
            if (brought.rank == rank && !is_there(brought.message)) missing = brought.message;
        });
        return missing;
    }

    void issue(int rank, int peer, Channel& channel) {
        const std::int32_t message = channel.next++;
        if (transport_ == Transport::Batched) {
            ranks_[rank].batch.push_back(message);
            start_end(message);
            return;
        }
        Stream& on = stream(rank, peer);
        on.issued.push_back(message);
        if (on.head + 1 == on.issued.size()) start_end(message);
    }
    void start_end(std::int32_t message) {
        if (++messages_[message].ends == 2) there_.push_back(message);
    }

    void tell_ranks() {
        for (; !there_.empty(); ++told_) {
            const std::int32_t message = there_.back();
            there_.pop_back();
            tell(messages_[message].from, messages_[message].to, message);
            tell(messages_[message].to, messages_[message].from, message);
        }
    }
    void tell(int rank, int peer, std::int32_t message) {
        if (transport_ != Transport::Batched) {
            Stream& on = stream(rank, peer);
            if (++on.head < on.issued.size()) start_end(on.issued[on.head]);
        }
        if (ranks_[rank].waits_for != message) return;
        ranks_[rank].waits_for = kNoMessage;
        awake_.push_back(rank);
    }

    const Program& program_;
    Transport transport_;
    ResultIndex index_;
    std::vector<RankState> ranks_;
    std::vector<Message> messages_;
    std::vector<Brought> brought_;     ///< by result, to the rank that received it last
    std::vector<std::int32_t> there_;  ///< messages whose ranks have not been told
    std::size_t told_ = 0;
    std::vector<int> awake_;
};

}  // namespace

bool finishes_on_streams(const Program& program, Transport transport) {
    return StreamPlayer(program, transport).finishes();
}

}  // namespace debubble

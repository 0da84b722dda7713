#pragma once

#include <chrono>
#include <list>
#include <map>

#include "exec/arena.h"
#include "exec/comm/communicator.h"
#include "exec/interpreter/step_record.h"

namespace debubble::exec {

/// The results that lie on a rank between two of its computes, and those on the way: in
/// from, or out to, the ranks of its pipeline.
class Messages {
public:
    Messages(Communicator& pipeline, Recorder& recorder, std::chrono::nanoseconds patience)
        : pipeline_(pipeline), recorder_(recorder), patience_(patience) {}

    void put(const Message& message, ArenaTensor tensor);
    void receive(const Recv& recv, ArenaTensor buffer);
    /// Of a message that was put here.
    void send(const Send& send);

    /// Waits for the message if a receive of it is under way.
    void await(const Message& message);
    /// Precondition: it is here.
    ArenaTensor take(const Message& message);

    /// Frees the buffers of sends that are done; waits for none.
    void free_sent();
    /// Waits for all sends. Nothing is left then, if the program is valid.
    void finish();

private:
    /// The request goes first: it needs the buffer until it is gone.
    template <class End>
    struct UnderWay {
        End end;
        ArenaTensor buffer;
        Pending request;
    };
    static Channel channel_to(Rank peer, const Message& message) {
        return {peer.index, message.kind};
    }
    void sent(const UnderWay<Send>& send);

    Communicator& pipeline_;
    Recorder& recorder_;
    std::chrono::nanoseconds patience_;
    std::map<Message, ArenaTensor> here_;
    std::map<Message, UnderWay<Recv>> coming_;
    std::list<UnderWay<Send>> going_;
};

}  // namespace debubble::exec

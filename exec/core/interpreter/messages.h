#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>

#include "exec/core/arena.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/interpreter/step_record.h"
#include "trace/action_log.h"

namespace debubble::exec {

/// The results that a rank holds between two of its computes, and those on the way in from or out
/// to the ranks of its pipeline.
class Messages {
public:
    /// `lender`: the arena that lends the buffers of sends where a device moves them, so that the
    /// rank does not hold them longer than if the transport had copied them at once. `log`: records
    /// what was sent, asked for and taken; nullptr if this is not wanted.
    Messages(Communicator& pipeline, Recorder& recorder, std::chrono::nanoseconds patience,
             Arena* lender = nullptr, ActionLog* log = nullptr)
        : pipeline_(pipeline),
          recorder_(recorder),
          patience_(patience),
          lender_(lender),
          log_(log) {}

    void put(const Message& message, ArenaTensor tensor);
    void receive(const Recv& recv, ArenaTensor buffer);
    /// Sends a message that was put here.
    void send(const Send& send);

    /// Waits for the message if a receive of it is under way.
    void await(const Message& message);
    /// Takes a message. Precondition: it is here.
    ArenaTensor take(const Message& message);

    /// Frees the buffers of sends that are done, without waiting for any.
    void free_sent();
    /// Waits for all sends. Nothing is left then, if the program is valid.
    void finish();

private:
    /// A communication and its buffer. The request is destroyed first, since it needs the buffer
    /// until then.
    template <class End>
    struct UnderWay {
        End end;
        Bytes bytes;
        ArenaTensor buffer;  ///< empty if lent
        std::shared_ptr<Request> request;
    };
    static Channel channel_to(Rank peer, const Message& message) {
        return {peer.index, message.kind};
    }
    void sent(const UnderWay<Send>& send);

    Communicator& pipeline_;
    Recorder& recorder_;
    std::chrono::nanoseconds patience_;
    Arena* lender_;
    ActionLog* log_;
    std::map<Message, ArenaTensor> here_;
    std::map<Message, UnderWay<Recv>> coming_;
    std::list<UnderWay<Send>> going_;
};

}  // namespace debubble::exec

#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include "exec/core/arena.h"
#include "exec/core/communicator/communicator.h"
#include "exec/core/interpreter/step_record.h"
#include "exec/core/stage/step.h"
#include "trace/action_log.h"

/// The communications of a rank's step that are in flight: messages along the pipeline, and the
/// collectives on parameters and gradients.
namespace debubble::exec {

/// The results that a rank holds between two of its computes, and those in flight from or to the
/// other ranks of its pipeline.
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

    /// Waits for the message if a receive of it is in flight.
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
        std::optional<ArenaTensor> buffer;  ///< unset if lent
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

/// The gathers and reductions of a rank that are in flight: they overlap computes until something
/// needs them.
class Collectives {
public:
    Collectives(StepActions& actions, Recorder& recorder, std::chrono::nanoseconds patience)
        : actions_(actions), recorder_(recorder), patience_(patience) {}

    void unshard(Stage stage);
    void reshard(Stage stage);
    void reduce_grad(Stage stage);
    void tied_grad_reduce(Stage stage);
    void grad_norm();

    /// Waits before a pass: a pass of the stage needs its parameters, and one that adds to its
    /// gradients must not coincide with their reduction.
    void before_pass(const Compute& compute);
    /// Waits for all requests: the optimizer needs them.
    void finish();

private:
    struct Open {
        Action action;
        Moment asked;
        int number = 0;  ///< index among the requests
        Pending request;
    };
    void ask(const Action& action, const std::function<Pending()>& request);
    void finish_if(const std::function<bool(const Action&)>& is_needed);
    void finish_gather(Stage stage);
    void finish_reductions();

    StepActions& actions_;
    Recorder& recorder_;
    std::chrono::nanoseconds patience_;
    std::list<Open> open_;  ///< in the order in which they were asked for
    int asked_ = 0;
};

}  // namespace debubble::exec

#include "exec/core/interpreter/communications.h"

#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace debubble::exec {

namespace {

/// A message as bytes: the two stages need not use the same element type.
Buffer bytes_of(const ArenaTensor& tensor) {
    const TensorView& view = tensor.view();
    return {{view.data, static_cast<std::size_t>(view.bytes())}, DataType::Bf16};
}

}  // namespace

void Messages::put(const Message& message, ArenaTensor tensor) {
    DEBUBBLE_CHECK(tensor, "a stage produces the tensor that it sends");
    here_.insert_or_assign(message, std::move(tensor));
}

void Messages::receive(const Recv& recv, ArenaTensor buffer) {
    UnderWay<Recv> coming{recv, Bytes{buffer.view().bytes()}, std::move(buffer), nullptr};
    coming.request = pipeline_.receive(channel_to(recv.from, recv.message),
                                       bytes_of(*coming.buffer), to_text(Action{recv}));
    if (log_ != nullptr) log_->receives.push_back(recv);
    coming_.insert_or_assign(recv.message, std::move(coming));
}

void Messages::send(const Send& send) {
    UnderWay<Send> going{send, {}, take(send.message), nullptr};
    going.bytes = Bytes{going.buffer->view().bytes()};
    going.request = pipeline_.send(channel_to(send.to, send.message), bytes_of(*going.buffer),
                                   to_text(Action{send}));
    if (log_ != nullptr) log_->actions.emplace_back(send);
    if (lender_ != nullptr)
        lender_->lend(*std::exchange(going.buffer, std::nullopt),
                      [request = going.request] { return request->done(); });
    going_.push_back(std::move(going));
}

void Messages::await(const Message& message) {
    const auto coming = coming_.find(message);
    if (coming == coming_.end()) return;
    const Interval when = coming->second.request->wait(within(patience_));
    recorder_.span(coming->second.end, when, coming->second.bytes);
    put(message, std::move(*coming->second.buffer));
    coming_.erase(coming);
}

ArenaTensor Messages::take(const Message& message) {
    const auto here = here_.find(message);
    DEBUBBLE_CHECK(here != here_.end(),
                   fmt::format("a valid program computes or receives the result of stage {} and "
                               "microbatch {} before its use",
                               message.producer.index, message.micro_batch.index));
    ArenaTensor tensor = std::move(here->second);
    here_.erase(here);
    if (log_ != nullptr) log_->results.push_back(message);
    return tensor;
}

void Messages::free_sent() {
    if (lender_ != nullptr) return;  // the lender frees them
    for (auto going = going_.begin(); going != going_.end();) {
        if (!going->request->done()) {
            ++going;
            continue;
        }
        sent(*going);
        going = going_.erase(going);
    }
}

void Messages::finish() {
    for (; !going_.empty(); going_.pop_front()) sent(going_.front());
    DEBUBBLE_CHECK(here_.empty() && coming_.empty(), "a valid program leaves no result unused");
}

void Messages::sent(const UnderWay<Send>& send) {
    const Interval when = send.request->wait(within(patience_));
    recorder_.span(send.end, when, send.bytes);
}

}  // namespace debubble::exec

#include "tests/exec/support/comm/comm_promises.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "tests/exec/support/comm/comm_checks.h"

/// Messages between two ranks.
namespace debubble::exec {

namespace {

int next(const Communicator& c) {
    return (c.rank() + 1) % c.size();
}
int previous(const Communicator& c) {
    return (c.rank() + c.size() - 1) % c.size();
}

/// Every rank sends to the next and receives from the previous, all asked in an order that
/// even issue-ordered transport carries out: along an open chain, then back from its end.
void exchange(Communicator& c, ConstBuffer out, Buffer in, const Channel& channel) {
    const auto with = [&](int peer) { return Channel{peer, channel.kind, channel.tag}; };
    Pending receive, send;
    if (c.rank() > 0) receive = c.receive(with(previous(c)), in, "0RECV_F0");
    send = c.send(with(next(c)), out, "0SEND_F0");
    if (c.rank() == 0) receive = c.receive(with(previous(c)), in, "0RECV_F0");
    send->wait(soon());
    receive->wait(soon());
}

void big_messages_arrive_whole(Communicator& c) {
    constexpr std::size_t kElements = 3'000'001;
    std::vector<std::int32_t> out(kElements), in(kElements);
    std::iota(out.begin(), out.end(), c.rank() * 1000);
    exchange(c, buffer_of(std::span(out)), buffer_of(std::span(in)), {0, kActivation});
    std::iota(out.begin(), out.end(), previous(c) * 1000);
    check(in == out, "every element is the sender's");
}

void all_types_are_carried_unchanged(Communicator& c) {
    for (const DataType type : kAllTypes) {
        auto out = encode(table(17, [&](int i) { return i + c.rank(); }), type);
        std::vector<std::byte> in(out.size());
        exchange(c, as_buffer(out, type), as_buffer(in, type), {0, kActivation});
        check(in == encode(table(17, [&](int i) { return i + previous(c); }), type),
              "the bits that were sent");
    }
}

/// A rank that polls gets there without a wait.
void done_comes_without_a_wait(Communicator& c) {
    if (c.rank() > 1) return;
    float value = c.rank() == 0 ? 3.0f : 0.0f;
    const Buffer data = buffer_of(std::span(&value, 1));
    const Pending request = c.rank() == 0 ? c.send({1, kActivation}, data, "0SEND_F0")
                                          : c.receive({0, kActivation}, data, "1RECV_F0");
    const Deadline patience = soon();
    while (!request->done()) {
        check(Clock::now() < patience, "a message is done some time");
        std::this_thread::yield();
    }
    check(value == 3.0f, "done means that the bytes are there");
    request->wait(Clock::now());
}

void many_outstanding_messages_keep_their_order(Communicator& c) {
    constexpr int kMessages = 200;
    std::vector<int> out(kMessages), in(kMessages, -1);
    std::iota(out.begin(), out.end(), 0);
    std::vector<Pending> requests;
    for (int i = 0; i < kMessages; ++i) {
        const std::span item_out(&out[i], 1), item_in(&in[i], 1);
        if (c.rank() > 0) {
            requests.push_back(c.receive({previous(c), kActivation}, buffer_of(item_in), "RECV"));
        }
        if (c.rank() + 1 < c.size()) {
            requests.push_back(c.send({next(c), kActivation}, buffer_of(item_out), "SEND"));
        }
    }
    std::reverse(requests.begin(), requests.end());  // waited for in any order
    for (const Pending& request : requests) request->wait(soon());
    if (c.rank() > 0) check(in == out, "first in, first out");
}

void channels_do_not_mix(Communicator& c) {
    int out[3] = {10, 20, 30}, in[3] = {};
    const Channel channels[3] = {{0, kActivation, 0}, {0, kActivation, 1}, {0, kGradient, 0}};
    std::vector<Pending> requests;
    for (int i = 0; i < 3; ++i) {
        Channel channel = channels[i];
        if (c.rank() == 0) {
            channel.peer = 1;
            requests.push_back(c.send(channel, buffer_of(std::span(&out[i], 1)), "SEND"));
        } else if (c.rank() == 1) {
            requests.push_back(c.receive(channel, buffer_of(std::span(&in[i], 1)), "RECV"));
        }
    }
    for (const Pending& request : requests) request->wait(soon());
    if (c.rank() == 1) {
        check(std::equal(in, in + 3, out), "kind and tag tell messages apart");
    }
}

void nothing_is_carried_too(Communicator& c) {
    std::vector<float> none;
    const Buffer empty = buffer_of(std::span(none));
    exchange(c, empty, empty, {0, kGradient});
    c.all_reduce(empty, Reduction::Sum, "REDUCE_GRAD")->wait(soon());
    c.all_gather(empty, empty, "UNSHARD")->wait(soon());
    c.reduce_scatter(empty, empty, Reduction::Max, "REDUCE_GRAD")->wait(soon());
    c.broadcast(empty, 0, "INIT")->wait(soon());
    const std::vector<ConstBuffer> out(c.size(), empty);
    const std::vector<Buffer> in(c.size(), empty);
    c.all_to_all(out, in, "DISPATCH")->wait(soon());
    c.reduce_scatter_uneven(out, empty, Reduction::Sum, "SCATTER")->wait(soon());
}

}  // namespace

std::vector<ConformanceCase> message_promises() {
    return {
        {"BigMessagesArriveWhole", big_messages_arrive_whole},
        {"AllTypesAreCarriedUnchanged", all_types_are_carried_unchanged},
        {"DoneComesWithoutAWait", done_comes_without_a_wait},
        {"ManyOutstandingMessagesKeepTheirOrder", many_outstanding_messages_keep_their_order},
        {"ChannelsDoNotMix", channels_do_not_mix},
        {"NothingIsCarriedToo", nothing_is_carried_too},
    };
}

}  // namespace debubble::exec

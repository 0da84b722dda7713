#include "tests/exec/support/comm/comm_promises.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/exec/support/comm/comm_checks.h"

/// Times of waits, and what ends them.
namespace debubble::exec {

namespace {

void waits_tell_when_the_bytes_moved(Communicator& c) {
    const Clock::time_point before = Clock::now();
    float value = 0;
    const Buffer data = buffer_of(std::span(&value, 1));
    const Pending request = c.rank() == 0   ? c.send({1, kActivation}, data, "0SEND_F0")
                            : c.rank() == 1 ? c.receive({0, kActivation}, data, "1RECV_F0")
                                            : c.barrier("BARRIER");
    const Pending barrier = c.rank() < 2 ? c.barrier("BARRIER") : nullptr;
    const Interval interval = request->wait(soon());
    check(
        before <= interval.begin && interval.begin <= interval.end && interval.end <= Clock::now(),
        "the interval lies between asking and having");
    check(request->wait(soon()).end == interval.end, "a second wait says the same");
    if (barrier) barrier->wait(soon());
}

/// The last rank fails before it comes; the others wait for it in different ways.
void one_failure_ends_all_waits(Communicator& c) {
    if (c.rank() == c.size() - 1) {
        c.abort("no space left on device");
        return;
    }
    const Clock::time_point start = Clock::now();
    float value = 0;
    const Buffer data = buffer_of(std::span(&value, 1));
    const Pending request = c.rank() == 0 ? c.receive({c.size() - 1, kGradient}, data, "0RECV_B3")
                                          : c.all_reduce(data, Reduction::Sum, "0RECV_B3");
    const std::string sentence = failure_of([&] { request->wait(soon()); });
    check_has(sentence, "rank " + std::to_string(c.rank()) + " stopped waiting for 0RECV_B3");
    check_has(sentence,
              "rank " + std::to_string(c.size() - 1) + " failed: no space left on device");
    check(Clock::now() - start < 20s, "long before the deadline");
    check_has(failure_of([&] { c.barrier("BARRIER")->wait(soon()); }), "no space left");
}

void a_deadline_names_what_and_who_is_missing(Communicator& c) {
    if (c.rank() == 0) {
        float value = 0;
        const Pending request =
            c.receive({1, kActivation}, buffer_of(std::span(&value, 1)), "0RECV_F3");
        const std::string sentence = failure_of([&] { request->wait(shortly()); });
        const std::string start = "rank 0 waited ";
        check(sentence.starts_with(start), "it says who waited");
        check(std::stod(sentence.substr(start.size())) >= 0.049, "and how long");
        check_has(sentence, " s for 0RECV_F3 from rank 1: rank 1 has not reached it");
    } else {
        const std::string sentence = failure_of([&] { c.barrier("BARRIER")->wait(soon()); });
        check_has(sentence, "stopped waiting for BARRIER among ranks 0, 1");
        check_has(sentence, ": rank 0 waited ");
    }
}

/// Each receives first what the other sends second: no transport can carry that out.
void a_deadlock_ends_and_names_the_wait(Communicator& c) {
    if (c.rank() > 1) return;
    float in = 0, out = 0;
    const int other = 1 - c.rank();
    const std::string sentence = failure_of([&] {
        c.receive({other, kActivation}, buffer_of(std::span(&in, 1)), "1RECV_F0")->wait(shortly());
        c.send({other, kActivation}, buffer_of(std::span(&out, 1)), "0SEND_F0")->wait(shortly());
    });
    check_has(sentence, "1RECV_F0 from rank " + std::to_string(other));
    check_has(sentence, "has not reached it");
}

void unequal_sizes_are_told_on_both_sides(Communicator& c) {
    if (c.rank() > 1) return;
    std::vector<float> values(4);
    const std::span all(values);
    const std::string sentence = failure_of([&] {
        (c.rank() == 0 ? c.send({1, kActivation}, buffer_of(all), "0SEND_F1")
                       : c.receive({0, kActivation}, buffer_of(all.first(3)), "1RECV_F1"))
            ->wait(soon());
        c.barrier("BARRIER")->wait(soon());
    });
    check_has(sentence, "0SEND_F1 to rank 1 for a message of 16 bytes of fp32");
    check_has(sentence, "1RECV_F1 from rank 0 for a message of 12 bytes of fp32");
}

void unequal_pieces_are_told_on_both_sides(Communicator& c) {
    std::vector<float> values(8);
    const std::span all(values);
    const std::string sentence = failure_of([&] {
        std::vector<ConstBuffer> out(c.size(), buffer_of(all.first(1)));
        if (c.rank() == 0) out[1] = buffer_of(all.first(2));
        std::vector<float> taken(c.size());
        std::vector<Buffer> in;
        for (int r = 0; r < c.size(); ++r) in.push_back(buffer_of(std::span(taken).subspan(r, 1)));
        c.all_to_all(out, in, "DISPATCH")->wait(soon());
        c.barrier("BARRIER")->wait(soon());
    });
    check_has(sentence, "rank 0 takes DISPATCH among rank");
    check_has(sentence, "for a chunk of an all-to-all of 8 bytes of fp32");
    check_has(sentence, "for a chunk of an all-to-all of 4 bytes of fp32");
}

void a_request_given_up_does_not_hang_the_others(Communicator& c) {
    float value = 0;
    const Buffer data = buffer_of(std::span(&value, 1));
    if (c.rank() == 0) {
        c.receive({1, kActivation}, data, "0RECV_F0");
    } else {
        check_has(failure_of([&] { c.barrier("BARRIER")->wait(soon()); }),
                  "rank 0 gave 0RECV_F0 from rank 1 up before it was done");
    }
}

}  // namespace

std::vector<ConformanceCase> failure_promises() {
    return {
        {"WaitsTellWhenTheBytesMoved", waits_tell_when_the_bytes_moved},
        {"OneFailureEndsAllWaits", one_failure_ends_all_waits, true},
        {"ADeadlineNamesWhatAndWhoIsMissing", a_deadline_names_what_and_who_is_missing, true},
        {"ADeadlockEndsAndNamesTheWait", a_deadlock_ends_and_names_the_wait, true},
        {"UnequalSizesAreToldOnBothSides", unequal_sizes_are_told_on_both_sides, true},
        {"UnequalPiecesAreToldOnBothSides", unequal_pieces_are_told_on_both_sides, true},
        {"ARequestGivenUpDoesNotHangTheOthers", a_request_given_up_does_not_hang_the_others, true},
    };
}

}  // namespace debubble::exec

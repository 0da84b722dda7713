#include "exec/comm/tcp.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <tuple>

#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/comm/tcp/handshake_words.h"
#include "exec/comm/tcp/rendezvous.h"
#include "tests/exec/support/comm_checks.h"
#include "tests/exec/support/comm_conformance.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/exec/support/stranger.h"
#include "tests/exec/support/tcp_world.h"

namespace debubble::exec {
namespace {

class TcpCommunicator : public testing::TestWithParam<std::tuple<int, ConformanceCase>> {};

TEST_P(TcpCommunicator, KeepsThePromise) {
    const auto& [ranks, promise] = GetParam();
    EXPECT_EQ(run_tcp(ranks, promise.body), std::vector<std::string>(ranks));
}

std::string name_of_tcp_case(const testing::TestParamInfo<TcpCommunicator::ParamType>& run) {
    return "Over" + std::to_string(std::get<0>(run.param)) + std::get<1>(run.param).name;
}

INSTANTIATE_TEST_SUITE_P(Conformance, TcpCommunicator,
                         testing::Combine(testing::Values(2, 3, 4),
                                          testing::ValuesIn(conformance_cases())),
                         name_of_tcp_case);

TEST(TcpWorld, OneRankIsAJobToo) {
    EXPECT_EQ(
        run_tcp(
            1,
            [](Communicator& c) {
                int value = 7;
                c.all_reduce(buffer_of(std::span(&value, 1)), Reduction::Sum, "SUM")->wait(soon());
                check(value == 7, "a sum of one");
            }),
        std::vector<std::string>(1));
}

/// A small message goes its way while a large one to the same rank is written.
TEST(TcpWorld, MessagesOvertakeLargeOnes) {
    const auto failures = run_tcp(2, [](Communicator& c) {
        std::vector<float> large(64 << 20);
        float small = 1;
        const Channel big{1 - c.rank(), Message::Kind::Activation};
        const Channel little{1 - c.rank(), Message::Kind::Gradient};
        const Buffer all = buffer_of(std::span(large)), one = buffer_of(std::span(&small, 1));
        const Pending first = c.rank() == 0 ? c.send(big, all, "BIG") : c.receive(big, all, "BIG");
        const Pending second =
            c.rank() == 0 ? c.send(little, one, "LITTLE") : c.receive(little, one, "LITTLE");
        const Interval overtook = second->wait(soon());
        check(overtook.end <= first->wait(soon()).end, "256 MiB do not hold 4 bytes up");
    });
    EXPECT_EQ(failures, std::vector<std::string>(2));
}

/// A rank of a job of two.
TcpJob job_at(int rank, int port, std::chrono::nanoseconds patience = 60s) {
    TcpJob job;
    job.rank = rank;
    job.ranks = 2;
    job.port = port;
    job.secret = "of this test";
    job.one_host = true;
    job.patience = patience;
    return job;
}
TcpJob job_of(const TcpListener& listener, std::chrono::nanoseconds patience = 60s) {
    TcpJob job = job_at(0, listener.port, patience);
    job.listening = listener.descriptor;
    return job;
}

std::string failure_to_connect(const TcpJob& job) {
    return failure_of([&] { connect_tcp(job); });
}

/// Meets the other, sums up, and parts.
int sum_at(const TcpJob& job) {
    const auto world = connect_tcp(job);
    int value = world->rank() + 1;
    world->all_reduce(buffer_of(std::span(&value, 1)), Reduction::Sum, "SUM")->wait(soon());
    return value;
}

TEST(TcpRendezvous, SaysWhoHasNotCome) {
    const TcpListener listener = listen_here();
    const std::string address = "at 127.0.0.1:" + std::to_string(listener.port);
    EXPECT_EQ(failure_to_connect(job_of(listener, 50ms)),
              "rank 0 waited 0.05 s for rank 1 to join it " + address);
}

TEST(TcpRendezvous, SaysThatRank0IsNotThere) {
    const TcpListener listener = listen_here();
    ::close(listener.descriptor);
    EXPECT_EQ(failure_to_connect(job_at(1, listener.port, 200ms)),
              "rank 1 waited 0.2 s for rank 0 at 127.0.0.1:" + std::to_string(listener.port) +
                  ": Connection refused");
}

TEST(TcpRendezvous, ASecondJobAtThePortIsRefusedInWords) {
    const TcpListener listener = listen_here();
    auto first =
        std::async(std::launch::async, [&] { return failure_to_connect(job_of(listener, 1s)); });
    TcpJob second = job_at(1, listener.port);
    second.secret = "of another";
    const std::string where = "127.0.0.1:" + std::to_string(listener.port);
    EXPECT_EQ(failure_to_connect(second),
              "rank 0 of the job at " + where + " has refused rank 1: it belongs to another job");
    EXPECT_EQ(first.get(), "rank 0 waited 1 s for rank 1 to join it at " + where +
                               "; a stranger was refused, since it belongs to another job");
}

/// Nobody waits for the deadline: the job cannot come together.
TEST(TcpRendezvous, ARankOfAnotherBuildEndsTheJobInWordsOnBothSides) {
    const TcpListener listener = listen_here();
    TcpJob of_rank_0 = job_of(listener), of_rank_1 = job_at(1, listener.port);
    of_rank_0.build = {"0123456789abcdef"};
    of_rank_1.build = {"fedcba9876543210"};
    auto first = std::async(std::launch::async, [&] { return failure_to_connect(of_rank_0); });
    EXPECT_EQ(failure_to_connect(of_rank_1),
              "rank 0 at 127.0.0.1:" + std::to_string(listener.port) +
                  " runs build 0123456789ab of debubble, and rank 1 runs build fedcba987654: all "
                  "ranks of a job must run the same build");
    EXPECT_EQ(first.get(),
              "rank 1 cannot join: it runs build fedcba987654 of debubble, and rank 0 runs build "
              "0123456789ab; all ranks of a job must run the same build");
}

/// A caller that does not know the secret says nothing that counts.
TEST(TcpRendezvous, AStrangerOfAnotherBuildDoesNotEndTheJob) {
    const TcpListener listener = listen_here();
    TcpJob stranger = job_at(1, listener.port);
    stranger.secret = "a guess";
    stranger.build = {"fedcba9876543210"};
    auto rank_0 = std::async(std::launch::async, [&] { return sum_at(job_of(listener)); });
    check_has(failure_to_connect(stranger), "runs build");
    EXPECT_EQ(sum_at(job_at(1, listener.port)), 3);
    EXPECT_EQ(rank_0.get(), 3);
}

TEST(TcpRendezvous, APortThatIsTakenIsSaid) {
    const TcpListener listener = listen_here();
    EXPECT_EQ(failure_to_connect(job_at(0, listener.port)), "rank 0 cannot listen at port " +
                                                                std::to_string(listener.port) +
                                                                ": Address already in use");
    ::close(listener.descriptor);
}

TEST(TcpRendezvous, StrangersDoNotHoldTheJobUp) {
    const TcpListener listener = listen_here();
    const Stranger silent(listener.port), talkative(listener.port), impostor(listener.port);
    talkative.say(std::array<char, 512>{"GET / HTTP/1.1"});
    auto rank_0 = std::async(std::launch::async, [&] { return sum_at(job_of(listener)); });
    const auto greeting = impostor.hear<tcp::Greeting>();
    EXPECT_TRUE(is_ours(greeting));
    tcp::Hello hello;
    hello.from = 1;
    hello.ranks = 2;
    hello.proof = proof_of("a guess", hello, greeting.nonce);
    impostor.say(hello);
    const auto verdict = impostor.hear<tcp::Verdict>();
    EXPECT_EQ(verdict.accepted, 0u);
    EXPECT_EQ(verdict.proof, tcp::Proof{}) << "who is refused learns nothing of the secret";
    EXPECT_EQ(impostor.hear_text(verdict.refusal), "it belongs to another job");
    EXPECT_EQ(sum_at(job_at(1, listener.port)), 3);
    EXPECT_EQ(rank_0.get(), 3);
}

TEST(TcpRendezvous, MoreSilentStrangersThanItTakesDoNotKeepARankOut) {
    const TcpListener listener = listen_here();
    auto rank_0 = std::async(std::launch::async, [&] { return sum_at(job_of(listener)); });
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 300; ++i) crowd.push_back(std::make_unique<Stranger>(listener.port));
    crowd.back()->hear<tcp::Greeting>();  // all have been let in, or out
    const auto asked = Clock::now();
    EXPECT_EQ(sum_at(job_at(1, listener.port)), 3);
    EXPECT_LT(Clock::now() - asked, 5s) << "before strangers must go";
    EXPECT_EQ(rank_0.get(), 3);
}

TEST(TcpRendezvous, WhoSendsRubbishAfterJoiningIsLost) {
    for (const std::uint32_t size : {16u, 0xffffffffu}) {
        const TcpListener listener = listen_here();
        auto rank_0 = std::async(std::launch::async, [&] {
            const auto world = connect_tcp(job_of(listener));
            return failure_of([&] { world->barrier("BARRIER")->wait(soon()); });
        });
        const Stranger insider(listener.port);
        const auto greeting = insider.hear<tcp::Greeting>();
        tcp::Hello hello;
        hello.from = 1;
        hello.ranks = 2;
        hello.proof = proof_of("of this test", hello, greeting.nonce);
        insider.say(hello);
        EXPECT_EQ(insider.hear<tcp::Verdict>().accepted, 1u);
        insider.say(std::array<std::uint32_t, 8>{1, size, 0, 0, 99, 99, 99, 99});
        EXPECT_EQ(rank_0.get(),
                  "rank 0 stopped waiting for BARRIER among ranks 0, 1: rank 0 has lost rank 1: it "
                  "has sent bytes that are not a message of this program");
    }
}

/// The listener neither speaks the protocol nor knows the secret.
TEST(TcpRendezvous, WhatListensInsteadOfRank0IsTold) {
    for (const bool speaks : {false, true}) {
        const TcpListener listener = listen_here();
        auto caller = std::async(std::launch::async,
                                 [&] { return failure_to_connect(job_at(1, listener.port)); });
        const int taken = ::accept(listener.descriptor, nullptr, nullptr);
        const tcp::Greeting greeting;
        const std::array<char, sizeof greeting> other{"HTTP/1.1 200 OK"};
        ::send(taken, speaks ? static_cast<const void*>(&greeting) : other.data(), sizeof greeting,
               MSG_NOSIGNAL);
        tcp::Verdict verdict;
        verdict.accepted = 1;
        ::send(taken, &verdict, sizeof verdict, MSG_NOSIGNAL);
        check_has(caller.get(), speaks ? "does not know this job's secret"
                                       : "is not a rank of this version of debubble");
        ::close(taken);
        ::close(listener.descriptor);
    }
}

TEST(TcpRendezvous, AFileBringsRanksTogether) {
    const ScratchFolder folder;
    TcpJob a = job_at(0, 0), b = job_at(1, 0);
    a.file = b.file = folder.path() / "job";
    auto rank_1 = std::async(std::launch::async, [&] { return sum_at(b); });
    EXPECT_EQ(sum_at(a), 3);
    EXPECT_EQ(rank_1.get(), 3);
    EXPECT_FALSE(std::filesystem::exists(a.file)) << "it is removed once all are there";
}

TEST(TcpRendezvous, AFileThatAnEarlierJobLeftIsPassedOver) {
    const ScratchFolder folder;
    const TcpListener gone = listen_here();
    ::close(gone.descriptor);
    TcpJob a = job_at(0, 0), b = job_at(1, 0);
    a.file = b.file = folder.path() / "job";
    const auto left = tcp::write_meeting(a.file, {"127.0.0.1", gone.port, "of the dead"});
    struct stat status {};
    ASSERT_EQ(::stat(a.file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << "it holds a secret";
    auto late = std::async(std::launch::async, [&] {
        std::this_thread::sleep_for(200ms);
        return sum_at(a);
    });
    EXPECT_EQ(sum_at(b), 3);
    EXPECT_EQ(late.get(), 3);
}

/// The listener at the file's address says nothing, is not a rank, or belongs to another job.
TEST(TcpRendezvous, AFileThatLeadsToSomethingElseIsReadAgain) {
    for (const char* what : {"silence", "another program", "another job"}) {
        SCOPED_TRACE(what);
        const ScratchFolder folder;
        const TcpListener there = listen_here();
        TcpJob a = job_at(0, 0), b = job_at(1, 0);
        a.file = b.file = folder.path() / "job";
        const auto left = tcp::write_meeting(a.file, {"127.0.0.1", there.port, "of the dead"});
        auto other = std::async(std::launch::async, [&]() -> std::string {
            if (what == std::string("another job")) return failure_to_connect(job_of(there, 3s));
            if (what == std::string("another program")) {
                const int taken = ::accept(there.descriptor, nullptr, nullptr);
                const std::array<char, sizeof(tcp::Greeting)> text{"HTTP/1.1 200 OK"};
                ::send(taken, text.data(), text.size(), MSG_NOSIGNAL);
                ::close(taken);
            }
            return "";
        });
        auto rank_1 = std::async(std::launch::async, [&] { return sum_at(b); });
        other.wait();
        std::this_thread::sleep_for(200ms);
        EXPECT_EQ(sum_at(a), 3);
        EXPECT_EQ(rank_1.get(), 3);
        if (what != std::string("another job")) ::close(there.descriptor);
    }
}

/// One end of a connection that the test itself is.
template <class Word>
Word hear_from(int socket) {
    Word word;
    EXPECT_EQ(::recv(socket, &word, sizeof word, MSG_WAITALL), static_cast<ssize_t>(sizeof word));
    return word;
}

/// The test plays rank 0, so that a stranger can call rank 1 before rank 1 has joined.
TEST(TcpRendezvous, AStrangerIsRefusedWhoKnowsAllButTheSecretOfTheFile) {
    const ScratchFolder folder;
    const TcpListener listener = listen_here();
    TcpJob job = job_at(1, 0);
    job.ranks = 3;
    job.file = folder.path() / "job";
    const auto written = tcp::write_meeting(job.file, {"127.0.0.1", listener.port, "in the file"});
    auto rank_1 = std::async(std::launch::async, [&] { return failure_to_connect(job); });
    const int rank_0 = ::accept(listener.descriptor, nullptr, nullptr);
    const tcp::Greeting greeting;
    ::send(rank_0, &greeting, sizeof greeting, MSG_NOSIGNAL);
    const auto hello = hear_from<tcp::Hello>(rank_0);

    auto verdict_on_stranger = std::async(std::launch::async, [&] {
        const Stranger stranger(static_cast<int>(hello.port));
        const auto greeted = stranger.hear<tcp::Greeting>();
        tcp::Hello lie;
        lie.from = 2;
        lie.to = 1;
        lie.ranks = 3;
        lie.proof = proof_of(job.secret, lie, greeted.nonce);
        stranger.say(lie);
        return stranger.hear<tcp::Verdict>();
    });
    EXPECT_EQ(verdict_on_stranger.wait_for(500ms), std::future_status::timeout)
        << "rank 1 judges a caller before it knows the secret";
    tcp::Verdict verdict;
    verdict.accepted = 1;
    verdict.proof = tcp::answer_to(job.secret + "in the file", hello.proof);
    ::send(rank_0, &verdict, sizeof verdict, MSG_NOSIGNAL);
    EXPECT_EQ(verdict_on_stranger.get().accepted, 0u);
    ::close(rank_0);
    ::close(listener.descriptor);
    check_has(rank_1.get(), "rank 1 has lost rank 0 while the ranks of the job met");
}

/// As rank 0 tells all others (exec/comm/tcp/rendezvous.cpp).
struct TellsWhere {
    std::array<std::uint8_t, 16> address{};
    std::uint16_t port = 0;
    std::uint8_t is_on_host_of_0 = 0;
    std::uint8_t reserved = 0;
};

/// Debian's /etc/hosts has 127.0.1.1 for the host's own name; who calls that comes from 127.0.0.1.
TEST(TcpRendezvous, ARankThatCallsAnyAddressOfTheLoopIsOnTheHostOfRank0) {
    const ScratchFolder folder;
    TcpJob job = job_at(0, 0);
    job.ranks = 3;
    job.one_host = false;
    job.file = folder.path() / "job";
    auto rank_0 = std::async(std::launch::async, [&] {
        return failure_of([&] { connect_tcp(job)->barrier("BARRIER")->wait(soon()); });
    });
    std::optional<tcp::MeetingPoint> meeting;
    while (!(meeting = tcp::read_meeting(job.file))) std::this_thread::sleep_for(10ms);
    {
        const Stranger first(meeting->port, INADDR_LOOPBACK + 0x100), second(meeting->port);
        for (const Stranger* insider : {&first, &second}) {
            const auto greeting = insider->hear<tcp::Greeting>();
            tcp::Hello hello;
            hello.from = insider == &first ? 1 : 2;
            hello.ranks = 3;
            hello.proof = proof_of(job.secret + meeting->secret, hello, greeting.nonce);
            insider->say(hello);
            EXPECT_EQ(insider->hear<tcp::Verdict>().accepted, 1u);
        }
        const auto places = second.hear<std::array<TellsWhere, 3>>();
        EXPECT_EQ(places[1].is_on_host_of_0, 1) << "others cannot reach it at a loopback address";
        EXPECT_EQ(places[2].is_on_host_of_0, 1);
    }
    check_has(rank_0.get(), "rank 0 has lost rank");
}

constexpr auto kForItsOwnerAlone =
    std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;

TEST(TcpRendezvous, AFileOfThisHostThatNobodyHoldsIsPassedOver) {
    const ScratchFolder folder;
    const TcpListener taken = listen_here();  // a call would wait for a greeting
    TcpJob a = job_at(0, 0), b = job_at(1, 0);
    a.file = b.file = folder.path() / "job";
    a.file_is_held = b.file_is_held = true;
    std::ofstream(a.file) << "debubble job 1\n127.0.0.1\n" << taken.port << "\nof the dead\n";
    std::filesystem::permissions(a.file, kForItsOwnerAlone);
    auto rank_1 = std::async(std::launch::async, [&] { return sum_at(b); });
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(sum_at(a), 3);
    EXPECT_EQ(rank_1.get(), 3);
    ::close(taken.descriptor);
}

TEST(TcpRendezvous, AFileThatOthersCanReadIsRefused) {
    const ScratchFolder folder;
    TcpJob job = job_at(1, 0);
    job.file = folder.path() / "job";
    const auto written = tcp::write_meeting(job.file, {"127.0.0.1", 80, "a secret"});
    std::filesystem::permissions(job.file, kForItsOwnerAlone | std::filesystem::perms::others_read);
    EXPECT_EQ(failure_to_connect(job),
              "the rendezvous file " + job.file.string() +
                  " holds a secret, and others may read or write it (mode 604): remove it");
}

TEST(TcpRendezvous, AFileOfSomebodyElseIsRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    const ScratchFolder folder;
    TcpJob job = job_at(1, 0);
    job.file = folder.path() / "job";
    const auto written = tcp::write_meeting(job.file, {"127.0.0.1", 80, "a secret"});
    ASSERT_EQ(::chown(job.file.c_str(), 12345, 12345), 0);
    EXPECT_EQ(failure_to_connect(job),
              "the rendezvous file " + job.file.string() +
                  " belongs to user 12345 and not to 0, who runs this job: "
                  "name another file");
}

/// The files that this thread makes belong to that user, as on CIFS, or on NFS for root.
struct WritesAs {
    explicit WritesAs(uid_t user) { ::setfsuid(user); }
    ~WritesAs() { ::setfsuid(::geteuid()); }
    WritesAs(const WritesAs&) = delete;
    WritesAs& operator=(const WritesAs&) = delete;
};

TEST(TcpRendezvous, ADiskThatCannotKeepASecretIsToldByWhoWrites) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root writes files of others";
    const ScratchFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    const auto file = folder.path() / "job";
    const std::string failure = failure_of([&] {
        const WritesAs somebody(12345);
        static_cast<void>(tcp::write_meeting(file, {"127.0.0.1", 80, "a secret"}));
    });
    EXPECT_EQ(failure,
              "the disk of the rendezvous file " + file.string() +
                  " cannot keep a secret: a file that user 0 writes there for itself alone belongs "
                  "to user 12345 with mode 600; name a file on another disk, or set "
                  "DEBUBBLE_JOB_SECRET, MASTER_ADDR and MASTER_PORT instead of "
                  "--rendezvous");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "no secret is left there";
}

TEST(TcpRendezvous, AFileOfSomethingElseIsNoMeetingPoint) {
    const ScratchFolder folder;
    const auto file = folder.path() / "job";
    const auto holds = [&](const std::string& text) {
        std::ofstream(file) << text;
        std::filesystem::permissions(file, kForItsOwnerAlone);
        return tcp::read_meeting(file).has_value();
    };
    EXPECT_FALSE(holds(""));
    EXPECT_FALSE(holds("debubble job 1\nhere\n80\n"));
    EXPECT_FALSE(holds("debubble job 1\nhere\n99999\nsecret\n"));
    EXPECT_FALSE(holds("debubble job 1\nhere\n-1\nsecret\n"));
    EXPECT_FALSE(holds("debubble job 1\nhere\n123456789012345678901\nsecret\n"));
    EXPECT_TRUE(holds("debubble job 1\nhere\n80\nsecret\n"));
}

}  // namespace
}  // namespace debubble::exec

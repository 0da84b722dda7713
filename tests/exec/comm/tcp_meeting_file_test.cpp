#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>

#include <gtest/gtest.h>

#include "exec/comm/tcp/handshake_words.h"
#include "exec/comm/tcp/rendezvous.h"
#include "tests/exec/comm/tcp_job.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/exec/support/stranger.h"

namespace debubble::exec {
namespace {

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
              "the file system of the rendezvous file " + file.string() +
                  " cannot keep a secret: a private file that user 0 writes there belongs to user "
                  "12345 with mode 600; name a file on another file system, or set "
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

#include "exec/program/run/world/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <string>
#include <thread>

#include <unistd.h>

#include "base/diagnostic.h"
#include "exec/comm/tcp/handshake_words.h"
#include "exec/comm/tcp/rendezvous.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/exec/support/stranger.h"

namespace debubble::exec {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Variables that are set as long as this lives.
class Environment {
public:
    explicit Environment(const std::map<std::string, std::string>& variables)
        : variables_(variables) {
        for (const auto& [name, value] : variables_) ::setenv(name.c_str(), value.c_str(), 1);
    }
    ~Environment() {
        for (const auto& [name, value] : variables_) ::unsetenv(name.c_str());
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    std::map<std::string, std::string> variables_;
};

/// The examples of Slurm's manual: SLURM_STEP_TASKS_PER_NODE has the form of SLURM_TASKS_PER_NODE.
int tasks_here(const std::string& per_node, const std::string& node) {
    const Environment slurm({{"SLURM_PROCID", "3"},
                             {"SLURM_STEP_NUM_TASKS", "9"},
                             {"SLURM_STEP_TASKS_PER_NODE", per_node},
                             {"SLURM_NODEID", node},
                             {"SLURM_LOCALID", "1"}});
    const ProcessPlace place = process_place();
    EXPECT_EQ(place.starter, Starter::Srun);
    EXPECT_EQ(place.rank, 3);
    EXPECT_EQ(place.rank_on_this_host, 1);
    return place.on_this_host;
}

TEST(ProcessPlace, SlurmTellsTheTasksOfEveryNode) {
    EXPECT_EQ(tasks_here("9", "0"), 9);
    EXPECT_EQ(tasks_here("4(x2)", "0"), 4);
    EXPECT_EQ(tasks_here("4(x2)", "1"), 4);
    EXPECT_EQ(tasks_here("4(x2),1", "2"), 1);
    EXPECT_EQ(tasks_here("1,4(x2)", "0"), 1);
    EXPECT_EQ(tasks_here("1,4(x2)", "2"), 4);
}

TEST(ProcessPlace, ARankBeyondItsJobIsAMistake) {
    for (const char* rank : {"2", "-1", "one"}) {
        const Environment wrong({{"RANK", rank}, {"WORLD_SIZE", "2"}});
        try {
            process_place();
            FAIL() << "RANK " << rank << " was taken";
        } catch (const InputError& error) {
            EXPECT_EQ(error.what(), "error: RANK is '" + std::string(rank) +
                                        "', and WORLD_SIZE is 2: that job has no such rank\n");
        }
    }
}

TEST(ProcessPlace, WhatSlurmDoesNotTellIsAllOnOneNode) {
    EXPECT_EQ(tasks_here("", "0"), 9);
    EXPECT_EQ(tasks_here("some", "0"), 9);
    EXPECT_EQ(tasks_here("4(x", "0"), 9);
    EXPECT_EQ(tasks_here("4(x2)", "2"), 9);
}

/// Two ranks, one of them on each of two hosts.
const std::map<std::string, std::string> kTwoHosts{
    {"RANK", "0"},       {"WORLD_SIZE", "2"},          {"LOCAL_WORLD_SIZE", "1"},
    {"LOCAL_RANK", "0"}, {"MASTER_ADDR", "192.0.2.1"}, {"MASTER_PORT", "29500"}};
const std::map<std::string, std::string> kOneHost{
    {"RANK", "0"},       {"WORLD_SIZE", "2"},          {"LOCAL_WORLD_SIZE", "2"},
    {"LOCAL_RANK", "0"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "29500"}};
constexpr const char* kSecret = "0123456789abcdef0123456789abcdef";

using Variables = std::map<std::string, std::string>;
Variables also(Variables more, const Variables& variables) {
    more.insert(variables.begin(), variables.end());
    return more;
}

/// The job over TCP in that environment. Throws the sentence why there is none.
TcpJob job_in(const Variables& variables) {
    const Environment environment(variables);
    return tcp_job(process_place(), "");
}
std::string refusal_in(const Variables& variables) {
    try {
        job_in(variables);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

TEST(TcpJob, OfSeveralHostsNeedsASecretOfItsOwn) {
    for (const Variables& known : {Variables{}, Variables{{"SLURM_JOB_ID", "4711"}},
                                   Variables{{"TORCHELASTIC_RUN_ID", "none"}}}) {
        const std::string refusal = refusal_in(also(known, kTwoHosts));
        EXPECT_THAT(refusal,
                    HasSubstr("any process that reaches 192.0.2.1:29500 could pass for a rank"));
        EXPECT_THAT(refusal, HasSubstr("export DEBUBBLE_JOB_SECRET=$(openssl rand -hex 32)"));
        EXPECT_THAT(refusal, HasSubstr("or give --rendezvous a file"));
    }
    EXPECT_THAT(refusal_in(also({{"DEBUBBLE_JOB_SECRET", "guess me"}}, kTwoHosts)),
                HasSubstr("has 8 characters, which can be guessed"));
    const TcpJob job = job_in(also({{"DEBUBBLE_JOB_SECRET", kSecret}}, kTwoHosts));
    EXPECT_THAT(job.secret, HasSubstr(kSecret));
    EXPECT_EQ(job.host, "192.0.2.1");
    EXPECT_EQ(job.port, 29500);
    EXPECT_FALSE(job.one_host);
}

TEST(TcpJob, WhoseStarterDoesNotTellOfHostsNeedsASecretToo) {
    Variables plain = kTwoHosts;
    plain.erase("LOCAL_WORLD_SIZE");
    EXPECT_THAT(refusal_in(plain), HasSubstr("export DEBUBBLE_JOB_SECRET="));
}

TEST(TcpJob, OfOneHostMeetsWhereNobodyElseCanRead) {
    const ScratchFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
        const Environment ours({{variable, folder.path().string()}});
        const TcpJob job = job_in(kOneHost);
        const auto where = job.file.parent_path();
        EXPECT_EQ(where.string().find(folder.path().string()), 0u);
        EXPECT_EQ(std::filesystem::status(where).permissions(), std::filesystem::perms::owner_all);
        EXPECT_TRUE(job.file_is_held);
        EXPECT_TRUE(job.one_host);
        EXPECT_EQ(job_in(also({{"RANK", "1"}}, kOneHost)).file, job.file);
        EXPECT_NE(job_in(also({{"MASTER_PORT", "29501"}}, kOneHost)).file, job.file);
    }
}

TEST(TcpJob, DoesNotMeetInAFolderThatOthersCanWrite) {
    const ScratchFolder folder;
    const auto others = folder.path() / ("debubble-" + std::to_string(::geteuid()));
    std::filesystem::create_directory(others);
    std::filesystem::permissions(others, std::filesystem::perms::all);
    const Environment ours(
        {{"TMPDIR", folder.path().string()}, {"XDG_RUNTIME_DIR", others.string()}});
    EXPECT_THAT(refusal_in(kOneHost), HasSubstr("is not a folder that only user"));
    EXPECT_THAT(refusal_in(kOneHost), HasSubstr("set TMPDIR or XDG_RUNTIME_DIR, the same for all"))
        << "nobody can remove a folder of somebody else in /tmp";
}

/// Each host may have a Slurm job of its own, or a torchrun with an id of its own.
TEST(TcpJob, OfOneSecretIsOneWhateverItsHostsAreCalled) {
    const Variables here = also({{"DEBUBBLE_JOB_SECRET", kSecret}}, kTwoHosts);
    const TcpJob job = job_in(here);
    for (const char* id : {"TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "SLURM_STEP_ID"})
        EXPECT_EQ(job_in(also({{id, "4711"}}, here)).secret, job.secret) << id;
    const Environment there(Variables{{"SLURM_JOB_ID", "4711"}});
    EXPECT_EQ(tcp_job({.rank = 1, .size = 2}, "job").secret, "");
}

/// As mpirun starts processes, which says nothing of an address.
TEST(TcpJob, OfOneHostThatIsToldOfNoPlaceMeetsByItsOwnFileWithASecretToo) {
    const ScratchFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    const Environment ours({{"XDG_RUNTIME_DIR", folder.path().string()}});
    const Variables mpirun{{"OMPI_COMM_WORLD_RANK", "0"},
                           {"OMPI_COMM_WORLD_SIZE", "2"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                           {"PMIX_NAMESPACE", "4711"}};
    const TcpJob without = job_in(mpirun);
    for (const char* half : {"MASTER_ADDR", "MASTER_PORT", "NEITHER"}) {
        const TcpJob job =
            job_in(also({{"DEBUBBLE_JOB_SECRET", kSecret}, {half, "29500"}}, mpirun));
        EXPECT_EQ(job.file.parent_path(), without.file.parent_path()) << half;
        EXPECT_TRUE(job.file_is_held);
        EXPECT_EQ(job.secret, kSecret);
    }
}

TEST(TcpJob, DoesNotListenWhereTorchrunKeepsAStore) {
    const Variables torchrun = also({{"DEBUBBLE_JOB_SECRET", kSecret}}, kTwoHosts);
    const Variables with_store = also({{"TORCHELASTIC_USE_AGENT_STORE", "True"}}, torchrun);
    EXPECT_EQ(job_in(also({{"TORCHELASTIC_USE_AGENT_STORE", "False"}}, torchrun)).port, 29500);
    EXPECT_EQ(job_in(with_store).port, 29501);
    EXPECT_EQ(job_in(also({{"MASTER_PORT", "65535"}}, with_store)).port, 65534);
    EXPECT_EQ(job_in(also({{"DEBUBBLE_PORT", "4000"}}, with_store)).port, 4000);
    EXPECT_EQ(job_in(also({{"DEBUBBLE_PORT", "4000"}}, torchrun)).port, 4000);
    EXPECT_THAT(refusal_in(also({{"DEBUBBLE_PORT", "here"}}, torchrun)), HasSubstr("'here'"));
}

/// A job on one host and without a secret, as torchrun starts it: a stranger of this host can know
/// only the environment's ids.
TEST(TcpJob, RefusesAStrangerWhoKnowsWhatIsPublic) {
    const ScratchFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    const Environment ours({{"XDG_RUNTIME_DIR", folder.path().string()}});
    TcpJob job = job_in(also({{"TORCHELASTIC_RUN_ID", "none"}}, kOneHost));
    job.patience = 5s;
    auto rank_0 = std::async(std::launch::async, [&]() -> std::string {
        try {
            connect_tcp(job);
        } catch (const WorldError& error) {
            return error.what();
        }
        return "";
    });
    std::optional<tcp::MeetingPoint> meeting;
    while (!(meeting = tcp::read_meeting(job.file, true))) std::this_thread::sleep_for(10ms);
    const Stranger stranger(meeting->port);
    const auto greeting = stranger.hear<tcp::Greeting>();
    tcp::Hello hello;
    hello.from = 1;
    hello.ranks = 2;
    hello.proof = proof_of("/none///", hello, greeting.nonce);
    stranger.say(hello);
    const auto verdict = stranger.hear<tcp::Verdict>();
    EXPECT_EQ(verdict.accepted, 0u);
    EXPECT_EQ(stranger.hear_text(verdict.refusal), "it belongs to another job");
    const int elsewhere = ::socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_FALSE(can_connect(elsewhere, INADDR_LOOPBACK + 1, meeting->port))
        << "it listens at one address of the loop alone";
    ::close(elsewhere);
    EXPECT_THAT(rank_0.get(), HasSubstr("a stranger was refused"));
}

TEST(Transporter, UnderSrunIsMpiWhereProcessesFindEachOtherByIt) {
    const Variables srun{{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}};
    const auto chosen = [&](const Variables& variables) {
        const Environment environment(also(variables, srun));
        return transporter_of("auto", process_place());
    };
    EXPECT_EQ(chosen({}), Transporter::Tcp);
    EXPECT_EQ(chosen({{"PMIX_RANK", "0"}}), Transporter::Mpi);
    EXPECT_EQ(chosen({{"PMI_RANK", "0"}}), Transporter::Mpi);
}

/// srun starts torchrun's agents one per node, and tells them so (PMI-2).
TEST(ProcessPlace, OfTorchrunUnderSrunIsTorchruns) {
    const Variables srun{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}};
    Variables torchrun{{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}};
    {
        const Environment both(also(srun, torchrun));
        EXPECT_EQ(process_place().starter, Starter::Torchrun);
        EXPECT_EQ(process_place().rank, 5);
        EXPECT_EQ(process_place().size, 8);
    }
    torchrun.erase("LOCAL_RANK");
    {
        const Environment both(also(also({{"TORCHELASTIC_RUN_ID", "none"}}, srun), torchrun));
        EXPECT_EQ(process_place().starter, Starter::Torchrun);
    }
    const Environment pod(also(srun, torchrun));
    EXPECT_EQ(process_place().starter, Starter::Mpirun) << "a pod is a rank to others";
}

TEST(ProcessPlace, ANodeOfSlurmSaysNothingOfWhatTorchrunStarted) {
    const Environment both({{"RANK", "5"},
                            {"WORLD_SIZE", "8"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"LOCAL_RANK", "1"},
                            {"SLURM_NODEID", "1"}});
    EXPECT_EQ(process_place().on_this_host, 4);
}

}  // namespace
}  // namespace debubble::exec

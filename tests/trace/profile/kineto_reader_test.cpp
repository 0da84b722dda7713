#include "trace/profile/formats/profile_files.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "tests/support/source_folder.h"
#include "trace/profile/passes/accounts.h"

namespace debubble::profile {
namespace {

using testing::HasSubstr;

std::string complaint(const std::string& text) {
    try {
        read_kineto_text(text, "rank-0.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

std::string with_events(const std::string& events) {
    return R"({"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [)" + events + "]}";
}

/// The figures of HolisticTraceAnalysis f4d0062 over its tests/data/nccl_parser_config.
TEST(KinetoReader, GivesTheAccountOfOneDataParallelStep) {
    const auto file = source_folder() / "tests/trace/profile/data/ddp_one_step.json.gz";
    const RankProfile profile = read_kineto(file.string());
    const DeviceAccount account = account_of(profile);
    EXPECT_EQ(profile.rank, 0);
    EXPECT_EQ(profile.world_size, 2);
    EXPECT_EQ(profile.device, "NVIDIA A100-PG509-200");
    EXPECT_EQ(account.kernels, 1258U);
    EXPECT_NEAR(static_cast<double>(account.communication.count()), 12'300'000, 50);
    EXPECT_NEAR(static_cast<double>(account.compute.count()), 38'429'400, 50);
    EXPECT_NEAR(static_cast<double>(account.overlapped.count()), 1'760'400, 50);
    EXPECT_NEAR(static_cast<double>(account.exposed.count()), 10'539'600, 50);
    EXPECT_NEAR(static_cast<double>(account.busy.count()), 49'728'900, 50);
    EXPECT_NEAR(static_cast<double>(account.span.count()), 213'532'800, 50);
    EXPECT_NEAR(100 * seconds(account.overlapped) / seconds(account.communication), 14.3, 0.05);
}

TEST(KinetoReader, ReadsTimesDigitByDigit) {
    const RankProfile profile = read_kineto_text(
        with_events(R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
                        "ts": 4549177894387.461, "dur": 0.003})"),
        "rank-0.json");
    ASSERT_EQ(profile.kernels.size(), 1U);
    EXPECT_EQ(profile.kernels[0].begin, 1'790'857'026'000'000'000 + 4'549'177'894'387'461);
    EXPECT_EQ(profile.kernels[0].length(), 3);
}

TEST(KinetoReader, FindsTheBaseTimeAfterTheEventsToo) {
    const RankProfile profile = read_kineto_text(
        R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2}],
            "baseTimeNanoseconds": 1000, "distributedInfo": {"rank": 3, "world_size": 4}})",
        "rank-3.json");
    EXPECT_EQ(profile.kernels[0].begin, 2000);
    EXPECT_EQ(profile.rank, 3);
}

TEST(KinetoReader, TakesABareListOfEvents) {
    EXPECT_EQ(read_kineto_text(R"([{"ph": "M", "name": "process_name"}])", "rank-0.json").events,
              1U);
}

TEST(KinetoReader, JoinsAKernelWithItsLaunch) {
    const RankProfile profile = read_kineto_text(
        R"([{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 50, "dur": 2, "args": {"correlation": 9}},
            {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernelEx", "pid": 1, "tid": 1, "ts": 20, "dur": 2, "args": {"correlation": 9}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 60, "dur": 2, "args": {"correlation": 10}}])",
        "rank-0.json");
    EXPECT_EQ(profile.kernels[0].launched, 20'000);
    EXPECT_EQ(profile.kernels[1].launched, kNoLaunch);
}

TEST(KinetoReader, KeepsOperatorsOnlyWhereThereAreNoKernels) {
    const std::string op =
        R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2})";
    const std::string kernel =
        R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 50, "dur": 2})";
    EXPECT_EQ(read_kineto_text("[" + op + "]", "a").ops.size(), 1U);
    EXPECT_EQ(read_kineto_text("[" + op + "," + kernel + "," + op + "]", "a").ops.size(), 0U);
    const std::string head =
        R"({"deviceProperties": [{"id": 0, "name": "A100"}], "traceEvents": [)";
    EXPECT_EQ(read_kineto_text(head + op + "]}", "a").ops.size(), 1U);
}

TEST(KinetoReader, TellsExchangesOfExpertsFromMessages) {
    const auto sent = [](int stream, int at, const std::string& range) {
        return R"({"ph": "X", "cat": "kernel", "name": "ncclKernel_SendRecv_RING_SIMPLE", "pid": 0, "tid": )" +
               std::to_string(stream) + R"(, "ts": )" + std::to_string(at + 5) +
               R"(, "dur": 2, "args": {"correlation": )" + std::to_string(at) + "}}," +
               R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": )" +
               std::to_string(at) + R"(, "dur": 1, "args": {"correlation": )" + std::to_string(at) +
               "}}," + R"({"ph": "X", "cat": "user_annotation", "name": ")" + range +
               R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(at - 1) + R"(, "dur": 3})";
    };
    const RankProfile profile = read_kineto_text(
        "[" + sent(84, 100, "nccl:all_to_all") + "," + sent(84, 200, "nccl:all_reduce") + "," +
            sent(203, 300, "nccl:_all_gather_base") + "," + sent(20, 400, "nccl:coalesced") + "]",
        "rank-0.json");
    ASSERT_EQ(profile.kernels.size(), 4U);
    EXPECT_EQ(profile.kernels[0].kernel_class, KernelClass::Dispatch);
    EXPECT_EQ(profile.kernels[1].kernel_class, KernelClass::Dispatch);
    EXPECT_EQ(profile.kernels[2].kernel_class, KernelClass::Collective);
    EXPECT_EQ(profile.kernels[3].kernel_class, KernelClass::PointToPoint);
}

TEST(KinetoReader, ReadsAKilledProfilersTextUpToItsEnd) {
    const std::string event =
        R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2})";
    const RankProfile profile = read_kineto_text(R"({"traceEvents": [)" + event + ",", "a");
    EXPECT_EQ(profile.kernels.size(), 1U);
    EXPECT_THAT(profile.cut_off.value(), HasSubstr("after 1 events"));
}

TEST(KinetoReader, NamesTheByteOfAMistake) {
    EXPECT_THAT(complaint(R"({"traceEvents": [{"ph": "X", "na)"), HasSubstr("inside the string"));
    EXPECT_THAT(complaint(R"({"traceEvents": [{"ph": "X", "na)"), HasSubstr("at byte 17"));
    EXPECT_THAT(complaint("[" + std::string(100, '[')), HasSubstr("nested too deeply"));
    EXPECT_THAT(complaint(R"([{"ph": "X", "cat": "kernel", "name": "k", "dur": 1}])"),
                HasSubstr("\"ts\" is missing (at byte 1)"));
    EXPECT_THAT(complaint(R"([{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": -1}])"),
                HasSubstr("less than zero"));
    EXPECT_THAT(complaint(R"([{"ph": "X", "cat": "kernel", "name": "k", "ts": "soon"}])"),
                HasSubstr("not a time in microseconds"));
    EXPECT_THAT(complaint(R"([{"ph": "X" "cat": "kernel"}])"), HasSubstr("not valid JSON"));
    EXPECT_THAT(complaint(R"([{"ph": }])"), HasSubstr("not valid JSON"));
    EXPECT_THAT(complaint("{}x"), HasSubstr("text after the end"));
    EXPECT_THAT(complaint(""), HasSubstr("a JSON object or a list"));
    EXPECT_THAT(complaint(R"({"distributedInfo": {"rank": -1}, "traceEvents": []})"),
                HasSubstr("'rank' of distributedInfo"));
}

TEST(KinetoReader, NamesTheByteWhereAPackedFileEnds) {
    const auto whole = source_folder() / "tests/trace/profile/data/ddp_one_step.json.gz";
    std::ifstream in(whole, std::ios::binary);
    std::string bytes(20'000, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto cut = std::filesystem::path(testing::TempDir()) / "cut.json.gz";
    std::ofstream(cut, std::ios::binary) << bytes;
    try {
        read_kineto(cut.string());
        FAIL() << "a packed file that ends too early was read";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("the packed data are damaged or end too early"));
        EXPECT_THAT(error.what(), HasSubstr("(at byte "));
    }
}

}  // namespace
}  // namespace debubble::profile

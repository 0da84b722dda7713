#include "scenarios/cluster/collective_samples.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"

namespace debubble::scenarios {
namespace {

using testing::HasSubstr;
using Kind = models::Collective::Kind;

constexpr double kLatency = 34e-6;
constexpr double kBusBandwidth = 231e9;
constexpr int kRanks = 8;

/// Seconds of an all-reduce: a ring moves 2 (n - 1) / n of the tensor (nccl-tests,
/// doc/PERFORMANCE.md).
double all_reduce_seconds(std::int64_t bytes) {
    return kLatency + static_cast<double>(bytes) * 2 * (kRanks - 1) / kRanks / kBusBandwidth;
}

std::string table(const std::string& name, int hosts = 1) {
    std::string out = "# nccl-tests version 2.17.6 nccl-headers=22707 nccl-library=22707\n";
    out += fmt::format("# Collective test starting: {}\n# Using devices\n", name);
    for (int rank = 0; rank < kRanks; ++rank)
        out += fmt::format(
            "#  Rank {:2} Group  0 Pid  12345 on      node{} device  {} [0000:0f:00] A100\n", rank,
            rank * hosts / kRanks, rank);
    out +=
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong\n";
    out += "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n";
    for (std::int64_t bytes = 8192; bytes <= (std::int64_t{1} << 30U); bytes *= 4) {
        const double seconds = all_reduce_seconds(bytes);
        const double rate = static_cast<double>(bytes) / seconds / 1e9;
        out += fmt::format("{:12}{:14}     float     sum      -1{:9.2f}{:8.2f}{:8.2f}     N/A\n",
                           bytes, bytes / 4, 1e6 * seconds, rate, 1.75 * rate);
    }
    return out + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 171.921\n";
}

std::string complaint(const std::string& text) {
    try {
        read_nccl_tests_text(text, "all.txt");
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(NcclTests, GiveLatencyAndBandwidthOfTheWholeTensor) {
    const auto samples = read_nccl_tests_text(table("all_reduce_perf"), "nccl.txt");
    ASSERT_EQ(samples.size(), 9U);
    const FittedCollectives fitted = fit_collectives(samples, true);
    ASSERT_EQ(fitted.size(), 1U);
    const auto& [group, found] = *fitted.begin();
    EXPECT_EQ(group, std::pair(std::optional(Kind::AllReduce), kRanks));
    EXPECT_NEAR(seconds(found.cost.latency), kLatency, 0.005 * kLatency);
    EXPECT_NEAR(found.cost.bandwidth.value / (kBusBandwidth / 1.75), 1, 0.001);
    EXPECT_EQ(found.sizes, 9);
    EXPECT_LT(found.spread, 0.005);
    EXPECT_THAT(words_of(fitted),
                HasSubstr("all_reduce over 8 ranks: 34.0 us + bytes / 132.0 GB/s"));
}

TEST(NcclTests, KeepNodesApart) {
    const auto samples = read_nccl_tests_text(table("all_reduce_perf", 2), "nccl.txt");
    EXPECT_EQ(samples.front().nodes, 2);
    EXPECT_TRUE(fit_collectives(samples, true).empty());
    EXPECT_EQ(fit_collectives(samples, false).size(), 1U);
}

TEST(NcclTests, TakeTheCollectiveFromTheFileIfItsTextDoesNotSay) {
    std::string text = table("x");
    text.erase(text.find("# Collective"), text.find("# Using") - text.find("# Collective"));
    EXPECT_EQ(read_nccl_tests_text(text, "reduce_scatter.txt").front().kind, Kind::ReduceScatter);
    EXPECT_THAT(complaint(text), HasSubstr("the collective of this row is unknown"));
}

TEST(NcclTests, FindTheColumnOfTimes) {
    std::string text = table("all_gather_perf");
    for (std::size_t at = 0; (at = text.find("     float", at)) != std::string::npos; at += 20)
        text.insert(at + 10, "    more");
    for (std::size_t at = 0; (at = text.find("      type", at)) != std::string::npos; at += 20)
        text.insert(at + 10, "   extra");
    const auto samples = read_nccl_tests_text(text, "nccl.txt");
    EXPECT_NEAR(samples.back().seconds, all_reduce_seconds(samples.back().bytes.count), 1e-8);
}

TEST(NcclTests, NameTheLineOfAMistake) {
    EXPECT_THAT(complaint(""), HasSubstr("no rows of sizes"));
    const std::string start = "# Collective test starting: all_reduce_perf\n";
    EXPECT_THAT(complaint(start + "1024 256 float sum -1 soon\n"),
                HasSubstr("all.txt:2:1: error: the time is not a time"));
    EXPECT_THAT(complaint(start + "many 256 float sum -1 3.0\n"),
                HasSubstr("not a number of bytes"));
    EXPECT_THAT(complaint(start + "1024\n"), HasSubstr("a size first and a time after it"));
}

std::string call(int rank, int number, std::int64_t bytes, int micros) {
    return fmt::format(
        R"({{"header":{{"id":"0x7f","rank":{},"n_ranks":8,"nnodes":1}},"metadata":{{"pid":1}},)"
        R"("coll_perf":{{"coll":"AllReduce","coll_sn":{},"coll_msg_size_bytes":{},"coll_exec_time_us":{}}}}})"
        "\n",
        rank, number, bytes, micros);
}

TEST(NcclInspector, LeavesOutTheWaitForPeers) {
    std::string text;
    int number = 0;
    for (const std::int64_t bytes : {1 << 20, 1 << 24, 1 << 28, 1 << 30})
        for (int again = 0; again < 10; ++again, ++number)
            for (int rank = 0; rank < kRanks; ++rank) {
                const auto micros = static_cast<int>(1e6 * all_reduce_seconds(bytes) + 0.5);
                text += call(rank, number, bytes, rank == number % kRanks ? micros : 9 * micros);
            }
    const FittedCollectives fitted =
        fit_collectives(read_nccl_inspector_text(text, "dump.jsonl"), true);
    const FittedCollective found = fitted.at({Kind::AllReduce, kRanks});
    EXPECT_EQ(found.sizes, 4);
    EXPECT_NEAR(found.cost.bandwidth.value / (kBusBandwidth / 1.75), 1, 0.01);
}

TEST(NcclInspector, TakesMessagesBySendsAlone) {
    const auto message = [](const char* what, int micros) {
        return fmt::format(
            R"({{"header":{{"id":"0x11","rank":0,"n_ranks":2,"nnodes":2}},"p2p_perf":{{"p2p":"{}","p2p_sn":7,"p2p_peer":1,"p2p_msg_size_bytes":33554432,"p2p_exec_time_us":{}}}}})"
            "\n",
            what, micros);
    };
    const auto samples =
        read_nccl_inspector_text(message("Send", 9120) + message("Recv", 10), "dump.jsonl");
    ASSERT_EQ(samples.size(), 1U);
    EXPECT_EQ(samples[0].kind, std::nullopt);
    EXPECT_EQ(samples[0].nodes, 2);
    EXPECT_DOUBLE_EQ(samples[0].seconds, 9120e-6);
}

TEST(NcclInspector, NamesTheLineThatIsNoObject) {
    try {
        read_nccl_inspector_text(call(0, 1, 8192, 34) + "{\"header\": \n", "dump.jsonl");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("dump.jsonl:2:1: error: this line is not a JSON object"));
    }
}

}  // namespace
}  // namespace debubble::scenarios

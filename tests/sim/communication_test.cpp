#include "sim/explain/communication.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "scenarios/read/read_scenario.h"
#include "sim/grid/sweep_row.h"
#include "sim/predict.h"
#include "sim/report/report.h"

namespace debubble::sim {
namespace {

using testing::DoubleNear;

scenarios::Scenario dense_job(const std::vector<scenarios::Override>& keys) {
    return scenarios::parse_scenario(
        "model: {base: llama3-8b, layers: 8}\ncluster: hgx-h100\ngpus: 32\n"
        "parallel: {tensor: 2, pipeline: 2, data: auto, sequence: true, zero_stage: 1}\n"
        "training: {micro_batch: 1, micro_batches: 8, seq_length: 4096}\n"
        "framework: megatron-2026\n",
        "dense.yaml", keys);
}

scenarios::Scenario job_with_experts(const std::vector<scenarios::Override>& keys) {
    return scenarios::parse_scenario(
        "model: {base: qwen3-30b-a3b, layers: 8}\ncluster: hgx-h100\ngpus: 32\n"
        "parallel: {pipeline: 2, data: auto, expert: 8, zero_stage: 1}\n"
        "training: {micro_batch: 1, micro_batches: 8, seq_length: 4096}\n"
        "framework: megatron-2026\n",
        "experts.yaml", keys);
}

std::vector<scenarios::Scenario> jobs_of_all_kinds() {
    std::vector<scenarios::Scenario> jobs;
    for (const char* zero : {"0", "1", "2", "3"}) {
        jobs.push_back(dense_job({{"parallel.zero_stage", zero}}));
        jobs.push_back(dense_job({{"parallel.zero_stage", zero},
                                  {"parallel.context", "2"},
                                  {"cluster.network.nic_bandwidth", "20 Gb/s"}}));
        jobs.push_back(job_with_experts({{"parallel.zero_stage", zero}}));
    }
    for (const char* framework : {"pytorch-fsdp2", "deepspeed", "debubble", "megatron-2021"})
        jobs.push_back(dense_job({{"framework", framework}, {"parallel.zero_stage", "3"}}));
    jobs.push_back(dense_job({{"parallel.zero_stage", "3"}, {"parallel.wrap", "stage"}}));
    for (const char* schedule :
         {"zb-v", "dualpipe-v", "{name: interleaved-1f1b, stages_per_rank: 2}"})
        jobs.push_back(dense_job({{"schedule", schedule}}));
    jobs.push_back(dense_job({{"schedule", "zb-h2"},
                              {"framework", "{base: megatron-2024, post_validation: true}"},
                              {"parallel.zero_stage", "1"}}));
    jobs.push_back(job_with_experts({{"schedule", "{name: combined-1f1b, stages_per_rank: 2}"},
                                     {"framework.dispatcher", "deepep"}}));
    jobs.push_back(job_with_experts(
        {{"schedule", "dualpipe-v"}, {"parallel.tensor", "2"}, {"parallel.sequence", "true"}}));
    jobs.push_back(job_with_experts({{"imbalance", "{ranks: {1: 1.1}, jitter: 0.02, draws: 4}"}}));
    jobs.push_back(dense_job({{"training.offload", "{modules: [core_attn, attn_proj]}"}}));
    jobs.push_back(dense_job({{"model", "{base: gpt2-xl, layers: 8}"},
                              {"parallel.tensor", "1"},
                              {"training.seq_length", "1024"}}));
    return jobs;
}

TEST(Communication, OfAllKindsIsTheExposedCommunicationOfEveryRank) {
    int exposed = 0;
    for (const scenarios::Scenario& job : jobs_of_all_kinds()) {
        const Prediction p = predict(job).prediction;
        for (const RankPrediction& rank : p.ranks) {
            double sum = 0;
            for (const KindTime& kind : rank.communication) {
                sum += kind.exposed;
                EXPECT_GE(kind.exposed, 0);
                EXPECT_GE(kind.hidden, 0);
                EXPECT_GE(kind.bytes, 0);
            }
            EXPECT_THAT(sum, DoubleNear(rank.exposed_comm_s, 1e-8))
                << job.name << ", rank " << rank.rank.index;
            exposed += rank.exposed_comm_s > 0 ? 1 : 0;
        }
    }
    EXPECT_GE(exposed, 40);
}

TEST(Communication, OfTheSpansOfATraceIsThatInsideTheComputesOfEveryRank) {
    int known = 0;
    for (const scenarios::Scenario& job : jobs_of_all_kinds()) {
        const PredictionWithTrace answer = predict(job);
        std::vector<DurationByKind> sums(answer.prediction.ranks.size());
        for (const Span& span : answer.trace.spans) {
            Duration all{};
            const DurationByKind parts = answer.trace.exposed_by(span);
            for (std::size_t k = 0; k < kCommunicationKinds; ++k) {
                EXPECT_GE(parts[k], Duration{});
                all += parts[k];
                sums[static_cast<std::size_t>(span.rank.index)][k] += parts[k];
            }
            EXPECT_EQ(all, span.exposed) << job.name << ' ' << to_text(span.action);
            known += all > Duration{} ? 1 : 0;
        }
        // What serves tensor, context and expert parallelism lies inside computes alone.
        for (std::size_t r = 0; r < sums.size(); ++r)
            for (const CommunicationKind kind :
                 {CommunicationKind::Tensor, CommunicationKind::Context, CommunicationKind::Expert})
                EXPECT_THAT(
                    seconds(sums[r][static_cast<std::size_t>(kind)]),
                    DoubleNear(answer.prediction.ranks[r].communication[kind].exposed, 1e-6))
                    << job.name << ' ' << name_of(kind);
    }
    EXPECT_GT(known, 500);
}

TEST(Communication, IsThereForTheKindsOfParallelismThatThePlanHas) {
    const auto kinds_of = [](const scenarios::Scenario& job) {
        std::string kinds;
        const TimeByKind mean = mean_communication(predict(job).prediction);
        for (std::size_t k = 0; k < mean.size(); ++k)
            if (mean[k].bytes > 0)
                kinds += std::string(name_of(static_cast<CommunicationKind>(k))) + ' ';
        return kinds;
    };
    EXPECT_EQ(kinds_of(dense_job({{"gpus", "1"},
                                  {"parallel", "{tensor: 1, pipeline: 1}"},
                                  {"cluster.gpu.memory", "900 GiB"}})),
              "dp ")
        << "the norm of the gradients alone";
    EXPECT_EQ(kinds_of(dense_job({{"gpus", "2"}, {"parallel", "{tensor: 2}"}})), "tp dp ");
    EXPECT_EQ(kinds_of(dense_job({})), "tp dp pp ");
    EXPECT_EQ(kinds_of(dense_job({{"parallel.context", "2"}})), "tp cp dp pp ");
    EXPECT_EQ(kinds_of(job_with_experts({})), "ep dp pp ");
    EXPECT_EQ(kinds_of(dense_job({{"training.offload", "{modules: [core_attn]}"}})),
              "tp dp pp host ");
}

/// ZeRO-0 reduces every gradient once, in 4 bytes; ZeRO-1 gathers the parameters too, in 2.
TEST(Communication, OfReplicasHasTheBytesOfGradientsAndParameters) {
    const auto bytes_of = [](const char* zero) {
        const scenarios::Scenario job =
            dense_job({{"gpus", "16"},
                       {"parallel", "{tensor: 1, pipeline: 1, data: 16}"},
                       {"parallel.zero_stage", zero}});
        const Prediction p = predict(job).prediction;
        const KindTime& data = p.ranks.front().communication[CommunicationKind::Data];
        return data.bytes / static_cast<double>(p.parameters);
    };
    EXPECT_THAT(bytes_of("0"), DoubleNear(4, 1e-3));
    EXPECT_THAT(bytes_of("1"), DoubleNear(6, 1e-3));
    // Each of eight microbatches gathers twice, in 2 bytes, and reduces once, in 4.
    EXPECT_THAT(bytes_of("3"), DoubleNear(8 * (2 + 2 + 4), 0.7));
}

/// A pipeline rank sends an activation of each microbatch on, and gets the gradient back.
TEST(Communication, OfAPipelineHasTheBytesOfItsMessages) {
    const scenarios::Scenario job =
        dense_job({{"gpus", "2"}, {"parallel", "{tensor: 1, pipeline: 2}"}});
    const Prediction p = predict(job).prediction;
    const auto message = 2.0 * 4096 * static_cast<double>(job.model.hidden);
    for (const RankPrediction& rank : p.ranks)
        EXPECT_THAT(rank.communication[CommunicationKind::Pipeline].bytes,
                    DoubleNear(8 * message, 1));
}

TEST(Communication, IsInJsonAndCsvAsMeansOverTheRanks) {
    const PredictionWithTrace answer = predict(job_with_experts({}));
    const Prediction& p = answer.prediction;
    const TimeByKind mean = mean_communication(p);
    const auto json = report_json(answer);
    const PlanFigures figures(p);
    double exposed = 0;
    for (std::size_t k = 0; k < mean.size(); ++k) {
        const std::string name(name_of(static_cast<CommunicationKind>(k)));
        EXPECT_EQ(json["communication"][name]["exposed_s"], mean[k].exposed);
        EXPECT_EQ(json["communication"][name]["hidden_s"], mean[k].hidden);
        EXPECT_EQ(json["communication"][name]["bytes"], mean[k].bytes);
        exposed += json["communication"][name]["exposed_s"].get<double>();
        EXPECT_EQ(figures[name + "_exposed_s"], mean[k].exposed);
        EXPECT_EQ(figures[name + "_hidden_s"], mean[k].hidden);
        EXPECT_EQ(figures[name + "_bytes"], mean[k].bytes);
    }
    double of_ranks = 0;
    for (const RankPrediction& rank : p.ranks) of_ranks += rank.exposed_comm_s;
    EXPECT_THAT(exposed, DoubleNear(of_ranks / static_cast<double>(p.ranks.size()), 1e-8));
    double idle = 0;
    for (const RankPrediction& rank : p.ranks) idle += rank.waits_for_links_s;
    EXPECT_EQ(json["communication"]["pp"]["idle_s"], idle / static_cast<double>(p.ranks.size()));
}

/// A slower network exposes more of what crosses it, and nothing of what does not.
TEST(Communication, IsThatOfItsOwnLinks) {
    const auto of = [](const char* bandwidth) {
        return mean_communication(
            predict(job_with_experts({{"cluster.network.nic_bandwidth", bandwidth}})).prediction);
    };
    const TimeByKind fast = of("400 Gb/s");
    const TimeByKind slow = of("50 Gb/s");
    const auto data = static_cast<std::size_t>(CommunicationKind::Data);
    const auto expert = static_cast<std::size_t>(CommunicationKind::Expert);
    EXPECT_GT(slow[data].seconds(), 3 * fast[data].seconds());
    EXPECT_LT(slow[expert].seconds(), 1.5 * fast[expert].seconds()) << "inside nodes";
    EXPECT_EQ(slow[expert].bytes, fast[expert].bytes);
}

}  // namespace
}  // namespace debubble::sim

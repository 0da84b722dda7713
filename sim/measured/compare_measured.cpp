#include "sim/measured/compare_measured.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"

namespace debubble::sim {
namespace {

using scenarios::InvalidSchedule;
using scenarios::Override;
using scenarios::Scenario;

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr std::array kMicroBatches{1, 2, 4, 8, 16};
constexpr int kMostChunks = 64;

using text::at;

/// One of the plans that a row may describe.
struct RowCandidate {
    std::vector<Override> overrides;
    std::string words;
};

/// True if the schedule takes any number of stages per rank, and neither it nor the partition
/// specifies one.
bool interleaves(const text::NodePtr& scenario) {
    const text::NodePtr schedule = at(scenario, "schedule");
    const text::NodePtr name =
        schedule && schedule->is(text::Node::Kind::Map) ? schedule->get("name") : schedule;
    const text::NodePtr pipeline = at(scenario, "parallel.pipeline");
    const bool pairs =
        name && name->scalar == "combined-1f1b" && pipeline && pipeline->scalar != "1";
    const text::NodePtr partition = at(scenario, "parallel.partition");
    const bool is_list = partition && partition->is(text::Node::Kind::List);
    return name && (pairs || name->scalar.starts_with("interleaved")) && !is_list &&
           !at(scenario, "parallel.layout") && !at(scenario, "parallel.stages_per_rank") &&
           !at(scenario, "schedule.stages_per_rank");
}

/// Every candidate with each of the values of one more key.
std::vector<RowCandidate> with_key(const std::vector<RowCandidate>& all, const std::string& key,
                                   const auto& values) {
    const std::string word = key.substr(key.find('.') + 1);
    std::vector<RowCandidate> more;
    for (const RowCandidate& candidate : all)
        for (const auto& value : values) {
            RowCandidate next = candidate;
            next.overrides.emplace_back(key, fmt::format("{}", value));
            next.words += fmt::format("{}{} {}", next.words.empty() ? "" : ", ", word, value);
            more.push_back(std::move(next));
        }
    return more;
}

/// Rows with an unstated batch measured tokens per second, which hardly depend on it: pipelines are
/// filled as in the Zero Bubble paper, whose tables have up to eight microbatches per rank.
constexpr int kMicroBatchesPerRank = 8;
/// The sequence lengths of frameworks' recipes where they state nothing else.
constexpr int kUsualSequence = 4096;

/// All candidates of a row that does not specify a single plan. `usual` sequences are those that a
/// network with fewer positions refuses.
std::vector<RowCandidate> candidates_of(const text::NodePtr& scenario, bool usual) {
    std::vector<RowCandidate> all{{}};
    const auto says = [&](const char* key) { return at(scenario, key) != nullptr; };
    if (!says("training.seq_length") && usual)
        all = with_key(all, "training.seq_length", std::array{kUsualSequence});
    if (!says("training.global_batch") && !says("training.micro_batches")) {
        const text::NodePtr pipeline = at(scenario, "parallel.pipeline");
        const int ranks = pipeline ? std::atoi(pipeline->scalar.c_str()) : 1;
        if (ranks > 1)
            all = with_key(all, "training.micro_batches", std::array{kMicroBatchesPerRank * ranks});
    }
    if (!at(scenario, "training.micro_batch") && !at(scenario, "training.micro_batches"))
        all = with_key(all, "training.micro_batch", kMicroBatches);
    if (interleaves(scenario)) {
        std::vector<int> chunks;
        for (int count = 1; count <= kMostChunks; ++count) chunks.push_back(count);
        all = with_key(all, "parallel.stages_per_rank", chunks);
    }
    return all;
}

/// True if the source does not state the framework's key, and the row has no value for it.
bool leaves_open(const MeasuredStep& step, const char* key) {
    return std::ranges::count(step.not_stated, key) > 0 &&
           !at(step.scenario, fmt::format("framework.{}", key));
}

/// The recipes of NVIDIA's NeMo containers are tuned for each GPU: unstated graphs and dispatchers
/// are the fastest of those that such recipes use. Other software has neither unless configured.
std::vector<RowCandidate> with_tuned_keys(const MeasuredStep& step, std::vector<RowCandidate> all) {
    const text::NodePtr release = at(step.scenario, "framework.release");
    if (!release || !release->scalar.starts_with("nemo ")) return all;
    if (leaves_open(step, "cuda_graphs"))
        all = with_key(all, "framework.cuda_graphs",
                       std::array{"none", "[attn, moe_router, moe_preprocess]"});
    if (leaves_open(step, "dispatcher"))
        all = with_key(all, "framework.dispatcher", std::array{"alltoall", "deepep", "hybridep"});
    return all;
}

/// Entries of a SentencePiece vocabulary, as in T5 and Llama.
constexpr int kSentencePieces = 32'000;

/// A vocabulary that the source does not state is the scenario's or the usual smaller one,
/// whichever is faster: only the time can tell. Compared memory would tell it, and keeps the
/// scenario's.
std::vector<RowCandidate> with_vocabularies(const MeasuredStep& step,
                                            std::vector<RowCandidate> all) {
    const bool compares_memory = step.held_gib || step.activations_gib ||
                                 (step.peak && step.peak->kind != MeasuredPeak::Kind::Unknown);
    const text::NodePtr words = at(step.scenario, "model.vocab");
    if (compares_memory || !words || std::ranges::count(step.not_stated, "vocab") == 0 ||
        std::atoi(words->scalar.c_str()) <= kSentencePieces)
        return all;
    return with_key(all, "model.vocab", std::array{words->scalar, std::to_string(kSentencePieces)});
}

/// Gradients are reduced in 16 bits where a launch says so (--grad-reduce-in-bf16), which
/// Megatron-FSDP's guide recommends (Megatron-LM d98e8a6,
/// docs/user-guide/features/megatron_fsdp.md); an unstated setting is the faster one.
std::vector<RowCandidate> with_wires(const MeasuredStep& step, std::vector<RowCandidate> all) {
    if (std::ranges::count(step.not_stated, "communication_dtype") == 0 ||
        at(step.scenario, "parallel.communication_dtype"))
        return all;
    std::vector<RowCandidate> more =
        with_key(all, "parallel.communication_dtype", std::array{"bf16"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// GiB of the rank that was measured, or of the fullest one.
template <class BytesOf>
double gib_of(const Prediction& prediction, MeasuredPeak::Of of, BytesOf bytes_of) {
    const auto gib = [&](const RankPrediction& rank) {
        return static_cast<double>(bytes_of(rank).count) / kGib;
    };
    switch (of) {
        case MeasuredPeak::Of::FirstRank: return gib(prediction.ranks.front());
        case MeasuredPeak::Of::LastRank: return gib(prediction.ranks.back());
        case MeasuredPeak::Of::AnyRank: break;
    }
    double most = 0;
    for (const RankPrediction& rank : prediction.ranks) most = std::max(most, gib(rank));
    return most;
}

/// The memory of a rank at its peak that no pass makes.
Bytes held_by(const RankPrediction& rank) {
    return total(rank.memory) - rank.memory[MemoryClass::Activations] -
           rank.memory[MemoryClass::Workspace];
}

void take_memory(MeasuredComparison& row, const Scenario& scenario, const Prediction& prediction) {
    const MeasuredStep& step = row.step;
    const auto compare = [&](double measured, MeasuredPeak::Of of, auto bytes_of) {
        return Compared{measured, gib_of(prediction, of, bytes_of)};
    };
    const auto of = step.peak ? step.peak->of : MeasuredPeak::Of::AnyRank;
    if (step.peak && step.peak->kind != MeasuredPeak::Kind::Unknown)
        row.memory = compare(step.peak->gib, of, [&](const RankPrediction& rank) {
            const Bytes peak = step.peak->kind == MeasuredPeak::Kind::Reserved
                                   ? rank.reserved.value_or(Bytes{})
                                   : rank.peak_memory;
            return step.peak->first_step ? peak - moments_made_later(rank, scenario) : peak;
        });
    if (step.held_gib) row.held = compare(*step.held_gib, of, held_by);
    if (step.activations_gib)
        row.activations = compare(*step.activations_gib, of, [](const RankPrediction& rank) {
            return rank.memory[MemoryClass::Activations];
        });
}

/// The seconds of the measured step; derived from rates where the source states nothing else.
std::optional<double> measured_seconds(const MeasuredStep& step, const Scenario& scenario,
                                       const Prediction& prediction) {
    if (step.step_s) return step.step_s;
    if (step.tokens_per_s_per_gpu)
        return prediction.tokens_per_s * prediction.mean_step_s() /
               (*step.tokens_per_s_per_gpu * scenario.gpus);
    if (step.tflops_per_gpu)
        return scenarios::printed_flops_per_step(scenario) /
               (*step.tflops_per_gpu * 1e12 * scenario.gpus);
    return std::nullopt;
}

void take(MeasuredComparison& row, const Scenario& scenario, const Prediction& prediction) {
    row.gpu = scenario.cluster.name;
    row.like = class_of(scenario);
    row.fits = prediction.fits;
    row.memory_verdict = prediction.memory_verdict;
    if (const auto seconds = measured_seconds(row.step, scenario, prediction))
        row.time = Compared{*seconds, prediction.step_time_s};
    const bool recomputes = prediction.mfu && prediction.hfu && *prediction.mfu > 0;
    row.work = prediction.tflops_per_gpu * 1e12 * prediction.mean_step_s() *
               (recomputes ? *prediction.hfu / *prediction.mfu : 1);
    take_memory(row, scenario, prediction);
}

MeasuredComparison compare(const MeasuredStep& step, const std::vector<Override>& overrides,
                           const Predictor& predictor) {
    if (step.is_collective()) return compare_collective(step);
    if (step.is_kernel()) return compare_kernel(step);
    MeasuredComparison row;
    row.step = step;
    row.unsaid = "no candidate divides its batch";
    const bool reserved = step.peak && step.peak->kind == MeasuredPeak::Kind::Reserved;
    std::optional<Prediction> best;
    // Plans of one row may differ in their batch.
    const auto rank = [](const Prediction& p) {
        return std::pair(!p.fits, p.tokens_per_s > 0 ? 1 / p.tokens_per_s : p.step_time_s);
    };
    const auto try_one = [&](const RowCandidate& candidate) {
        try {
            std::vector<Override> all = candidate.overrides;
            all.insert(all.end(), overrides.begin(), overrides.end());
            const Scenario scenario = scenarios::scenario_of_map(step.scenario, step.row, all);
            Prediction prediction = predictor(scenario, reserved);
            if (best && rank(*best) <= rank(prediction)) return;
            take(row, scenario, prediction);
            row.chosen = candidate.words;
            best = std::move(prediction);
        } catch (const InputError& error) {
            if (!best) row.unsaid = error.diagnostics().front().message;
        } catch (const InvalidSchedule& error) {
            if (!best) row.unsaid = error.what();
        }
    };
    const auto try_all = [&](bool usual) {
        const std::vector<RowCandidate> all = candidates_of(step.scenario, usual);
        std::ranges::for_each(with_vocabularies(step, with_wires(step, with_tuned_keys(step, all))),
                              try_one);
    };
    try_all(true);
    if (!best && !at(step.scenario, "training.seq_length")) try_all(false);
    if (best) row.unsaid.reset();
    return row;
}

double sum_of_errors(const std::vector<double>& rates, double constant) {
    double sum = 0;
    for (const double rate : rates) sum += std::abs(rate / constant - 1);
    return sum;
}

/// The rate with the least mean absolute error: it is that of one of the rows, since the error is
/// monotone between them.
double best_constant(const std::vector<double>& rates) {
    return *std::ranges::min_element(
        rates, {}, [&](double constant) { return sum_of_errors(rates, constant); });
}

double rate_of(const MeasuredComparison& row) {
    return row.work / row.time->measured;
}

}  // namespace

std::vector<MeasuredComparison> compare_measured(const std::vector<MeasuredStep>& steps,
                                                 const std::vector<Override>& overrides, int jobs,
                                                 const Predictor& predictor) {
    std::vector<MeasuredComparison> rows(steps.size());
    run_parallel(steps.size(), jobs, nullptr,
                 [&](std::size_t i) { rows[i] = compare(steps[i], overrides, predictor); });
    return rows;
}

void fit_null_models(std::vector<MeasuredComparison>& rows) {
    constexpr std::size_t kKinds = 3;  // steps, collectives, kernels
    std::array<std::vector<double>, kKinds> rates;
    const auto kind = [](const MeasuredComparison& row) -> std::size_t {
        return row.step.is_collective() ? 1 : row.step.is_kernel() ? 2 : 0;
    };
    for (const MeasuredComparison& row : rows)
        if (row.time) rates[kind(row)].push_back(rate_of(row));
    std::array<double, kKinds> best{};
    for (std::size_t i = 0; i < rates.size(); ++i)
        if (!rates[i].empty()) best[i] = best_constant(rates[i]);
    for (MeasuredComparison& row : rows) {
        if (!row.time) continue;
        row.null_s = row.work / best[kind(row)];
        std::vector<double> others;
        for (const MeasuredComparison& other : rows)
            if (&other != &row && other.time && other.gpu == row.gpu && kind(other) == kind(row))
                others.push_back(rate_of(other));
        if (!others.empty()) row.null_of_others_s = row.work / best_constant(others);
    }
}

}  // namespace debubble::sim

#include <cmath>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "text/document_readers.h"

/// Documents that every step packs, and context-parallel groups as large as they need.
namespace debubble::jobs {
namespace {

std::optional<double> number_in(const text::NodePtr& map, std::string_view key) {
    const text::NodePtr value = map->get(key);
    if (!value || !value->is(text::Node::Kind::Scalar)) return {};
    return number_of(value->scalar);
}

/// The largest spread that imbalance.sequence has.
constexpr double kWidestSpread = 10;

bool is_another(const text::NodePtr& map, std::string_view key, std::string_view word) {
    const text::NodePtr value = map->get(key);
    return value && !(value->is(text::Node::Kind::Scalar) && value->scalar == word);
}

/// The spread of a lognormal distribution; nothing, with a mistake, if no scenario has it.
std::optional<double> spread_of(Reading& job, const Setting& from, double sigma) {
    const double spread = std::sqrt(std::expm1(sigma * sigma));
    if (sigma >= 0 && spread <= kWidestSpread) return spread;
    job.refuse(
        from, fmt::format("lognormal_sigma of {} is {}; it must be from 0 to {:.4g}, where the "
                          "standard deviation of lengths is {} times their mean",
                          from.written, sigma, std::sqrt(std::log1p(kWidestSpread * kWidestSpread)),
                          kWidestSpread));
    return {};
}

/// Lengths of lognormal distribution as imbalance.sequence has them; empty if the map has others.
std::string lognormal_lengths(Reading& job, const Setting& from, const text::NodePtr& config) {
    const std::optional<double> mean = number_in(config, "mean_seq_len");
    const std::optional<double> sigma = number_in(config, "lognormal_sigma");
    if (is_another(config, "mode", "distribution") || is_another(config, "type", "lognormal") ||
        !mean || !sigma || *mean < 1)
        return {};
    const std::optional<double> spread = spread_of(job, from, *sigma);
    std::string lengths = fmt::format("mean: {}, spread: {:.6g}", *mean, spread.value_or(1));
    for (const auto& [key, name] :
         {std::pair("shortest", "min_seq_len"), std::pair("longest", "max_seq_len")})
        if (const auto tokens = number_in(config, name))
            lengths += fmt::format(", {}: {}", key, *tokens);
    return lengths;
}

/// The lengths of a mock data set of Megatron-LM, as imbalance.sequence has them:
/// {"type":"lognormal","min_seq_len":128,"max_seq_len":8192,"mean_seq_len":1024,
/// "lognormal_sigma":1.5}. Empty, with a note, if they are not lognormal.
std::string mock_lengths(Reading& job, std::string_view name) {
    const std::optional<std::string> said = job.in.word(name);
    const Setting* const from = job.in.find(name);
    if (!said || from == nullptr) return {};
    try {
        const text::NodePtr config = text::parse_json(*said, "");
        if (config->is(text::Node::Kind::Map))
            if (std::string lengths = lognormal_lengths(job, *from, config); !lengths.empty())
                return lengths;
    } catch (const InputError&) {  // said below, at the setting
    }
    job.note(*from,
             "document lengths are read only from lognormal distributions in JSON, which this is "
             "not; they are taken from --set");
    return {};
}

/// A map of the command line stands for the whole of the job's.
bool is_given_without_packing(const Reading& job) {
    for (const char* map : {"imbalance", "imbalance.sequence"})
        if (const auto value = job.given(map))
            return value->find("global_batch_packing") == std::string::npos &&
                   !job.given("imbalance.sequence.global_batch_packing");
    return false;
}

/// Writes that a sample is a document, if the job's setting `packing` says it.
void read_packing(Reading& job, const Setting* packing) {
    if (packing == nullptr) return;
    if (is_given_without_packing(job))
        job.note(*packing,
                 "a sample of the job's global batch is one document, but the documents given by "
                 "--set are prepacked; add global_batch_packing: true to them");
    else
        job.set("imbalance.sequence.global_batch_packing", true, packing);
}

void read_documents(Reading& job, const Setting* packing) {
    std::string lengths = mock_lengths(job, "varlen_mock_dataset_config_json");
    const Setting* from = job.in.find("varlen_mock_dataset_config_json");
    if (lengths.empty()) {
        lengths = mock_lengths(job, "sft_mock_dataset_config_json");
        from = job.in.find("sft_mock_dataset_config_json");
    }
    const char* const word = packing != nullptr ? ", global_batch_packing: true" : "";
    if (!lengths.empty())
        job.set("imbalance.sequence", fmt::format("{{{}{}}}", lengths, word), from);
    const bool given = job.given("imbalance") || job.given("imbalance.sequence");
    if (lengths.empty() || given) read_packing(job, packing);
    if (!lengths.empty() || given || job.given("imbalance.sequence.mean")) return;
    job.ask(
        fmt::format("how long are the documents? The job's data determine it; give their mean by "
                    "--set 'imbalance.sequence={{mean: N{}}}'",
                    word));
}

/// The scheduler's word, noted if Megatron-LM has none of it.
std::string read_scheduler(Reading& job, bool dynamic) {
    const std::string word = job.in.word("sequence_packing_scheduler").value_or("");
    const Setting* const from = job.in.find("sequence_packing_scheduler");
    if (word.empty() || word == "dp_balanced") return word;
    if (word != "default_dynamic_cp")
        job.note(*from, fmt::format(
                            "'{}' is not a known scheduler: dp_balanced and default_dynamic_cp are",
                            word));
    else if (!dynamic)
        job.note(*from,
                 "steps do not pack their documents, since --dynamic-context-parallel is absent");
    return word;
}

/// Settings of documents that no step packs do not affect a plan.
void leave_documents(Reading& job) {
    Settings& in = job.in;
    in.whole("max_seqlen_per_dp_cp_rank", 1, kMost);
    in.whole("min_dynamic_context_parallel_size", 1, kMostDegree);
    in.find("varlen_mock_dataset_config_json");
    if (in.is_on("use_varlen_dataset"))
        job.note(*in.find("use_varlen_dataset"),
                 "without --sequence-packing-scheduler, documents are planned as whole sequences");
}

}  // namespace

void read_megatron_packing(Reading& job) {
    Settings& in = job.in;
    const bool dynamic = in.is_on("dynamic_context_parallel");
    const bool formerly = in.is_on("hybrid_context_parallel");
    if (dynamic && formerly)
        job.refuse(*in.find("hybrid_context_parallel"),
                   "--hybrid-context-parallel is the former name of --dynamic-context-parallel; "
                   "Megatron-LM accepts only one of them");
    const std::string scheduler = read_scheduler(job, dynamic || formerly);
    const bool varlen = in.is_on("use_varlen_dataset");
    const bool global = in.is_on("enable_global_batch_packing");
    const bool each_is_a_sample = global || varlen;
    const bool packs = dynamic || formerly || scheduler == "dp_balanced";
    if (!packs) return leave_documents(job);
    if (dynamic || formerly) {
        job.set("parallel.dynamic_context_parallel", true,
                in.find(dynamic ? "dynamic_context_parallel" : "hybrid_context_parallel"));
        const auto least = in.whole("min_dynamic_context_parallel_size", 1, kMostDegree);
        if (least && *least > 1)
            job.set("parallel.min_dynamic_context_parallel_size", *least,
                    in.find("min_dynamic_context_parallel_size"));
    }
    if (dynamic || formerly || each_is_a_sample)
        job.copy("parallel.max_seqlen_per_dp_cp_rank", "max_seqlen_per_dp_cp_rank");
    read_documents(job, each_is_a_sample
                            ? in.find(global ? "enable_global_batch_packing" : "use_varlen_dataset")
                            : nullptr);
}

}  // namespace debubble::jobs

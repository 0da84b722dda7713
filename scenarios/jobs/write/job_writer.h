#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/architecture.h"
#include "scenarios/jobs/write/exported.h"

/// A job while it is written, and the plan that it is written from as keys and words, so that the
/// plan that is read back can be compared with it key by key. Private to the folder and its tests.
namespace debubble::jobs {

/// A field of a framework with its value; `is_flag` for a truth.
struct Field {
    std::string name;
    std::string value;
    bool is_flag = false;
};

class JobWriter {
public:
    explicit JobWriter(const scenarios::Scenario& plan) : s(plan) {}

    const scenarios::Scenario& s;
    std::vector<Field> fields;
    std::vector<Unsaid> unsaid;

    void say(std::string name, std::string value) {
        fields.push_back({std::move(name), std::move(value), false});
    }
    void say(std::string name, std::int64_t value) {
        fields.push_back({std::move(name), std::to_string(value), false});
    }
    void flag(std::string name, bool value) {
        fields.push_back({std::move(name), value ? "true" : "false", true});
    }
    void cannot(std::string key, std::string sentence) {
        unsaid.push_back({std::move(key), std::move(sentence)});
    }
    /// "#!..." or "//": the first lines of a job, with the sentences.
    std::string head(std::string_view comment, std::string_view tool) const;
};

/// Writers of each format; the text without its head.
std::string write_megatron(JobWriter& job);
std::string write_bridge(JobWriter& job);
std::string write_torchtitan(JobWriter& job);
std::string write_deepspeed(JobWriter& job);
std::string write_colossalai(JobWriter& job);
std::string write_automodel(JobWriter& job);
std::string write_primus(JobWriter& job);
std::string write_swift(JobWriter& job);
std::string write_nanotron(JobWriter& job);
std::string write_neox(JobWriter& job);

/// Megatron-Core's fields of a plan, by Megatron-LM's names.
void add_megatron_fields(JobWriter& job);
/// Those of its network.
void add_model_fields(JobWriter& job);
/// Those of documents that every step packs, with mock data of their lengths.
void add_packing_fields(JobWriter& job);
/// Names the documents of a plan whose job does not say their lengths.
void name_documents(JobWriter& job, std::string_view tool);
/// Names the uneven loads of a plan other than its documents.
void name_loads(JobWriter& job);

/// True if context-parallel ranks can use all-to-all: all get the same number of heads.
bool divides_heads(const scenarios::Scenario& scenario);

/// "NODES" and GPUs of each, for a launcher.
std::string launcher(const scenarios::Scenario& scenario);

// Properties of a network that writers of jobs need.

/// Why a network is not one of equal layers of plain attention and a dense MLP, as most frameworks
/// build by sizes alone; empty if it is one. `experts`: layers of experts count as such too.
std::string why_not_plain(const models::Architecture& model, bool experts);

/// The name that a network of the zoo has in Hugging Face's hub, in small letters and without its
/// folder; empty if none is known.
std::string hub_name_of(const models::Architecture& model);

// A plan as keys and words.

/// The keys of a scenario that say what is planned, settled: defaults and what follows from others
/// too. Keys that only a run reads (data, learning rate, seeds, checkpoints) are not among them,
/// and of the framework's profile only what jobs can say.
std::map<std::string, std::string> plan_keys(const scenarios::Scenario& scenario);

/// Words of values, as scenarios spell them.
std::string_view word_of(models::DataType type);
std::string_view word_of(models::LossKernel loss);
std::string_view word_of(models::Dispatcher dispatcher);
std::string_view word_of(models::ContextCommunication communication);
std::string precision_text(const scenarios::Precision& precision);
std::vector<std::string> graph_words(const scenarios::CudaGraphs& graphs);

/// The layers of every stage, by the scenario's partition; empty if a stage also has a layer of
/// multi-token prediction or the partition cannot be made.
std::vector<int> layers_of_stages(const scenarios::Scenario& scenario);
/// True if all stages have equally many layers.
bool is_even(const std::vector<int>& layers);

}  // namespace debubble::jobs

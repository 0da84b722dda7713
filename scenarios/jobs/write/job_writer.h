#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/network/architecture.h"
#include "scenarios/jobs/write/exported.h"
#include "scenarios/jobs/write/plan_keys.h"

/// A job while it is written. Private to the folder.
namespace debubble::jobs {

// A job while it is written.

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

}  // namespace debubble::jobs

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/jobs/read/reading.h"
#include "text/document.h"

/// The readers of each framework's files. Private to the folder.
namespace debubble::jobs {

/// A job's text with the name and place of its file.
struct JobText {
    std::string text;
    std::filesystem::path file;
    std::filesystem::path folder;  ///< where the scenario will lie
};

void read_megatron_job(const JobText& text, Reading& job);
void read_bridge_job(const JobText& text, Reading& job);
void read_primus_job(const JobText& text, Reading& job);
void read_torchtitan_job(const JobText& text, Reading& job);
void read_deepspeed_job(const JobText& text, Reading& job);
void read_automodel_job(const JobText& text, Reading& job);
void read_swift_job(const JobText& text, Reading& job);
void read_neox_job(const JobText& text, Reading& job);
void read_verl_job(const JobText& text, Reading& job);
void read_nanotron_job(const JobText& text, Reading& job);
void read_accelerate_job(const JobText& text, Reading& job);
void read_colossalai_job(const JobText& text, Reading& job);

/// The settings of DeepSpeed's JSON, by dotted names. Its hjson's comments are read over.
void add_deepspeed(const JobText& text, Settings& settings);
/// The keys that such settings mean. `own_file`: they are DeepSpeed's alone, and not beside those
/// of another framework.
void read_deepspeed(const JobText& text, Reading& job, bool own_file = true);

/// A YAML file; of two equal keys of a map the last one counts, and a note says so.
text::NodePtr yaml_document(std::string text, const std::string& file, Reading& job);
/// The documents of a YAML stream, each with the places that it has in the whole.
std::vector<text::NodePtr> yaml_documents(const JobText& text, Reading& job);

/// TOML as the same tree that YAML gives, with a place for every value. Throws InputError with the
/// line and column of a syntax error or an exceeded bound (text/document_readers.h).
text::NodePtr parse_toml(std::string text, const std::string& file);

}  // namespace debubble::jobs

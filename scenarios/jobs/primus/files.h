#pragma once

#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/reading.h"
#include "text/document.h"

/// The chains of files that a job of Primus names, and "${VAR:default}" in them. Private to the
/// folder.
namespace debubble::jobs {

/// Adds a map's settings. `above` stands before their names in messages; `defaults`: nobody decided
/// them.
using AddPrimusMap = void (*)(const text::Node& map, const std::string& above, Reading& job,
                              bool defaults);

/// The settings of the Megatron backend: one level of keys, whose zeros may mean "none".
void add_primus_fields(const text::Node& map, const std::string& above, Reading& job,
                       bool defaults);
/// Those of the torchtitan backend: sections, whose keys get dotted names.
void add_primus_sections(const text::Node& map, const std::string& above, Reading& job,
                         bool defaults);

/// Adds the file that the module's `key` names, and before it what it extends. It lies beside the
/// job, or in a folder above it under primus/configs, `kind` and `backend`.
void add_primus_file(const text::Node& module, const char* key, const char* kind,
                     const char* backend, const JobText& text, AddPrimusMap add, Reading& job);

/// Reads a module of the torchtitan backend.
void read_primus_titan(const text::Node& module, const JobText& text, Reading& job);

}  // namespace debubble::jobs

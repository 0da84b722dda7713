#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/jobs/read/imported.h"
#include "scenarios/jobs/shell/started.h"
#include "scenarios/read/sweep.h"

/// Jobs of other frameworks: read into scenarios, and written from them. Sources of flags and
/// defaults: Megatron-LM d98e8a64dd (megatron/training/arguments.py), Megatron-Bridge 067f987df,
/// Primus fd1eeabb, torchtitan v0.2.2 and b5bcd76c6, DeepSpeed edaa72212, ColossalAI 4f9953be3,
/// accelerate 16cb6eb8, NeMo Automodel 36044ad3d, ms-swift 3602360a5, nanotron 2411b022, GPT-NeoX
/// ea7aefd8, verl b178a3cd5, slime 624b824a8.
namespace debubble::jobs {

/// The words of `import --from`, in the order of the help.
std::vector<std::string> job_formats();

/// Options of the command line for a job, in addition to values of the scenario.
struct ImportOptions {
    /// Settings that make another network and are left out instead of refused, by their names.
    std::vector<std::string> allow = {};
    Started started = {};  ///< the arguments and the variables of a script
};

/// Reads a job. `format` may be empty: it is recognised then. Values `given` win over those of the
/// job; their keys are a scenario's, and gpus, cluster, vocab, micro_batch, seq_length and
/// global_batch have short names. Throws InputError with every mistake and with a question for
/// everything that the job does not know.
/// The scenario will lie in `folder`: paths of files in it are relative to that.
/// A script is taken to be started with the options' arguments and variables.
Imported import_job(const std::filesystem::path& file, const std::string& format,
                    const std::vector<scenarios::Override>& given,
                    const std::filesystem::path& folder = {}, const ImportOptions& options = {});

/// The same of a text that is not on the disk; files that it names are sought beside `file`.
Imported import_text(std::string text, const std::filesystem::path& file, const std::string& format,
                     const std::vector<scenarios::Override>& given,
                     const std::filesystem::path& folder = {}, const ImportOptions& options = {});

/// The format of a text: by the file's ending, and by words that only one of them has. Throws
/// InputError that names the formats if it is none.
std::string recognised_format(std::string_view text, const std::filesystem::path& file);

/// True if the file is a job rather than a scenario: its ending is that of none, or it has keys
/// that only a job has.
bool is_job(std::string_view text, const std::filesystem::path& file);

}  // namespace debubble::jobs

#pragma once

#include <vector>

#include "scenarios/jobs/read/reading.h"
#include "scenarios/jobs/shell/settings.h"
#include "scenarios/jobs/shell/value.h"

/// The settings that a launch script passes to the programs that it starts: flags, overrides of
/// hydra, and the programs themselves. Private to the folder.
namespace debubble::jobs {

// Flags of a launch script as settings.

/// Adds the flags of the command that starts the training: the one with the most flags, or, in a
/// list of arguments, all. Names keep their dots; dashes become underscores, so "--num-layers 96"
/// is num_layers. The script's remarks become notes. Throws InputError.
void add_script(const std::shared_ptr<const text::SourceText>& source, Reading& job);
/// The same, of the settings that `wanted` takes.
void add_script(const std::shared_ptr<const text::SourceText>& source, Reading& job,
                const std::function<bool(const Setting&)>& wanted);

/// The allocator that the environment chooses (PYTORCH_CUDA_ALLOC_CONF), as a key.
void read_allocator(Reading& job);

/// The GPUs that a launcher's flags, `#SBATCH` lines or the script's variables name; unset where
/// they do not.
void read_launcher(Reading& job, World& world);

// Settings that a script gives as hydra's overrides.

/// Every `section.field=value` of a script's commands, in their order, with its whole path as its
/// name. Hydra's + and ++ before the path and quotes around the value are not part of them; "[a,b]"
/// is a list. Values null and None are absence, which stays a setting.
std::vector<Setting> hydra_overrides(const ShellScript& script);

/// True for null and None.
bool says_none(const Setting& setting);

// The Python programs that a launch command starts.

/// The name under which a job's settings have each of its programs: "pretrain_gpt.py", or the
/// module after -m.
inline constexpr std::string_view kEntryPoint = "$entry_point";

/// The name of a setting that has the class of Megatron-Bridge's provider.
inline constexpr std::string_view kProvider = "$provider";

/// Adds the programs of a command to the settings.
void add_entry_points(const ShellCommand& command, const ShellScript& script, Settings& settings);

/// The purpose of a program that does not train a GPT, by the parts of its name: "trains T5, an
/// encoder and a decoder". Empty for a GPT, for a hybrid of GPT and Mamba, and for programs whose
/// name says nothing.
std::string_view other_network_of(std::string_view program);

/// The same by the name of a class that builds the network: "Qwen25VLModelProvider".
std::string_view other_network_of_class(std::string_view name);

/// True for the programs of networks with state-space layers: pretrain_mamba.py.
bool is_hybrid_program(std::string_view program);

}  // namespace debubble::jobs

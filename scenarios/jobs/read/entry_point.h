#pragma once

#include "scenarios/jobs/shell/settings.h"
#include "scenarios/jobs/shell/value.h"

/// The Python programs that a launch command starts. Private to the folder.
namespace debubble::jobs {

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

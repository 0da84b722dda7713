#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "scenarios/jobs/read/reading.h"

/// The parts of DeepSpeed's reader. Private to the folder.
namespace debubble::jobs {

/// True for a setting that whoever starts DeepSpeed fills in.
bool is_auto(Settings& in, std::string_view name);

/// The hidden size of the model that the command line gives, as a name, a file or keys; nothing if
/// it gives none. Files are seen from `folder`.
std::optional<std::int64_t> width_of_given_model(const Reading& job,
                                                 const std::filesystem::path& folder);
/// Its layers; 0 if none is given.
std::int64_t layers_of_given_model(const Reading& job, const std::filesystem::path& folder);

/// The limits of ZeRO-3, where `stage` is 3. `hidden` is the model's width, if it is known, from
/// which transformers fills in "auto" (transformers, integrations/deepspeed.py,
/// trainer_config_finalize).
void read_deepspeed_limits(Reading& job, std::int64_t stage, std::optional<std::int64_t> hidden);

/// Settings of DeepSpeed's sections that nobody asked for: counts those that change no plan, names
/// the others, and refuses a map where one value is wanted. Of DeepSpeed's own file, first words
/// that it does not have are named too.
void sort_deepspeed_left(Reading& job, bool own_file);

}  // namespace debubble::jobs

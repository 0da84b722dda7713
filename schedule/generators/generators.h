#pragma once

#include <span>
#include <string_view>

#include "schedule/generators/generator.h"

/// Every schedule the project knows. To add one: write its file in this folder, whose last function
/// makes its row, and add that file's name to the list in table.cpp. The command line, the window's
/// menu and the parametrised tests read the table; ARCHITECTURE.md lists the rest.
namespace debubble {

std::span<const Generator> generators();
const Generator* find_generator(std::string_view name);

/// The reason why the generator does not take the memory limit of the options, if they have one.
Reason memory_limit_reason(const Generator& generator, const GeneratorOptions& options);

/// Looks the name up and checks the shape and the option keys. Throws InputError with a
/// did-you-mean suggestion, or with the row's why_not.
Schedule generate(std::string_view name, const PipelineShape& shape,
                  const GeneratorOptions& options = {});

}  // namespace debubble

#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "schedule/generators/generator_options.h"
#include "schedule/schedule.h"

/// Every schedule the project knows. To add one: write its file in this folder,
/// declare it below, add its row to table.cpp. The command line, the window's
/// menu and the parametrised tests read the table, so nothing else changes.
namespace debubble {

/// Each is a pure function. Precondition: its row's why_not(shape, options) is empty.
Schedule gpipe(const PipelineShape& shape, const GeneratorOptions& options);
Schedule one_f_one_b(const PipelineShape& shape, const GeneratorOptions& options);
Schedule eager_one_f_one_b(const PipelineShape& shape, const GeneratorOptions& options);
Schedule interleaved_one_f_one_b(const PipelineShape& shape, const GeneratorOptions& options);
Schedule looped_bfs(const PipelineShape& shape, const GeneratorOptions& options);
Schedule group_interleaved(const PipelineShape& shape, const GeneratorOptions& options);
Schedule zb_h1(const PipelineShape& shape, const GeneratorOptions& options);
Schedule zb_h2(const PipelineShape& shape, const GeneratorOptions& options);
Schedule interleaved_zb(const PipelineShape& shape, const GeneratorOptions& options);
Schedule seq_one_f_one_b(const PipelineShape& shape, const GeneratorOptions& options);
Schedule zb_auto(const PipelineShape& shape, const GeneratorOptions& options);
Schedule zb_v(const PipelineShape& shape, const GeneratorOptions& options);
Schedule v_half(const PipelineShape& shape, const GeneratorOptions& options);
Schedule v_min(const PipelineShape& shape, const GeneratorOptions& options);
Schedule one_f_one_b_v(const PipelineShape& shape, const GeneratorOptions& options);
Schedule chimera(const PipelineShape& shape, const GeneratorOptions& options);
Schedule dualpipe(const PipelineShape& shape, const GeneratorOptions& options);
Schedule dualpipe_v(const PipelineShape& shape, const GeneratorOptions& options);

/// Those of the generators that ask for more than a number of stages per rank.
Reason why_not_interleaved_1f1b(const PipelineShape& shape, const GeneratorOptions& options);
Reason why_not_group_interleaved(const PipelineShape& shape, const GeneratorOptions& options);
Reason note_of_zb_h2(const PipelineShape& shape);
Reason why_not_interleaved_zb(const PipelineShape& shape, const GeneratorOptions& options);
Reason why_not_seq_1f1b(const PipelineShape& shape, const GeneratorOptions& options);
Reason why_not_zb_auto(const PipelineShape& shape, const GeneratorOptions& options);
Reason why_not_zb_v(const PipelineShape& shape, const GeneratorOptions& options);
Reason why_not_v_shape(const PipelineShape& shape, const GeneratorOptions& options);
Reason why_not_chimera(const PipelineShape& shape, const GeneratorOptions& options);
Reason why_not_dualpipe(const PipelineShape& shape, const GeneratorOptions& options);
Reason why_not_dualpipe_v(const PipelineShape& shape, const GeneratorOptions& options);

struct Generator {
    std::string_view name;
    std::string_view summary;  ///< one line for menus
    std::string_view source;   ///< paper (arXiv number) or repository
    Schedule (*make)(const PipelineShape&, const GeneratorOptions&);
    Reason (*why_not)(const PipelineShape&, const GeneratorOptions&);
    bool splits_backward = false;             ///< writes I and W instead of B
    std::optional<int> stages_per_rank = {};  ///< the only value it takes, if there is only one
    bool uses_costs = false;  ///< looks at GeneratorOptions::costs; a scenario gives its own
    std::span<const GeneratorOption> options = {};  ///< the keys that it reads
    bool overlaps = false;            ///< writes Overlap: a forward and a backward at once
    bool takes_memory_limit = false;  ///< obeys GeneratorOptions::memory_limit
    /// What a person should know of a schedule of this shape, if there is something.
    Reason (*note)(const PipelineShape&) = nullptr;
};

std::span<const Generator> generators();
const Generator* find_generator(std::string_view name);

/// Why the generator does not take the memory limit that the options have, if they have one.
Reason memory_limit_reason(const Generator& generator, const GeneratorOptions& options);

/// Looks the name up and checks the shape and the option keys. Throws
/// InputError with did-you-mean, or with the row's why_not.
Schedule generate(std::string_view name, const PipelineShape& shape,
                  const GeneratorOptions& options = {});

}  // namespace debubble

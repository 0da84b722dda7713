#pragma once

#include <optional>

#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/reading.h"

/// Megatron-LM's arguments, under the names of its fields (`tensor_model_parallel_size`), which
/// Megatron-Bridge and Primus share, and the files of Megatron-DeepSpeed. Private to the folder.
namespace debubble::jobs {

/// Differences between the launchers of Megatron-Core.
struct MegatronDialect {
    std::string_view tool;
    std::string_view framework;  ///< the profile
    bool is_bridge = false;
    bool is_primus = false;
    bool names_network = false;                        ///< `model` is a name, or a map of its own
    std::optional<std::int64_t> bucket_elements = {};  ///< of a gradient bucket, if it is not by
                                                       ///< Megatron-LM's rule
    std::string_view cluster_hint = {};
};

/// Renames flags to fields: "--disable-bias-linear" is add_bias_linear: false. Settings that are
/// named otherwise by Megatron-Bridge and in YAML get Megatron-LM's names.
void rename_to_fields(Settings& settings);

/// Reads all of a job from its fields and writes the scenario's keys.
void read_megatron(Reading& job, const MegatronDialect& dialect);

// The parts of read_megatron().
void read_megatron_model(Reading& job);
/// Mixtures of experts, latent attention and further tokens.
void read_megatron_experts(Reading& job);
struct MegatronCut {
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t context = 1;
    std::int64_t chunks = 1;                ///< stages of a rank
    std::optional<std::int64_t> data = {};  ///< replicas, if they are known
    bool sequence = false;
    int zero_stage = 0;
    bool fsdp2 = false;
    std::int64_t layers = 0;
    std::optional<std::int64_t> micro_batches;  ///< of a replica's step, if known
};
MegatronCut read_megatron_cut(Reading& job, const MegatronDialect& dialect);
void read_megatron_stages(Reading& job, MegatronCut& cut);
/// Groups of interleaved microbatches, once the microbatches of a step are known.
void settle_megatron_groups(Reading& job, const MegatronCut& cut);
void read_megatron_training(Reading& job, const MegatronDialect& dialect, MegatronCut& cut);
void read_megatron_framework(Reading& job, const MegatronDialect& dialect, const MegatronCut& cut);
/// Documents that every step packs, and dynamic context parallelism.
void read_megatron_packing(Reading& job);
/// The bytes of a gradient, and writes training.precision.
std::int64_t read_megatron_precision(Reading& job, const MegatronDialect& dialect);
/// Notes and refusals about settings that no key says, names unknown ones and counts the silent.
void sort_left_settings(Reading& job, std::string_view tool);

/// Notes what Megatron-LM's own checks would refuse of the flags.
void note_megatron_refusals(Reading& job, const MegatronDialect& dialect, const MegatronCut& cut);
/// The same of variables of the environment.
void note_environment_refusals(Reading& job, const MegatronDialect& dialect,
                               const MegatronCut& cut);

/// Multi-head latent attention as `model.latent_attention` has it.
std::string megatron_latent(Reading& job);

/// True if two words differ in the case of their letters alone.
bool same_word(std::string_view one, std::string_view other);

/// The layers of every stage that Python's list expression says: "([0]*3+[1]*58)". Nothing if it
/// is not such a list.
std::optional<std::vector<int>> python_list(std::string_view text);

/// Reads the settings of a Megatron-DeepSpeed job in addition to Megatron-LM's flags: the JSON that
/// --deepspeed_config names, which lies beside the script or is written by it, and the bigscience
/// fork's flags. Call it before the flags are read, and finish_deepspeed() after that.
void settle_deepspeed(const JobText& text, Reading& job);
void finish_deepspeed(Reading& job);

/// `parallel.partition` of a pipeline that DeepSpeed cuts by the names of its items, those `before`
/// the layers, the layers and those `after` them: items whose name, in small letters, has a word of
/// `pattern`, words between bars, are shared evenly.
std::string partition_by_types(std::string pattern, const std::vector<std::string>& before,
                               std::string_view layer, const std::vector<std::string>& after,
                               std::int64_t layers, std::int64_t stages);

/// The first item of each part, and the end of the last, as DeepSpeed balances items of such
/// weights (runtime/utils.py, partition_balanced).
std::vector<std::size_t> balanced_parts(const std::vector<std::int64_t>& weights,
                                        std::size_t parts);

}  // namespace debubble::jobs

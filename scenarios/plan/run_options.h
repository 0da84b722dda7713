#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenarios/plan/lr_schedule.h"

/// The options of a training run: the keys of `training` that a simulation hardly reads. Keys that
/// are not given have PyTorch's defaults. Paths are relative to the folder where the program runs.
namespace debubble::scenarios {

/// The parameters that weight decay pulls to 0, as a checkpoint holds them: a norm's weight that
/// multiplies as 1 + w is pulled to w = 0 (Architecture::zero_centred_norms).
enum class WeightDecayOf : std::uint8_t {
    All,       ///< all of them, as torch.optim does without groups of parameters
    Matrices,  ///< those of several dimensions, embeddings among them: no norm and no bias
};
constexpr std::string_view word_of(WeightDecayOf decayed) {
    switch (decayed) {
        case WeightDecayOf::All: return "all";
        case WeightDecayOf::Matrices: return "matrices";
    }
    return "";
}

/// The options of torch.optim.Adam and, with `decoupled`, AdamW (Kingma and Ba 2015; Loshchilov and
/// Hutter 2019). AdamW's default weight decay is 0.01, Adam's is 0.
struct AdamOptions {
    double lr = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool decoupled = false;  ///< decays the weight itself, not through the gradient
    WeightDecayOf weight_decay_of{};
    friend bool operator==(const AdamOptions&, const AdamOptions&) = default;
};

/// The options of torch.optim.SGD.
struct SgdOptions {
    double lr = 1e-3;
    double momentum = 0;
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    WeightDecayOf weight_decay_of{};
    friend bool operator==(const SgdOptions&, const SgdOptions&) = default;
};

/// Muon (Jordan et al. 2024; Megatron-LM d98e8a6, core/optimizer/muon.py): matrices but for
/// embedding and head step along their momentum, made orthogonal by Newton-Schulz iterations; all
/// other parameters by AdamW with its defaults, at the same rate and weight decay.
struct MuonOptions {
    /// The factor of an orthogonal step of a matrix [outputs, inputs].
    enum class ScaleMode : std::uint8_t {
        Spectral,      ///< sqrt(max(outputs, inputs)), Megatron-Core's
        ShapeScaling,  ///< sqrt(max(1, outputs / inputs)), Jordan's and torch.optim.Muon's
        UnitRmsNorm,   ///< sqrt(outputs / inputs)
    };
    double lr = 1e-3;
    double momentum = 0.95;  ///< of an exponential moving average of the gradient
    double weight_decay = 0.01;
    int steps = 5;  ///< of the iteration
    bool nesterov = false;
    ScaleMode scale_mode = ScaleMode::Spectral;
    WeightDecayOf weight_decay_of{};
    friend bool operator==(const MuonOptions&, const MuonOptions&) = default;
};

/// Megatron-Core's word.
constexpr std::string_view word_of(MuonOptions::ScaleMode mode) {
    switch (mode) {
        case MuonOptions::ScaleMode::Spectral: return "spectral";
        case MuonOptions::ScaleMode::ShapeScaling: return "shape_scaling";
        case MuonOptions::ScaleMode::UnitRmsNorm: return "unit_rms_norm";
    }
    return "";
}

using OptimizerOptions = std::variant<AdamOptions, SgdOptions, MuonOptions>;
inline constexpr AdamOptions kAdamW{1e-3, 0.9, 0.999, 1e-8, 0.01, true};
double lr_of(const OptimizerOptions& optimizer);
WeightDecayOf weight_decay_of(const OptimizerOptions& optimizer);
/// True if hidden matrices step otherwise than the other parameters.
bool steps_matrices(const OptimizerOptions& optimizer);
/// The numbers that an optimizer keeps per parameter: Adam 2, SGD 1 for its momentum, or 0, Muon 1
/// per element of a matrix, and Adam's 2 of all else.
int moments_of(const OptimizerOptions& optimizer);

/// The options of torch.cuda.amp.GradScaler, whose defaults these are, and of Colossal-AI's
/// DynamicGradScaler, which adds the bounds and the hysteresis.
struct LossScaleOptions {
    double initial_scale = 65536;
    double min_scale = 1;
    std::optional<double> max_scale = {};
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;  ///< steps without overflow in a row
    int hysteresis = 1;                   ///< overflows until the scale shrinks
    friend bool operator==(const LossScaleOptions&, const LossScaleOptions&) = default;
};

/// How a training balances the tokens of experts (Megatron-Core's options of these names). A term
/// of the loss is the mean over the microbatches of all replicas.
struct RouterOptions {
    /// The scope of a term: all tokens of a microbatch; those of each sequence, of which the mean
    /// is taken; or those of the microbatches of all replicas, whose experts' tokens are the mean
    /// over the step's microbatches so far.
    enum class Balancing : std::uint8_t { AuxLoss, SeqAuxLoss, GlobalAuxLoss };
    Balancing balancing{};
    double aux_loss_coeff = 0;
    double z_loss_coeff = 0;
    /// The update rate of the expert bias per step.
    double bias_update_rate = 1e-3;
    friend bool operator==(const RouterOptions&, const RouterOptions&) = default;
};
/// Megatron-Core's word.
constexpr std::string_view word_of(RouterOptions::Balancing balancing) {
    switch (balancing) {
        case RouterOptions::Balancing::AuxLoss: return "aux_loss";
        case RouterOptions::Balancing::SeqAuxLoss: return "seq_aux_loss";
        case RouterOptions::Balancing::GlobalAuxLoss: return "global_aux_loss";
    }
    return "";
}

struct CheckpointOptions {
    std::string dir;
    std::optional<std::int64_t> every;  ///< in steps; unset: at the end only
    int keep = 0;                       ///< number of latest checkpoints to keep; 0 keeps all
    friend bool operator==(const CheckpointOptions&, const CheckpointOptions&) = default;
};

/// The source of tokens or images. At most one of the four sources is not empty.
struct DataOptions {
    std::string tokens;  ///< a file of token ids
    std::string text;
    std::string jsonl;
    std::string images;  ///< a folder of images
    std::string eval;    ///< evaluation data of the same kind
    std::string tokenizer;
    std::string cache;
    bool shuffle = false;
    bool pack = true;
    std::optional<std::int64_t> pad_token;
    std::optional<std::int64_t> end_of_text;
    std::int32_t ignore_index = -100;
    std::vector<double> mean;       ///< mean of pixels: one number, or one for each channel
    std::vector<double> deviation;  ///< standard deviation, the key `std`
    friend bool operator==(const DataOptions&, const DataOptions&) = default;

    bool has_source() const {
        return !tokens.empty() || !text.empty() || !jsonl.empty() || !images.empty();
    }
};

struct RunOptions {
    std::optional<std::int64_t> steps;   ///< number of the last step
    std::optional<std::int64_t> epochs;  ///< at most one of steps, epochs and tokens is set
    std::optional<std::int64_t> tokens;  ///< to train on, in all
    std::uint64_t seed = 0;
    std::string init_from;  ///< Hugging Face folder or checkpoint; if empty, random weights
    OptimizerOptions optimizer = kAdamW;
    LrSchedule lr_schedule;
    std::optional<double> clip_norm;             ///< of the global gradient's norm; not 0
    std::optional<LossScaleOptions> loss_scale;  ///< set when the precision scales its loss
    DataOptions data;
    std::optional<CheckpointOptions> checkpoint;  ///< if unset, none are saved
    std::optional<std::int64_t> eval_interval;    ///< in steps; unset: at the end only
    std::optional<std::int64_t> eval_iters;       ///< global batches of `data.eval`; if unset, all
    friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

/// The values that are set, as text under dotted keys, such as "data.tokens", for a checkpoint.
std::map<std::string, std::string> settings_of(const RunOptions& options);

}  // namespace debubble::scenarios

#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

/// One layer of a network: the part that mixes tokens, and the MLP after it. The letters of the
/// literature are in brackets.
namespace debubble::models {

enum class Norm { LayerNorm, RmsNorm };
enum class Activation {
    Gelu,      ///< exact, by the error function
    GeluTanh,  ///< its approximation by tanh
    Relu,
    SquaredRelu,
    Swiglu,
    Geglu,          ///< gated by the exact GELU
    GegluTanh,      ///< gated by its approximation (Gemma)
    ClampedSwiglu,  ///< gpt-oss's: with g at most 7 and u from -7 to 7,
                    ///< g sigmoid(1.702 g) (u + 1)
    Xielu,          ///< of two halves with a learned scalar each (arXiv:2411.13010); Apertus
    Situ,           ///< Kimi K3's: b tanh(g / b) sigmoid(g) c tanh(u / c)
};
inline constexpr double kClampedSwigluLimit = 7;
inline constexpr double kClampedSwigluSlope = 1.702;

/// True if a product of a gate and a value is the activation: the MLP is twice as wide before it.
constexpr bool is_gated(Activation activation) {
    return activation == Activation::Swiglu || activation == Activation::Geglu ||
           activation == Activation::GegluTanh || activation == Activation::ClampedSwiglu ||
           activation == Activation::Situ;
}

/// RMS norms of queries and keys (arXiv:2302.05442).
enum class QkNorm {
    None,
    Heads,  ///< of every head before it is rotated, with one weight per column of a head
    Width,  ///< of all heads' columns together before they are rotated, with a weight each (OLMo 2)
    L2,     ///< of every head after it was rotated, without weights (Llama 4)
};

/// Angles of rotary positions that are changed so that longer texts than the training's can be read
/// (transformers' modeling_rope_utils.py). No figure of a plan depends on them.
struct RopeScaling {
    enum class Kind { Linear, Dynamic, Llama3, Yarn, Longrope };
    Kind kind{};
    double factor = 1;
    std::int64_t original_positions = 8192;  ///< of the training before the change
    double low_frequency_factor = 1;         ///< llama3's
    double high_frequency_factor = 4;        ///< llama3's
    double beta_fast = 32;                   ///< yarn's
    double beta_slow = 1;                    ///< yarn's
    std::optional<double> mscale = {};       ///< yarn's as DeepSeek uses it, if not the usual one
    bool truncate = true;  ///< yarn's: the bounds between frequencies are rounded to whole ones
    std::vector<double> short_factors = {};  ///< longrope's, of each angle, for texts up to the
                                             ///< original's length
    std::vector<double> long_factors = {};   ///< longrope's, for longer ones
    friend bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

/// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): keys and values are
/// made from a narrow latent value, and queries too where `query_rank` is set, else from the hidden
/// state. A head's queries and
/// keys have head_dim - rope_dim columns of their own and rope_dim rotated ones, which all keys
/// share.
struct LatentAttention {
    std::optional<std::int64_t> query_rank = {};
    std::int64_t key_rank = 1;
    std::int64_t rope_dim = 1;
    friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Queries at position p are multiplied by 1 + scale log(1 + floor((p + 1) / floor)): Llama 4's, in
/// its layers without rotary positions. No figure of a plan depends on it.
struct QueryTemperature {
    double floor = 8192;  ///< in tokens
    double scale = 0.1;
    friend bool operator==(const QueryTemperature&, const QueryTemperature&) = default;
};

/// A small attention whose scores choose the keys that a layer's attention sees (DeepSeek-V3.2,
/// arXiv:2512.02556): its heads share one key. Every tensor-parallel rank has it whole.
struct Indexer {
    std::int64_t heads = 1;
    std::int64_t head_dim = 1;
    /// Scores are weighed by the token and summed over heads, and the key has a layer norm. Else
    /// each head chooses for a key head, and queries and keys have RMS norms (MiniMax M3).
    bool weighted = true;
    friend bool operator==(const Indexer&, const Indexer&) = default;
};

/// A token sees the keys with the best scores of an indexer, or of that of a layer before.
struct SparseChoice {
    std::int64_t keys = 2048;
    std::int64_t block = 1;               ///< keys that are chosen together
    std::optional<Indexer> indexer = {};  ///< unset: the choice is that of the last layer with one
    friend bool operator==(const SparseChoice&, const SparseChoice&) = default;
};

/// Attention over one key-value head, a window of tokens and shortened keys (DeepSeek-V4): each
/// `ratio` tokens have an entry, of which an indexer, if there is one, chooses some. Queries are
/// made from a narrow value, and the result goes out through products of groups of heads.
struct CompressedKeys {
    std::int64_t query_rank = 1;
    std::int64_t groups = 1;  ///< of heads, each with a product of its own into `out_rank`
    std::int64_t out_rank = 1;
    std::optional<std::int64_t> ratio = {};   ///< tokens of an entry; unset: the window alone
    std::optional<std::int64_t> chosen = {};  ///< entries that a token sees at most
    std::optional<Indexer> indexer = {};
    friend bool operator==(const CompressedKeys&, const CompressedKeys&) = default;

    /// An entry that is chosen mixes its tokens and as many before them.
    std::int64_t overlap() const { return indexer ? 2 : 1; }
};

/// Multi-head attention, with grouped keys where there are fewer of them (arXiv:2305.13245).
struct Attention {
    std::int64_t heads = 1;     ///< [a]
    std::int64_t kv_heads = 1;  ///< equal to `heads` without grouped-query attention
    std::int64_t head_dim = 1;  ///< [d]
    bool qkv_bias = true;
    bool output_bias = true;
    bool rotary = false;  ///< queries and keys are rotated by position (arXiv:2104.09864)
    double rope_theta = 10000;
    std::int64_t value_dim = 1;  ///< width of a head's values; `head_dim` but in latent attention
    std::optional<std::int64_t> rotary_dim =
        {};  ///< columns of a head that are rotated; unset: all
    std::optional<RopeScaling> rope_scaling = {};
    QkNorm qk_norm = QkNorm::None;
    /// A token sees itself and the window - 1 tokens before it; unset: all tokens before it.
    std::optional<std::int64_t> window = {};
    /// A token sees itself and what is before it in its own chunk of that many tokens; unset: the
    /// sequence is one chunk. Such a layer has no window.
    std::optional<std::int64_t> chunk = {};
    std::optional<LatentAttention> latent = {};
    /// Every head has a learned logit that takes part in the softmax, whose value is dropped
    /// (gpt-oss).
    bool sinks = false;
    /// Scores are cap tanh(score / cap) before the softmax (Gemma 2).
    std::optional<double> score_softcap = {};
    /// Scores are divided by the root of this, if set, instead of that of `head_dim`.
    std::optional<double> query_pre_attn_scalar = {};
    std::optional<QueryTemperature> temperature = {};
    /// The result is multiplied by the sigmoid of a gate, made with the queries and as wide.
    bool output_gate = false;
    /// The result of each head is multiplied by the sigmoid of one logit (Step 3.7).
    bool head_gate = false;
    /// Values are the keys before their norm and rotation: there is no projection for them (Gemma
    /// 4).
    bool keys_are_values = false;
    /// Values have an RMS norm of every head without weights (Gemma 4).
    bool value_norm = false;
    std::optional<SparseChoice> sparse = {};
    std::optional<CompressedKeys> compressed = {};
    /// Scores get less by the distance to the key, times a slope of the head (arXiv:2108.12409).
    bool alibi = false;
    friend bool operator==(const Attention&, const Attention&) = default;

    std::int64_t query_width() const { return heads * head_dim; }
    std::int64_t key_width() const { return kv_heads * head_dim; }
    std::int64_t value_width() const { return kv_heads * value_dim; }
    std::int64_t context_width() const { return heads * value_dim; }
    /// The factor by which scores are multiplied before their softmax.
    double score_scale() const {
        return 1 / std::sqrt(query_pre_attn_scalar.value_or(static_cast<double>(head_dim)));
    }
};

/// Mamba-2 (Dao and Gu 2024, arXiv:2405.21060): each head has a state of head_dim x state values,
/// which decays with every token, takes in what B and C, shared by the heads of a group, select,
/// and is read by them. A convolution over the last tokens goes before.
struct Mamba {
    std::int64_t heads = 1;
    std::int64_t head_dim = 64;    ///< [P]
    std::int64_t state = 128;      ///< [N]
    std::int64_t groups = 1;       ///< [G]
    std::int64_t convolution = 4;  ///< tokens that it sees, the one itself among them
    std::int64_t chunk = 256;      ///< tokens that are computed by products rather than in turn
    bool convolution_bias = true;
    bool norm = true;  ///< the scan's output has an RMS norm per group
    /// Every column decays by itself, by a step that is made of a narrow value of this width, and
    /// so are B and C (Mamba-1, arXiv:2312.00752). Such a layer has no heads: heads x head_dim are
    /// its columns. Unset: Mamba-2.
    std::optional<std::int64_t> step_rank = {};
    bool step_norms = false;  ///< that value, B and C have RMS norms (Jamba, arXiv:2403.19887)
    friend bool operator==(const Mamba&, const Mamba&) = default;

    std::int64_t inner() const { return heads * head_dim; }
    /// Columns that go through the convolution: of Mamba-2 values, B and C.
    std::int64_t convolved() const { return inner() + (step_rank ? 0 : 2 * groups * state); }
    /// Columns of the product before: gate, what is convolved, and a step for each head.
    std::int64_t projected() const { return inner() + convolved() + (step_rank ? 0 : heads); }
    /// Columns of Mamba-1's narrow value: that of the steps, B and C.
    std::int64_t narrow() const { return step_rank.value_or(0) + 2 * state; }
};

/// A gated delta net (Yang et al. 2025, arXiv:2412.06464): each value head has a state of key_dim x
/// value_dim values, which decays and is corrected towards the values of the keys that come. Value
/// heads share key heads in equal groups.
struct DeltaNet {
    std::int64_t key_heads = 1;
    std::int64_t value_heads = 1;
    std::int64_t key_dim = 128;
    std::int64_t value_dim = 128;
    std::int64_t convolution = 4;  ///< tokens that it sees, the one itself among them
    std::int64_t chunk = 64;  ///< tokens of a chunk, as flash-linear-attention's kernels have it
    /// Every channel of a key decays by itself (Kimi Delta Attention, arXiv:2510.26692). Queries,
    /// keys and values have convolutions of their own, and the decays a product of this rank.
    bool channel_decay = false;
    std::int64_t gate_rank = 128;   ///< of the products into decays and into the output gate
    bool full_output_gate = false;  ///< the output gate is one full-rank projection
    bool full_decay_gate = false;   ///< decays of channels are one product (Ling 3)
    /// Nothing is corrected: states take in keys and values, and decay by a fixed factor of each
    /// head (Lightning attention, arXiv:2501.08313). There is no convolution.
    bool fixed_decay = false;
    friend bool operator==(const DeltaNet&, const DeltaNet&) = default;

    std::int64_t key_width() const { return key_heads * key_dim; }
    std::int64_t value_width() const { return value_heads * value_dim; }
    /// Columns of queries, keys and values, which go through the convolution.
    std::int64_t convolved() const { return 2 * key_width() + value_width(); }
    /// Columns of the products before: those, the gate, and two rates for each value head.
    std::int64_t projected() const {
        return convolved() + value_width() + (fixed_decay ? 0 : 2 * value_heads);
    }
};

/// One MLP for every token.
struct DenseMlp {
    std::int64_t ffn = 1;  ///< [f] inner width; the width of each half if gated
    Activation activation = Activation::GeluTanh;
    bool bias = true;
    friend bool operator==(const DenseMlp&, const DenseMlp&) = default;
};

enum class Router {
    Softmax,       ///< of the chosen logits
    PreSoftmax,    ///< of all logits, of which the chosen are taken as they are (Megatron-Core's
                   ///< --moe-router-pre-softmax)
    Sigmoid,       ///< of each logit (DeepSeek-V3, arXiv:2412.19437, section 2.1.2)
    SqrtSoftplus,  ///< the root of each logit's softplus (DeepSeek-V4)
};

/// The type of a router's logits and of their gradients, independent of the training's type: among
/// equal scores the first experts win, and 16 bits have many equal ones.
enum class RouterDtype {
    Compute,  ///< that of the training
    Fp32,
};

/// MLPs of which a router chooses some for each token.
struct Experts {
    std::int64_t count = 1;      ///< [E]
    std::int64_t per_token = 1;  ///< [k]
    std::int64_t ffn = 1;        ///< [f] inner width of one expert
    Activation activation = Activation::Swiglu;
    std::optional<std::int64_t> shared_ffn = {};  ///< inner width of the MLP that every token
                                                  ///< goes through, if there is one
    Router router = Router::Softmax;
    /// Experts lie in equal groups, of which a token goes to some only: those with the best two
    /// experts together by a sigmoid router, with the best expert by another (DeepSeek).
    std::int64_t groups = 1;
    std::int64_t groups_chosen = 1;
    /// Chosen scores are divided by their sum; a sigmoid router's alone may not be (a softmax of
    /// the chosen logits has the sum 1, and what PreSoftmax chooses is not divided).
    bool renormalised = true;
    double scaling = 1;  ///< factor of the weights after that
    RouterDtype router_dtype = RouterDtype::Compute;
    bool router_bias = false;  ///< the logits have a learned bias
    /// A bias of every expert is added to its score for the choice alone; no gradient changes it
    /// (e_score_correction_bias of arXiv:2412.19437, section 2.1.2).
    bool bias_correction = false;
    bool bias = false;  ///< the experts' products have biases
    /// The weight of a token multiplies the expert's input instead of its output (Llama 4).
    bool weighs_input = false;
    bool shared_gate = false;  ///< the shared MLP is multiplied by the sigmoid of one logit
    /// Width of the narrower value that experts read and give, between two products of the layer
    /// (LatentMoE, arXiv:2512.20856); unset: they read the hidden state.
    std::optional<std::int64_t> latent = {};
    bool latent_norm = false;  ///< the experts' output has an RMS norm before the second projection
    /// Experts of a token are those of a fixed table, and the router has weights for them alone
    /// (DeepSeek-V4's first layers).
    bool hashed = false;
    /// Intermediate size of a dense MLP parallel to the experts, with its own norms before and
    /// after both (Gemma 4), if there is one. The router then has a scale of each column and each
    /// expert a factor.
    std::optional<std::int64_t> beside_ffn = {};

    std::int64_t width(std::int64_t hidden) const { return latent.value_or(hidden); }
    friend bool operator==(const Experts&, const Experts&) = default;
};

/// The layer has only an MLP.
struct NoMixer {
    friend bool operator==(const NoMixer&, const NoMixer&) = default;
};
/// The layer has only a part that mixes tokens.
struct NoMlp {
    friend bool operator==(const NoMlp&, const NoMlp&) = default;
};

/// The places of the norms of a part: before it, after it and before the residual sum, or both.
enum class NormPosition {
    Before,
    After,  ///< OLMo 2's (arXiv:2501.00656)
    Both,   ///< Gemma 2's (arXiv:2408.00118)
};

/// Each part has norms of its own.
struct Layer {
    std::variant<Attention, Mamba, DeltaNet, NoMixer> mixer;
    std::variant<DenseMlp, Experts, NoMlp> mlp;
    NormPosition norms = NormPosition::Before;
    /// The mixer and the MLP read the same input, and one sum has both (GPT-NeoX,
    /// arXiv:2204.06745).
    bool parallel = false;
    /// Of such a layer, both read one norm (Cohere's Command).
    bool one_norm = false;
    /// A state-space part that reads attention's input, and is added to its result (Falcon-H1,
    /// arXiv:2507.22448).
    std::optional<Mamba> beside = {};
    friend bool operator==(const Layer&, const Layer&) = default;

    /// The layer's part of that kind, else nullptr.
    template <class Kind>
    const Kind* as() const {
        if constexpr (std::is_same_v<Kind, DenseMlp> || std::is_same_v<Kind, Experts> ||
                      std::is_same_v<Kind, NoMlp>)
            return std::get_if<Kind>(&mlp);
        else
            return std::get_if<Kind>(&mixer);
    }
    /// Its state passes from token to token, so that a sequence cannot be cut in time.
    bool is_recurrent() const {
        return beside || std::holds_alternative<Mamba>(mixer) ||
               std::holds_alternative<DeltaNet>(mixer);
    }
    /// Its state-space part, wherever that stands; nullptr if it has none.
    const Mamba* state_space() const { return beside ? &*beside : std::get_if<Mamba>(&mixer); }
    bool mixes() const { return !std::holds_alternative<NoMixer>(mixer); }
    bool has_mlp() const { return !std::holds_alternative<NoMlp>(mlp); }
};

}  // namespace debubble::models

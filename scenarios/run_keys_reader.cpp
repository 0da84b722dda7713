#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/draft.h"
#include "text/quantity.h"

/// Keys that a simulation does not need. They are checked here all the same, so that
/// a run does not fail after an hour, and kept as text under their dotted names.
namespace debubble::scenarios {
namespace {

using text::MappingReader;
using text::Node;
using text::NodePtr;

constexpr double kHuge = 1e18;
constexpr std::int64_t kMostSteps = 1'000'000'000'000;
constexpr std::pair<std::string_view, int> kOptimizerNames[] = {
    {"adamw", 0}, {"adam", 0}, {"sgd", 0}};
constexpr std::pair<std::string_view, int> kLrSchedules[] = {
    {"constant", 0}, {"linear", 0}, {"cosine", 0}};

/// One mapping among the run keys: reads, and keeps under `prefix`.
struct Keeper {
    MappingReader& in;
    std::string prefix;
    std::map<std::string, std::string>& kept;

    void keep(std::string_view key) { kept[prefix + std::string(key)] = in.value(key)->scalar; }
    void real(std::string_view key, double least, double most) {
        double value = 0;
        if (in.real(key, value, least, most)) keep(key);
    }
    void whole(std::string_view key, std::int64_t least, std::int64_t most) {
        std::int64_t value = 0;
        if (in.whole(key, value, least, most)) keep(key);
    }
    void flag(std::string_view key) {
        bool value = false;
        if (in.flag(key, value)) keep(key);
    }
    void text(std::string_view key) {
        std::string value;
        if (in.text(key, value)) keep(key);
    }
    /// A path, seen from where the program runs.
    void path(std::string_view key) {
        std::string value;
        if (!in.text(key, value)) return;
        kept[prefix + std::string(key)] = text::seen_from(in.value(key)->place, value).string();
    }
    /// The `name` of a map that may be written as its name alone.
    bool name(text::Words<int> words, std::string_view what) {
        int value = 0;
        if (!in.word("name", value, words, what)) return false;
        keep("name");
        return true;
    }
};

/// A name, or a map with a name: both are read as the map.
NodePtr long_form(const NodePtr& value) {
    if (!value || !value->is(Node::Kind::Scalar)) return value;
    return text::make_map({{"name", value->place, value}}, value->place);
}

void read_betas(Keeper& keeper) {
    const NodePtr list = keeper.in.value("betas");
    if (!list) return;
    std::vector<std::string> betas;
    for (const NodePtr& item : list->items) {
        const auto beta = text::parse_real(item->scalar);
        if (beta && *beta >= 0 && *beta < 1) betas.push_back(item->scalar);
    }
    if (betas.size() != 2 || list->items.size() != 2)
        keeper.in.complain("betas", "'betas' must be two numbers from 0 to below 1");
    else
        keeper.kept[keeper.prefix + "betas"] = fmt::format("[{}]", fmt::join(betas, ", "));
}

void read_optimizer(Draft& draft, std::map<std::string, std::string>& kept) {
    const NodePtr map = long_form(draft.training.value("optimizer"));
    if (!map) return;
    MappingReader in(map, "optimizer", draft.mistakes());
    Keeper keeper{in, "optimizer.", kept};
    if (keeper.name(kOptimizerNames, "optimizer"))
        draft.scenario.training.optimizer = kept["optimizer.name"];
    keeper.real("lr", 0, kHuge);
    keeper.real("eps", 0, 1);
    keeper.real("weight_decay", 0, kHuge);
    keeper.real("momentum", 0, 1);
    read_betas(keeper);
    in.finish();
    const auto momentum = kept.find("optimizer.momentum");
    const bool momentous = momentum != kept.end() && text::parse_real(momentum->second) > 0.0;
    draft.scenario.training.optimizer_moments =
        draft.scenario.training.optimizer != "sgd" ? 2 : (momentous ? 1 : 0);
}

void read_lr_schedule(Draft& draft, std::map<std::string, std::string>& kept) {
    const NodePtr map = long_form(draft.training.value("lr_schedule"));
    if (!map) return;
    MappingReader in(map, "lr_schedule", draft.mistakes());
    Keeper keeper{in, "lr_schedule.", kept};
    in.demand("name");
    keeper.name(kLrSchedules, "lr_schedule");
    keeper.whole("warmup_steps", 0, kMostSteps);
    keeper.real("warmup_start_factor", 0, 1);
    keeper.whole("total_steps", 1, kMostSteps);
    keeper.real("min_lr", 0, kHuge);
    in.finish();
}

/// A number, or one for each channel of an image; kept as a list.
void read_per_channel(Keeper& keeper, std::string_view key, double least) {
    const NodePtr value = keeper.in.value(key);
    if (!value) return;
    const bool is_list = value->is(Node::Kind::List);
    std::vector<std::string> numbers;
    for (const NodePtr& item : is_list ? value->items : std::vector{value}) {
        const auto number = text::parse_real(item->scalar);
        if (number && *number >= least && *number <= 1e6) numbers.push_back(item->scalar);
    }
    if (numbers.empty() || (is_list && numbers.size() != value->items.size()))
        keeper.in.complain(
            key, fmt::format("'{}' must be a number from {} to 1e+06, or one for each channel", key,
                             least));
    else
        keeper.kept[keeper.prefix + std::string(key)] =
            fmt::format("[{}]", fmt::join(numbers, ", "));
}

void read_data_source(Draft& draft, std::map<std::string, std::string>& kept) {
    constexpr std::array<std::string_view, 4> kSources{"tokens", "text", "jsonl", "images"};
    const NodePtr map = draft.training.value("data");
    if (!map) return;
    MappingReader in(map, "data", draft.mistakes());
    Keeper keeper{in, "data.", kept};
    int sources = 0;
    for (const std::string_view source : kSources) {
        sources += in.has(source) ? 1 : 0;
        keeper.path(source);
    }
    if (sources != 1)
        draft.training.complain("data", fmt::format("'data' names one of {}; here are {}",
                                                    fmt::join(kSources, ", "), sources));
    keeper.path("eval");
    keeper.path("tokenizer");
    keeper.path("cache");
    keeper.flag("shuffle");
    keeper.flag("pack");
    keeper.whole("pad_token", 0, 1'000'000'000);
    keeper.whole("end_of_text", 0, 1'000'000'000);
    keeper.whole("ignore_index", -1'000'000'000, 1'000'000'000);
    read_per_channel(keeper, "mean", 0);
    read_per_channel(keeper, "std", 1e-6);
    in.finish();
}

/// Megatron's words: after every so many steps, over so many global batches.
void read_evaluation(Keeper& keeper) {
    for (const std::string_view key : {"eval_interval", "eval_iters"}) {
        keeper.whole(key, 1, kMostSteps);
        if (keeper.in.has(key) && !keeper.kept.contains("data.eval"))
            keeper.in.complain(
                key, fmt::format("'{}' needs something to evaluate on: give 'data.eval'", key));
    }
}

/// Torch's GradScaler and Colossal-AI's DynamicGradScaler.
void read_loss_scale(Draft& draft, std::map<std::string, std::string>& kept) {
    const NodePtr map = draft.training.value("loss_scale");
    if (!map) return;
    MappingReader in(map, "loss_scale", draft.mistakes());
    Keeper keeper{in, "loss_scale.", kept};
    keeper.real("initial_scale", 1e-18, kHuge);
    keeper.real("min_scale", 1e-18, kHuge);
    keeper.real("max_scale", 1e-18, kHuge);
    keeper.real("growth_factor", 1, 1e6);
    keeper.real("backoff_factor", 1e-6, 1);
    keeper.whole("growth_interval", 1, kMostSteps);
    keeper.whole("hysteresis", 1, 1'000'000);
    in.finish();
    if (!draft.scenario.training.precision.loss_scaling)
        draft.training.complain("loss_scale",
                                "'loss_scale' is for fp16; this precision needs no loss scaling");
}

void read_checkpoint(Draft& draft, std::map<std::string, std::string>& kept) {
    const NodePtr map = draft.training.value("checkpoint");
    if (!map) return;
    MappingReader in(map, "checkpoint", draft.mistakes());
    Keeper keeper{in, "checkpoint.", kept};
    in.demand("dir");
    keeper.text("dir");  // what a run writes goes where the program runs, not beside its input
    keeper.whole("every", 1, kMostSteps);
    keeper.whole("keep", 1, 1'000'000);
    in.finish();
}

}  // namespace

void read_run_keys(Draft& draft) {
    auto& kept = draft.scenario.training.run_keys;
    Keeper keeper{draft.training, "", kept};
    keeper.whole("steps", 1, kMostSteps);
    keeper.whole("epochs", 1, kMostSteps);
    if (draft.training.has("steps") && draft.training.has("epochs"))
        draft.training.complain("epochs", "say either 'steps' or 'epochs'");
    keeper.whole("seed", 0, std::numeric_limits<std::int64_t>::max());
    keeper.path("init_from");
    keeper.real("clip_norm", 0, kHuge);
    read_optimizer(draft, kept);
    read_lr_schedule(draft, kept);
    read_data_source(draft, kept);
    read_evaluation(keeper);
    read_loss_scale(draft, kept);
    read_checkpoint(draft, kept);
}

}  // namespace debubble::scenarios

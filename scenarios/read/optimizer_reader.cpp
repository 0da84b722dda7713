#include <fmt/format.h>

#include "scenarios/read/draft.h"
#include "text/quantity.h"

/// The keys `training.optimizer` and `training.lr_schedule`.
namespace debubble::scenarios {
namespace {

using text::described;
using text::Fields;
using text::flag;
using text::Form;
using text::MappingReader;
using text::names_of;
using text::Node;
using text::NodePtr;
using text::read_fields;
using text::real;
using text::required;
using text::whole;
using text::word;

constexpr int kMostIterations = 100;

enum class OptimizerName { AdamW, Adam, Sgd, Muon };
constexpr std::pair<std::string_view, OptimizerName> kOptimizerNames[] = {
    {"adamw", OptimizerName::AdamW},
    {"adam", OptimizerName::Adam},
    {"sgd", OptimizerName::Sgd},
    {"muon", OptimizerName::Muon}};
constexpr std::pair<std::string_view, LrSchedule::Shape> kLrSchedules[] = {
    {"constant", LrSchedule::Shape::Constant},
    {"linear", LrSchedule::Shape::Linear},
    {"cosine", LrSchedule::Shape::Cosine}};

constexpr std::pair<std::string_view, MuonOptions::ScaleMode> named(MuonOptions::ScaleMode mode) {
    return {word_of(mode), mode};
}
constexpr std::pair<std::string_view, MuonOptions::ScaleMode> kScaleModes[] = {
    named(MuonOptions::ScaleMode::Spectral), named(MuonOptions::ScaleMode::ShapeScaling),
    named(MuonOptions::ScaleMode::UnitRmsNorm)};

constexpr std::pair<std::string_view, WeightDecayOf> kWeightDecayOf[] = {
    {word_of(WeightDecayOf::All), WeightDecayOf::All},
    {word_of(WeightDecayOf::Matrices), WeightDecayOf::Matrices}};

AdamOptions adam_of(OptimizerName name) {
    return name == OptimizerName::AdamW ? kAdamW : AdamOptions{};
}

/// A name, or a map with a name: both become the map.
NodePtr long_form(const NodePtr& value) {
    if (!value || !value->is(Node::Kind::Scalar)) return value;
    return text::make_map({{"name", value->place, value}}, value->place);
}

void refuse(MappingReader& in, std::string_view key, std::string sentence) {
    if (in.value(key)) in.complain(key, std::move(sentence));
}

void read_betas(MappingReader& in, std::string_view key, AdamOptions& adam) {
    const NodePtr list = in.value(key);
    if (!list) return;
    std::vector<double> betas;
    for (const NodePtr& item : list->items) {
        const auto beta = text::parse_real(item->scalar);
        if (beta && *beta >= 0 && *beta < 1) betas.push_back(*beta);
    }
    if (betas.size() != 2 || list->items.size() != 2) {
        in.complain(key, "'betas' must be two numbers from 0 to below 1");
        return;
    }
    adam.beta1 = betas[0];
    adam.beta2 = betas[1];
}

text::Reading<AdamOptions> betas() {
    return {read_betas,
            [](AdamOptions&) {
                return std::vector{Form{text::ListForm{{Form{text::RealForm{0, 1, {}}}}, 2}}};
            },
            [](AdamOptions& fresh) { return fmt::format("[{}, {}]", fresh.beta1, fresh.beta2); }};
}

struct OptimizerChoice {
    OptimizerName name = OptimizerName::AdamW;
};

const Fields<OptimizerChoice>& optimizer_fields() {
    static const Fields<OptimizerChoice> kFields{
        {"name", word(&OptimizerChoice::name, kOptimizerNames, "optimizer"),
         "The optimizer; `optimizer: NAME` is short for {name: NAME}.", "adam"}};
    return kFields;
}

constexpr std::string_view kRateMeaning = "The base learning rate, to which lr_schedule applies.";
constexpr std::string_view kDecayMeaning = "The weight decay.";

/// The row of the key `weight_decay_of`, which every optimizer has.
template <class Options>
text::Field<Options> decayed_field() {
    return {"weight_decay_of", word(&Options::weight_decay_of, kWeightDecayOf, "weight_decay_of"),
            "The parameters with weight decay: all, as in PyTorch without parameter groups, or "
            "only those with several dimensions (with embeddings, without norms and biases).",
            "matrices"};
}

const Fields<SgdOptions>& sgd_fields() {
    static const Fields<SgdOptions> kFields{
        {"lr", real(&SgdOptions::lr, 0, kHuge), kRateMeaning, "1e-2"},
        {"momentum", real(&SgdOptions::momentum, 0, 1), "The momentum of torch.optim.SGD.", "0.9"},
        {"weight_decay", real(&SgdOptions::weight_decay, 0, kHuge), kDecayMeaning, "0.1"},
        decayed_field<SgdOptions>()};
    return kFields;
}

const Fields<MuonOptions>& muon_fields() {
    static const Fields<MuonOptions> kFields{
        {"lr", real(&MuonOptions::lr, 0, kHuge), kRateMeaning, "2e-2"},
        {"momentum", real(&MuonOptions::momentum, 0, 1), "The momentum before orthogonalization.",
         "0.9"},
        {"weight_decay", real(&MuonOptions::weight_decay, 0, kHuge), kDecayMeaning, "0.1"},
        decayed_field<MuonOptions>(),
        {"steps", whole(&MuonOptions::steps, 1, kMostIterations, "steps"),
         "The number of Newton-Schulz iterations per step.", "6"},
        {"nesterov", flag(&MuonOptions::nesterov),
         "Nesterov momentum: the gradient is added to the momentum before orthogonalization.",
         "true"},
        {"scale_mode", word(&MuonOptions::scale_mode, kScaleModes, "scale_mode"),
         "The scale of the orthogonalized update by the matrix's shape: sqrt(max(outputs, "
         "inputs)), sqrt(max(1, outputs / inputs)) as in torch.optim.Muon, or sqrt(outputs / "
         "inputs).",
         "shape_scaling"}};
    return kFields;
}

const Fields<AdamOptions>& adam_fields() {
    static const Fields<AdamOptions> kFields{
        {"lr", real(&AdamOptions::lr, 0, kHuge), kRateMeaning, "3e-4"},
        {"eps", real(&AdamOptions::eps, 0, 1), "The epsilon in the denominator.", "1e-6"},
        {"weight_decay", real(&AdamOptions::weight_decay, 0, kHuge), kDecayMeaning, "0.1"},
        decayed_field<AdamOptions>(),
        {"betas", betas(), "The decay rates of the two moments, each below 1.", "[0.9, 0.95]"}};
    return kFields;
}

std::vector<text::Key> keys_of_optimizers() {
    const std::vector<text::Key> name = described(optimizer_fields());
    std::vector<std::pair<std::string, std::vector<text::Key>>> variants;
    for (const auto& [word, optimizer] : kOptimizerNames) {
        AdamOptions adam = adam_of(optimizer);
        SgdOptions sgd;
        std::vector<text::Key> keys = name;
        MuonOptions muon;
        const auto more = optimizer == OptimizerName::Sgd    ? described(sgd_fields(), sgd)
                          : optimizer == OptimizerName::Muon ? described(muon_fields(), muon)
                                                             : described(adam_fields(), adam);
        keys.insert(keys.end(), more.begin(), more.end());
        variants.emplace_back(word, std::move(keys));
    }
    return text::merged_variants(variants);
}

SgdOptions read_sgd(MappingReader& in) {
    SgdOptions sgd;
    read_fields(in, sgd_fields(), sgd);
    for (const std::string_view key : {"betas", "eps"})
        refuse(in, key,
               fmt::format("'optimizer.{}' is a key of adam and adamw; the optimizer is sgd", key));
    return sgd;
}

const Fields<LrSchedule>& lr_schedule_fields() {
    static const Fields<LrSchedule> kFields{
        {"name", required(word(&LrSchedule::shape, kLrSchedules, "lr_schedule")),
         "The shape of the schedule after the warm-up; `lr_schedule: NAME` is short for {name: "
         "NAME}.",
         "cosine"},
        {"warmup_steps", whole(&LrSchedule::warmup_steps, 0, kMostSteps, "steps"),
         "The number of warm-up steps.", "100"},
        {"warmup_start_factor", real(&LrSchedule::warmup_start_factor, 0, 1, "share"),
         "The learning rate at the start of the warm-up, as a share of the base rate.", "0"},
        {"total_steps", whole(&LrSchedule::total_steps, 1, kMostSteps, "steps"),
         "The step at which linear and cosine decay end.", "1000", "the last step of the run"},
        {"min_lr", real(&LrSchedule::min_lr, 0, kHuge),
         "The final learning rate of linear and cosine decay.", "1e-5"}};
    return kFields;
}

}  // namespace

std::vector<Form> optimizer_forms() {
    return {Form{text::WordForm{names_of(kOptimizerNames)}},
            Form{text::MapForm{keys_of_optimizers()}}};
}

std::vector<Form> lr_schedule_forms() {
    return {Form{text::WordForm{names_of(kLrSchedules)}},
            Form{text::MapForm{described(lr_schedule_fields())}}};
}

void read_optimizer(MappingReader& training, std::string_view key, Draft& draft) {
    const NodePtr map = long_form(training.value(key));
    if (!map) return;
    MappingReader in(map, key, draft.mistakes());
    OptimizerChoice choice;
    const std::size_t mistakes_before = draft.mistakes().count();
    read_fields(in, optimizer_fields(), choice);
    const bool is_known = draft.mistakes().count() == mistakes_before;
    OptimizerOptions& optimizer = draft.scenario.training.run.optimizer;
    if (choice.name == OptimizerName::Sgd) {
        optimizer = read_sgd(in);
    } else if (choice.name == OptimizerName::Muon) {
        MuonOptions muon;
        read_fields(in, muon_fields(), muon);
        optimizer = muon;
    } else {
        AdamOptions adam = adam_of(choice.name);
        read_fields(in, adam_fields(), adam);
        optimizer = adam;
        if (in.value("momentum") && is_known)
            in.complain("momentum",
                        fmt::format("'optimizer.momentum' is a key of sgd; the optimizer is {}",
                                    choice.name == OptimizerName::AdamW ? "adamw" : "adam"));
    }
    in.finish();
}

/// Precondition: `steps` and the optimizer have been read. Without `steps` and `total_steps`, only
/// the run knows where the rate ends.
void read_lr_schedule(MappingReader& training, std::string_view key, Draft& draft) {
    const NodePtr map = long_form(training.value(key));
    if (!map) return;
    const RunOptions& run = draft.scenario.training.run;
    LrSchedule& schedule = draft.scenario.training.run.lr_schedule;
    MappingReader in(map, key, draft.mistakes());
    read_fields(in, lr_schedule_fields(), schedule);
    in.finish();
    const double lr = lr_of(run.optimizer);
    if (schedule.min_lr > lr)
        in.complain("min_lr", fmt::format("'lr_schedule.min_lr' is {}, above 'optimizer.lr', which "
                                          "is {}",
                                          schedule.min_lr, lr));
    if (schedule.shape == LrSchedule::Shape::Constant)
        refuse(in, "min_lr",
               "'lr_schedule.min_lr' is a key of linear and cosine; the schedule is constant");
    LrSchedule ended = schedule;
    if (!ended.total_steps) ended.total_steps = run.steps;
    if (!ended.total_steps) return;
    if (const auto reason = why_no_warmup(ended)) in.complain("warmup_steps", *reason);
}

}  // namespace debubble::scenarios

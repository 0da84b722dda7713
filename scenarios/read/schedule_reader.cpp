#include <fstream>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/draft.h"
#include "schedule/generators/generators.h"
#include "text/quantity.h"

namespace debubble::scenarios {
namespace {

using text::custom;
using text::described;
using text::Fields;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::names_of;
using text::narrowed;
using text::Node;
using text::NodePtr;
using text::read_fields;
using text::real;
using text::whole;

constexpr int kMostSlices = 4096;

std::vector<std::string> schedule_names() {
    std::vector<std::string> names;
    for (const Generator& row : generators()) names.emplace_back(row.name);
    return names;
}

enum class PlacementWord { Loop, V, Bidirectional };
constexpr std::pair<std::string_view, PlacementWord> kPlacements[] = {
    {"loop", PlacementWord::Loop},
    {"v", PlacementWord::V},
    {"bidirectional", PlacementWord::Bidirectional}};
constexpr int kMostStages = kMostRanks * kMostChunks;

/// Reads `loop`, `v`, `bidirectional`, or one row of stages per rank.
std::optional<Placement> placement_of(MappingReader& in, const Parallel& parallel) {
    const NodePtr value = in.value("placement");
    if (!value) return std::nullopt;
    if (value->is(Node::Kind::List)) {
        Placement placement;
        for (const NodePtr& row : value->items) {
            const NodePtr wrapped = text::make_map({{"placement", row->place, row}}, row->place);
            std::vector<int> stages;
            MappingReader rank(wrapped, "placement", in.mistakes());
            if (!rank.wholes("placement", stages, 0, kMostStages)) return std::nullopt;
            auto& of_rank = placement.stages.emplace_back();
            for (const int stage : stages) of_rank.push_back(Stage{stage});
        }
        return placement;
    }
    PlacementWord word{};
    if (!in.word("placement", word, kPlacements)) return std::nullopt;
    if (word == PlacementWord::V) return v_placement(parallel.pipeline);
    if (word == PlacementWord::Loop)
        return loop_placement(parallel.pipeline, parallel.stages_per_rank);
    if (parallel.pipeline % 2 == 0) return bidirectional_placement(parallel.pipeline);
    in.complain("placement", fmt::format("a bidirectional placement needs an even number of "
                                         "ranks, not {}",
                                         parallel.pipeline));
    return std::nullopt;
}

/// Every key that does not belong to the map itself is an option of the generator.
void read_options(MappingReader& in, const Generator& generator, ScheduleChoice& choice) {
    for (const GeneratorOption& option : generator.options) {
        std::string value;
        if (in.text(option.key, value)) choice.options[std::string(option.key)] = value;
    }
}

/// The number that is given, under `parallel` or with the schedule; else that of the layout, the
/// only one that the generator takes, or that of the partition's list.
void settle_stages_per_rank(Draft& draft, MappingReader* in, const Generator* generator) {
    Parallel& parallel = draft.scenario.parallel;
    int& chunks = parallel.stages_per_rank;
    const auto& of_schedule = draft.stages_per_rank_of_schedule;
    const auto given = of_schedule ? of_schedule : draft.stages_per_rank;
    if (of_schedule && draft.stages_per_rank && *of_schedule != *draft.stages_per_rank)
        in->complain(
            "stages_per_rank",
            fmt::format("'schedule.stages_per_rank' is {}, but 'parallel.stages_per_rank' is {}",
                        *of_schedule, *draft.stages_per_rank));
    const auto stages = static_cast<int>(draft.layout.size());
    const int of_layout = stages / parallel.pipeline;
    if (stages > 0 && given && *given != of_layout)
        draft.parallel.complain(
            "layout",
            fmt::format(
                "the layout has {} stages, {} for each of {} ranks, but 'stages_per_rank' is {}",
                stages, of_layout, parallel.pipeline, *given));
    if (given)
        chunks = *given;
    else if (stages > 0)
        chunks = of_layout;
    else if (generator && generator->stages_per_rank)
        chunks = *generator->stages_per_rank;
    else if (const auto listed = static_cast<int>(parallel.layers_per_stage.size());
             listed > 0 && listed % parallel.pipeline == 0)
        chunks = listed / parallel.pipeline;
}

/// Searches the file before it is read as a schedule, which reports its mistakes.
bool has(const std::string& csv, bool (*is_wanted)(std::string_view line)) {
    note_file_read(csv);
    std::ifstream file(csv);
    std::string line;
    while (std::getline(file, line))
        if (is_wanted(line)) return true;
    return false;
}
/// "1W0" or "1BACKWARD_WEIGHT0": the letters stand between two digits.
bool has_weight_pass(const std::string& csv) {
    return has(csv, [](std::string_view line) {
        const auto is_digit = [&](std::size_t at) {
            return at < line.size() && line[at] >= '0' && line[at] <= '9';
        };
        for (const std::string_view letters : {"W", "BACKWARD_WEIGHT"})
            for (auto at = line.find(letters); at != line.npos; at = line.find(letters, at + 1))
                if (at > 0 && is_digit(at - 1) && is_digit(at + letters.size())) return true;
        return false;
    });
}
bool has_pairs(const std::string& csv) {
    return has(csv, [](std::string_view line) { return line.find("OVERLAP_F_B") != line.npos; });
}

void read_csv(MappingReader& in, std::string_view key, Draft& draft) {
    ScheduleChoice& choice = draft.scenario.schedule;
    std::string csv;
    in.text(key, csv);
    choice.name = "csv";
    if (const NodePtr node = in.scalar(key, "a path"))
        csv = text::seen_from(node->place, csv).string();
    std::error_code error;
    if (!std::filesystem::exists(csv, error))
        in.complain(key, fmt::format("no such file: {}", csv));
    choice.splits_backward = has_weight_pass(csv);
    choice.overlaps = has_pairs(csv);
    choice.csv = csv;
    if (in.has("name")) in.complain("name", "give either the 'name' of a schedule or a 'csv'");
}

void read_placement(MappingReader& in, std::string_view /*key*/, Draft& draft) {
    ScheduleChoice& choice = draft.scenario.schedule;
    choice.placement = placement_of(in, draft.scenario.parallel);
    if (choice.placement && choice.placement->ranks() != draft.scenario.parallel.pipeline)
        in.complain("placement",
                    fmt::format("the placement has {} ranks, but the pipeline has {}",
                                choice.placement->ranks(), draft.scenario.parallel.pipeline));
}

constexpr double kLeastLimit = 0.001;
constexpr double kGreatestLimit = 1e9;
const Form kLimit{text::RealForm{kLeastLimit, kGreatestLimit, "microbatches"}};

void read_memory_limits(MappingReader& in, std::string_view key, Draft& draft) {
    std::vector<double>& limits = draft.scenario.schedule.memory_limits;
    const NodePtr value = in.value(key);
    if (value && value->is(Node::Kind::List)) {
        if (in.reals(key, limits, kLeastLimit, kGreatestLimit) && limits.empty())
            in.complain(key, "'memory_limit' is empty");
    } else if (double limit = 0; in.real(key, limit, kLeastLimit, kGreatestLimit)) {
        limits = {limit};
    }
}

/// The place of a member of ScheduleChoice.
auto in_schedule(auto member) {
    return [member](Draft& draft) -> decltype(auto) { return (draft.scenario.schedule.*member); };
}

/// The keys that every schedule takes.
const Fields<Draft>& choice_fields() {
    static const Fields<Draft> kFields{
        {"name",
         narrowed(free_text(in_schedule(&ScheduleChoice::name)),
                  Form{text::WordForm{schedule_names()}}),
         "The schedule's name; `schedule: NAME` is short for {name: NAME}.", "zb-h1"},
        {"stages_per_rank", whole(&Draft::stages_per_rank_of_schedule, 1, kMostChunks, "stages"),
         "The number of stages (model chunks) per pipeline rank; the same as "
         "parallel.stages_per_rank.",
         "2", "parallel.stages_per_rank"},
        {"slices", whole(in_schedule(&ScheduleChoice::slices), 1, kMostSlices, "slices"),
         "The number of slices into which sequences are split, which pass through the pipeline one "
         "after another (seq-1f1b).",
         "4"},
        {"memory_limit", custom(read_memory_limits, {kLimit, Form{text::ListForm{{kLimit}, {}}}}),
         "The most live activations of a rank, one number for all or a list with one for each, for "
         "a schedule that searches under it (zb-auto).",
         "6", "what the ranks' memory holds"}};
    return kFields;
}

/// The keys of a schedule that a file writes.
const Fields<Draft>& file_fields() {
    static const Fields<Draft> kFields{
        {"csv", custom(read_csv, {Form{text::PathForm{}}}),
         "A CSV file in PyTorch's format with the actions of every rank, instead of a name.",
         "order.csv", "none: the schedule has a name"},
        {"placement",
         custom(read_placement,
                {Form{text::WordForm{names_of(kPlacements)}},
                 Form{text::ListForm{
                     {Form{text::ListForm{{Form{text::WholeForm{0, kMostStages, "stage"}}}, {}}}},
                     {}}}}),
         "The placement of the file's stages on ranks: a word, or a row of stages for every rank.",
         "[[0, 3], [1, 2]]", "loop, as lowering places stages"}};
    return kFields;
}

/// The options that some generators take; their values are words or numbers that these check.
std::vector<text::Key> option_keys() {
    std::map<std::string_view, std::vector<std::string_view>> takers;
    for (const Generator& row : generators())
        for (const GeneratorOption& option : row.options) takers[option.key].push_back(row.name);
    std::vector<text::Key> keys;
    for (const Generator& row : generators())
        for (const GeneratorOption& option : row.options) {
            const auto& names = takers[option.key];
            if (names.front() != row.name) continue;
            keys.push_back({std::string(option.key),
                            {Form{text::TextForm{}}},
                            fmt::format("Of {}: {}.", fmt::join(names, ", "), option.help),
                            "",
                            "the schedule's own choice"});
        }
    return keys;
}

}  // namespace

std::vector<text::Key> schedule_keys(Draft& fresh) {
    std::vector<text::Key> keys = described(choice_fields(), fresh);
    for (const auto& more : {described(file_fields(), fresh), option_keys()})
        keys.insert(keys.end(), more.begin(), more.end());
    return keys;
}

void read_schedule(Draft& draft) {
    const NodePtr value = draft.top.value("schedule");
    ScheduleChoice& choice = draft.scenario.schedule;
    const NodePtr map = value && value->is(Node::Kind::Scalar)
                            ? text::make_map({{"name", value->place, value}}, value->place)
                            : value;
    if (!map) return settle_stages_per_rank(draft, nullptr, find_generator(choice.name));
    MappingReader in(map, "schedule", draft.mistakes());
    const bool csv = in.has("csv");
    read_fields(in, choice_fields(), draft);
    const Generator* generator = csv ? nullptr : find_generator(choice.name);
    settle_stages_per_rank(draft, &in, generator);
    if (csv) {
        read_fields(in, file_fields(), draft);
    } else if (generator == nullptr) {
        in.complain_unknown("name", "schedule", choice.name, schedule_names());
        return;
    } else {
        choice.splits_backward = generator->splits_backward;
        choice.overlaps = generator->overlaps;
        choice.pairs_layers = generator->pairs_layers;
        if (in.mapping()->find("csv") != nullptr)
            in.value("csv");  // without a value it counts as
                              // not given
        read_options(in, *generator, choice);
        if (const Reason reason = memory_limit_reason(*generator, generator_options_of(choice)))
            in.complain("memory_limit", *reason);
    }
    in.finish();
}

}  // namespace debubble::scenarios

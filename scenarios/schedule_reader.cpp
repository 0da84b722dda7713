#include <fstream>
#include <regex>

#include <fmt/format.h>

#include "base/file.h"
#include "scenarios/draft.h"
#include "scenarios/generator_options_of.h"
#include "schedule/generators/generators.h"
#include "text/quantity.h"

namespace debubble::scenarios {
namespace {

using text::MappingReader;
using text::Node;
using text::NodePtr;

constexpr int kMostSlices = 4096;

std::vector<std::string> schedule_names() {
    std::vector<std::string> names;
    for (const Generator& row : generators()) names.emplace_back(row.name);
    return names;
}

/// Reads `loop`, `v`, `bidirectional`, or one row of stages per rank.
std::optional<Placement> read_placement(MappingReader& in, const Parallel& parallel) {
    const NodePtr value = in.value("placement");
    if (!value) return std::nullopt;
    if (value->is(Node::Kind::List)) {
        Placement placement;
        for (const NodePtr& row : value->items) {
            const NodePtr wrapped = text::make_map({{"placement", row->place, row}}, row->place);
            std::vector<int> stages;
            MappingReader rank(wrapped, "placement", in.mistakes());
            if (!rank.wholes("placement", stages, 0, kMostRanks * kMostChunks)) return std::nullopt;
            auto& of_rank = placement.stages.emplace_back();
            for (const int stage : stages) of_rank.push_back(Stage{stage});
        }
        return placement;
    }
    enum class Word { Loop, V, Bidirectional };
    constexpr std::pair<std::string_view, Word> kWords[] = {
        {"loop", Word::Loop}, {"v", Word::V}, {"bidirectional", Word::Bidirectional}};
    Word word{};
    if (!in.word("placement", word, kWords)) return std::nullopt;
    if (word == Word::V) return v_placement(parallel.pipeline);
    if (word == Word::Loop) return loop_placement(parallel.pipeline, parallel.stages_per_rank);
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

void read_stages_per_rank(Draft& draft, MappingReader* in, const Generator* generator) {
    int& chunks = draft.scenario.parallel.stages_per_rank;
    int own = 1;
    if (in && in->whole("stages_per_rank", own, 1, kMostChunks))
        chunks = own;  // the {name, stages_per_rank} of a sweep wins over the value under
                       // `parallel`
    else if (draft.stages_per_rank)
        chunks = *draft.stages_per_rank;
    else if (generator && generator->stages_per_rank)
        chunks = *generator->stages_per_rank;
}

/// Searches the file before it is read as a schedule, which reports its mistakes.
bool has(const std::string& csv, const std::regex& action) {
    note_file_read(csv);
    std::ifstream file(csv);
    std::string line;
    while (std::getline(file, line))
        if (std::regex_search(line, action)) return true;
    return false;
}
bool has_weight_pass(const std::string& csv) {
    static const std::regex kWeightPass("[0-9](W|BACKWARD_WEIGHT)[0-9]");
    return has(csv, kWeightPass);
}
bool has_pairs(const std::string& csv) {
    static const std::regex kPair("OVERLAP_F_B");
    return has(csv, kPair);
}

void read_csv(Draft& draft, MappingReader& in) {
    ScheduleChoice& choice = draft.scenario.schedule;
    in.text("csv", choice.csv);
    choice.name = "csv";
    if (const NodePtr node = in.scalar("csv", "a path"))
        choice.csv = text::seen_from(node->place, choice.csv).string();
    std::error_code error;
    if (!std::filesystem::exists(choice.csv, error))
        in.complain("csv", fmt::format("no such file: {}", choice.csv));
    choice.splits_backward = has_weight_pass(choice.csv);
    choice.overlaps = has_pairs(choice.csv);
    if (in.has("name")) in.complain("name", "give either the 'name' of a schedule or a 'csv'");
    in.value("name");
    choice.placement = read_placement(in, draft.scenario.parallel);
    if (choice.placement && choice.placement->ranks() != draft.scenario.parallel.pipeline)
        in.complain("placement",
                    fmt::format("the placement has {} ranks, and the pipeline {}",
                                choice.placement->ranks(), draft.scenario.parallel.pipeline));
}

}  // namespace

void read_schedule(Draft& draft) {
    const NodePtr value = draft.top.value("schedule");
    ScheduleChoice& choice = draft.scenario.schedule;
    const NodePtr map = value && value->is(Node::Kind::Scalar)
                            ? text::make_map({{"name", value->place, value}}, value->place)
                            : value;
    if (!map) return read_stages_per_rank(draft, nullptr, find_generator(choice.name));
    MappingReader in(map, "schedule", draft.mistakes());
    in.text("name", choice.name);
    const bool csv = in.has("csv");
    const Generator* generator = csv ? nullptr : find_generator(choice.name);
    read_stages_per_rank(draft, &in, generator);
    in.whole("slices", choice.slices, 1, kMostSlices);
    double limit = 0;
    if (in.real("memory_limit", limit, 0.001, 1e9)) choice.memory_limit = limit;
    if (csv) {
        read_csv(draft, in);
    } else if (generator == nullptr) {
        in.complain_unknown("name", "schedule", choice.name, schedule_names());
        return;
    } else {
        choice.splits_backward = generator->splits_backward;
        choice.overlaps = generator->overlaps;
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

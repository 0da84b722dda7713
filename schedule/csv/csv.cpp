#include "schedule/csv/csv.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "schedule/csv/cells.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

/// Maximum length of a file: 2^26 bytes hold a schedule of some ten million actions.
constexpr std::size_t kLongestFile = 64u << 20;
constexpr std::size_t kMostRanks = 1u << 14;
/// A file may lack computes (validate() reports which), but not so many that the table of its
/// stages and microbatches would dwarf the file.
constexpr std::size_t kMostSlotsPerCompute = 16;
constexpr std::size_t kFreeSlots = 1u << 16;

/// The letters in which the dialects differ, and whether the file has them.
struct Letters {
    bool input = false;          // I
    bool weight = false;         // W
    bool backward = false;       // B
    bool full_backward = false;  // BW

    void note(std::string_view word) {
        input |= word == "I";
        weight |= word == "W";
        backward |= word == "B";
        full_backward |= word == "BW";
    }
};

Letters letters_of(const std::vector<CellRow>& rows) {
    const auto is_letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
    Letters letters;
    for (const CellRow& row : rows)
        for (const Cell& cell : row) {
            const char* const end = cell.text.data() + cell.text.size();
            for (const char* at = cell.text.data(); at != end;) {
                at = std::find_if(at, end, is_letter);
                const char* const stop = std::find_if_not(at, end, is_letter);
                letters.note({at, static_cast<std::size_t>(stop - at)});
                at = stop;
            }
        }
    return letters;
}

/// A W without any I belongs to a B that is backward-input; so does a BW, unless the file also has
/// a B that no W completes.
Dialect dialect_of(const Letters& has) {
    if (has.input) return Dialect::Current;
    const bool old = has.full_backward ? has.weight || !has.backward : has.weight && has.backward;
    return old ? Dialect::UntilPyTorch25 : Dialect::Current;
}

std::optional<MicroBatch> micro_batch_of(const Action& action) {
    return std::visit(Overloaded{
                          [](const Overlap& o) { return std::optional(o.first.micro_batch); },
                          [](const Send& s) { return std::optional(s.message.micro_batch); },
                          [](const Recv& r) { return std::optional(r.message.micro_batch); },
                          [](const auto& a) -> std::optional<MicroBatch> {
                              if constexpr (requires { a.micro_batch; }) return a.micro_batch;
                              return std::nullopt;
                          },
                      },
                      action);
}

/// Calls `visit` for each stage that the rank of the action's row holds.
template <class Visitor>
void for_each_stage(const Action& action, Visitor&& visit) {
    std::visit(Overloaded{
                   [&](const Overlap& o) {
                       visit(o.first.stage);
                       visit(o.second.stage);
                   },
                   [&](const Send& s) { visit(s.message.producer); },
                   [&](const Recv& r) { visit(consumer_of(r.message)); },
                   [&](const auto& a) {
                       if constexpr (requires { a.stage; }) visit(a.stage);
                   },
               },
               action);
}

/// The first rank that holds each stage, nothing for a stage without a holder.
std::vector<std::optional<Rank>> first_holders(const Placement& placement) {
    std::vector<std::optional<Rank>> holders(placement.stage_count());
    for (int rank = placement.ranks() - 1; rank >= 0; --rank)
        for (const Stage stage : placement.stages[rank]) holders[stage.index] = Rank{rank};
    return holders;
}

class CsvReader {
public:
    CsvReader(std::string_view text, const CsvOptions& options)
        : options_(options), mistakes_(text, options.file), cells_(split_cells(text)) {}

    CsvResult read() {
        check_rows();
        result_.dialect = options_.dialect.value_or(dialect_of(letters_of(cells_)));
        result_.schedule.name = options_.name;
        parse();
        mistakes_.throw_if_any();
        fill_placement();
        fill_shape();
        mistakes_.throw_if_any();
        fill_peers();
        mistakes_.throw_if_any();
        return std::move(result_);
    }

private:
    void check_rows() {
        if (cells_.empty()) mistakes_.add_for_file("no action in it; one row per rank is expected");
        if (cells_.size() > kMostRanks)
            mistakes_.add_for_file(fmt::format("more than {} rows", kMostRanks));
        if (options_.placement && options_.placement->ranks() != static_cast<int>(cells_.size()))
            mistakes_.add_for_file(fmt::format("it has {} rows, but the placement has {} ranks",
                                               cells_.size(), options_.placement->ranks()));
        for (std::size_t r = 0; r < cells_.size(); ++r)
            if (cells_[r].empty())
                mistakes_.add(static_cast<int>(r) + 1, 1,
                              fmt::format("rank {} has no action; every row is a rank", r));
        mistakes_.throw_if_any();
    }

    void parse() {
        for (const CellRow& row : cells_) {
            ActionList& actions = result_.schedule.ranks.emplace_back();
            actions.reserve(row.size());
            for (const Cell& cell : row) {
                auto parsed = parse_action(cell.text, result_.dialect);
                if (auto* wrong = std::get_if<std::string>(&parsed))
                    mistakes_.add(cell, std::move(*wrong));
                else
                    actions.push_back(std::get<Action>(parsed));
            }
        }
    }

    void fill_placement() {
        Schedule& schedule = result_.schedule;
        if (options_.placement) {
            schedule.placement = *options_.placement;
            check_stages();
        } else {
            schedule.placement = placement_of_rows();
        }
        first_holder_ = first_holders(schedule.placement);
        const auto gap = std::ranges::find(first_holder_, std::optional<Rank>{});
        if (gap != first_holder_.end())
            mistakes_.add_for_file(fmt::format("no row holds stage {}, but there is a stage {}",
                                               gap - first_holder_.begin(),
                                               first_holder_.size() - 1));
    }

    void check_stages() {
        const int count = result_.schedule.stage_count();
        for_each_action([&](const Cell& cell, const Action& action) {
            for_each_stage(action, [&](Stage stage) {
                if (stage.index < count) return;
                mistakes_.add(cell, fmt::format("'{}': there is no stage {}; the placement has {}",
                                                to_text(action), stage.index, count));
            });
        });
    }

    /// The stages that occur in each row; in the order of a known placement if they form one.
    Placement placement_of_rows() const {
        Placement sorted;
        for (const ActionList& actions : result_.schedule.ranks) {
            std::vector<Stage>& row = sorted.stages.emplace_back();
            for (const Action& action : actions)
                for_each_stage(action, [&](Stage stage) { row.push_back(stage); });
            std::ranges::sort(row);
            row.erase(std::unique(row.begin(), row.end()), row.end());
        }
        const int ranks = sorted.ranks();
        if (ranks % 2 != 0) return sorted;
        Placement bidirectional = bidirectional_placement(ranks);
        Placement candidate = bidirectional;
        for (auto& row : candidate.stages) std::ranges::sort(row);
        return candidate == sorted ? bidirectional : sorted;
    }

    void fill_shape() {
        Schedule& schedule = result_.schedule;
        PipelineShape& shape = schedule.shape;
        shape.ranks = static_cast<int>(schedule.ranks.size());
        shape.stages_per_rank = std::max(1, schedule.stage_count() / shape.ranks);
        std::size_t computes = 0;
        bool sliced = false;
        for_each_action([&](const Cell&, const Action& action) {
            for_each_compute(action, [&](const Compute&) { ++computes; });
            for_each_micro_batch(action, [&](const MicroBatch& mb) {
                sliced |= mb.slice.has_value();
                shape.micro_batches = std::max(shape.micro_batches, mb.index + 1);
                shape.slices = std::max(shape.slices, mb.slice.value_or(0) + 1);
            });
        });
        if (sliced) check_slices();
        const std::size_t slots =
            static_cast<std::size_t>(schedule.stage_count()) * shape.micro_batches * shape.slices;
        if (slots > kMostSlotsPerCompute * computes + kFreeSlots)
            mistakes_.add_for_file(fmt::format(
                "{} computes are far too few for stages to {}, microbatches to {} and "
                "slices to {}",
                computes, schedule.stage_count() - 1, shape.micro_batches - 1, shape.slices - 1));
    }

    void check_slices() {
        const bool single = result_.schedule.shape.slices == 1;
        for_each_action([&](const Cell& cell, const Action& action) {
            bool wrong = false;
            for_each_micro_batch(
                action, [&](const MicroBatch& mb) { wrong |= mb.slice.has_value() == single; });
            if (!wrong) return;
            mistakes_.add(
                cell, single ? fmt::format("'{}': a single slice is not written", to_text(action))
                             : fmt::format("'{}' names no slice, but others do", to_text(action)));
        });
    }

    template <class Visitor>
    static void for_each_micro_batch(const Action& action, Visitor&& visit) {
        if (const auto mb = micro_batch_of(action)) visit(*mb);
        if (const auto* overlap = std::get_if<Overlap>(&action)) visit(overlap->second.micro_batch);
    }

    void fill_peers() {
        Schedule& schedule = result_.schedule;
        const Owners owners(schedule);
        for (std::size_t r = 0; r < schedule.ranks.size(); ++r)
            for (std::size_t i = 0; i < schedule.ranks[r].size(); ++i) {
                Action& action = schedule.ranks[r][i];
                if (auto* send = std::get_if<Send>(&action))
                    send->to = peer(cells_[r][i], action, consumer_of(send->message),
                                    owners.consumer_of(send->message));
                else if (auto* recv = std::get_if<Recv>(&action))
                    recv->from = peer(cells_[r][i], action, recv->message.producer,
                                      owners.producer_of(recv->message));
            }
    }

    /// The rank that computes `stage` for the message. If none does, which validate() will report,
    /// the stage's first holder.
    Rank peer(const Cell& cell, const Action& action, Stage stage, std::optional<Rank> computes) {
        if (computes) return *computes;
        if (stage.index < static_cast<int>(first_holder_.size()))
            return *first_holder_[stage.index];
        mistakes_.add(cell, fmt::format("'{}': there is no stage {} at the other end",
                                        to_text(action), stage.index));
        return Rank{};
    }

    /// Precondition: every cell was parsed.
    template <class Visitor>
    void for_each_action(Visitor&& visit) const {
        for (std::size_t r = 0; r < cells_.size(); ++r)
            for (std::size_t i = 0; i < cells_[r].size(); ++i)
                visit(cells_[r][i], result_.schedule.ranks[r][i]);
    }

    const CsvOptions& options_;
    Mistakes mistakes_;
    std::vector<CellRow> cells_;
    CsvResult result_;
    std::vector<std::optional<Rank>> first_holder_;  ///< by stage
};

}  // namespace

CsvResult read_csv(std::string_view text, const CsvOptions& options) {
    if (text.size() > kLongestFile)
        throw InputError({{{options.file, 0, 0},
                           fmt::format("it is longer than {} MiB", kLongestFile >> 20),
                           {}}});
    return CsvReader(text, options).read();
}

std::string write_csv(const Schedule& schedule) {
    std::string text;
    for (const ActionList& actions : schedule.ranks) {
        for (std::size_t i = 0; i < actions.size(); ++i) {
            if (i > 0) text += ',';
            text += to_text(actions[i]);
        }
        text += '\n';
    }
    return text;
}

}  // namespace debubble

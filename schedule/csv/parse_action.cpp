#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "schedule/csv/csv.h"
#include "schedule/dependencies.h"

namespace debubble {
namespace {

// Limits far above any pipeline, like kMostStages.
constexpr int kMostMicroBatches = 1 << 20;
constexpr int kMostSlices = 1 << 10;

using Parsed = std::variant<Action, std::string>;

template <Pass pass>
Action make_compute(Stage stage, MicroBatch mb) {
    return Compute{pass, stage, mb};
}

template <Message::Kind kind>
Action make_send(Stage stage, MicroBatch mb) {
    return Send{{kind, stage, mb}, Rank{}};
}

/// A RECV is written with its receiver's stage.
template <Message::Kind kind>
Action make_recv(Stage stage, MicroBatch mb) {
    const int producer = stage.index + (kind == Message::Kind::Activation ? -1 : 1);
    return Recv{{kind, Stage{producer}, mb}, Rank{}};
}

template <class Kind>
Action make_of_stage(Stage stage, MicroBatch) {
    return Kind{stage};
}

template <class Kind>
Action make_of_micro_batch(Stage stage, MicroBatch mb) {
    return Kind{stage, mb};
}

template <class Kind>
Action make_of_step(Stage, MicroBatch) {
    return Kind{};
}

/// The form of an action's word in its cell: "2F0", "1UNSHARD", "GRAD_NORM".
enum class Form { MicroBatch, Stage, Step };

struct Word {
    std::string_view text;
    Form form;
    Action (*make)(Stage, MicroBatch);
};

constexpr auto kActivation = Message::Kind::Activation;
constexpr auto kGradient = Message::Kind::Gradient;
constexpr std::array kWords{
    Word{"F", Form::MicroBatch, make_compute<Pass::Forward>},
    Word{"B", Form::MicroBatch, make_compute<Pass::Backward>},
    Word{"I", Form::MicroBatch, make_compute<Pass::BackwardInput>},
    Word{"W", Form::MicroBatch, make_compute<Pass::BackwardWeight>},
    Word{"R", Form::MicroBatch, make_of_micro_batch<Recompute>},
    Word{"SEND_F", Form::MicroBatch, make_send<kActivation>},
    Word{"RECV_F", Form::MicroBatch, make_recv<kActivation>},
    Word{"SEND_B", Form::MicroBatch, make_send<kGradient>},
    Word{"RECV_B", Form::MicroBatch, make_recv<kGradient>},
    Word{"OFFLOAD", Form::MicroBatch, make_of_micro_batch<Offload>},
    Word{"RELOAD", Form::MicroBatch, make_of_micro_batch<Reload>},
    Word{"UNSHARD", Form::Stage, make_of_stage<Unshard>},
    Word{"RESHARD", Form::Stage, make_of_stage<Reshard>},
    Word{"REDUCE_GRAD", Form::Stage, make_of_stage<ReduceGrad>},
    Word{"TIED_GRAD", Form::Stage, make_of_stage<TiedGradReduce>},
    Word{"GRAD_NORM", Form::Step, make_of_step<GradNorm>},
    Word{"OPTIMIZER_STEP", Form::Step, make_of_step<OptimizerStep>},
};

/// Reads a cell from left to right. The first failure is kept, and everything after it fails too.
class Reader {
public:
    explicit Reader(std::string_view cell) : rest_(cell) {}

    bool ok() const { return wrong_.empty(); }
    bool at_letter() const {
        return !rest_.empty() && std::isalpha(static_cast<unsigned char>(rest_.front()));
    }
    const std::string& wrong() const { return wrong_; }
    void fail(std::string why) {
        if (ok()) wrong_ = std::move(why);
    }

    bool take(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    /// A whole number below `limit`.
    int number(std::string_view what, int limit) {
        const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        if (digits == 0) {
            fail(rest_.empty() ? fmt::format("the {} is missing", what)
                               : fmt::format("a {} is expected before '{}'", what, excerpt(rest_)));
            return 0;
        }
        int value = 0;
        for (const char digit : rest_.substr(0, digits))
            if (value < limit) value = 10 * value + (digit - '0');
        if (value >= limit) fail(fmt::format("the {} must be less than {}", what, limit));
        rest_.remove_prefix(digits);
        return value;
    }

    std::string_view word() {
        std::size_t length = 0;
        while (length < rest_.size() &&
               (std::isalpha(static_cast<unsigned char>(rest_[length])) || rest_[length] == '_'))
            ++length;
        const std::string_view word = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return word;
    }

    void end() {
        if (!rest_.empty()) fail(fmt::format("'{}' is left over", excerpt(rest_)));
    }

    static std::string excerpt(std::string_view text) {
        constexpr std::size_t kLongest = 24;
        return text.size() <= kLongest ? std::string(text)
                                       : std::string(text.substr(0, kLongest)) + "...";
    }

private:
    std::string_view rest_;
    std::string wrong_;
};

std::string unknown_word(std::string_view word) {
    if (word.empty()) return "no action follows the stage";
    if (word == "BW")
        return "'BW' is the full backward of PyTorch 2.5 and earlier, whose 'B' is backward-input, "
               "but other actions here are only written by later versions";
    std::vector<std::string> known;
    for (const Word& row : kWords) known.emplace_back(row.text);
    std::string capitals(word);
    std::ranges::transform(capitals, capitals.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    std::string sentence = fmt::format("unknown action '{}'", Reader::excerpt(word));
    if (std::ranges::find(known, capitals) != known.end())
        return sentence + fmt::format("; did you mean '{}'?", capitals);
    if (const auto guess = did_you_mean(capitals, known); guess && guess->size() > 1)
        return sentence + fmt::format("; did you mean '{}'?", *guess);
    return sentence + fmt::format("; known: {}", fmt::join(known, ", "));
}

/// The reason why a message to or from a stage before the first one is impossible.
std::string_view impossible(const Action& action) {
    if (const auto* recv = std::get_if<Recv>(&action); recv && recv->message.producer.index < 0)
        return "stage 0 receives no activation";
    if (const auto* send = std::get_if<Send>(&action); send && consumer_of(send->message).index < 0)
        return "stage 0 sends no gradient";
    return {};
}

/// The current word for a word of either dialect.
std::string_view current(std::string_view word, Dialect dialect) {
    if (dialect == Dialect::Current) return word;
    return word == "BW" ? "B" : word == "B" ? "I" : word;
}

Action one_action(Reader& reader, Dialect dialect) {
    const bool has_stage = !reader.at_letter();
    const Stage stage{has_stage ? reader.number("stage", kMostStages) : 0};
    const std::string_view word = current(reader.word(), dialect);
    const auto* row = std::ranges::find(kWords, word, &Word::text);
    if (row == kWords.end()) {
        reader.fail(unknown_word(word));
        return {};
    }
    if (has_stage == (row->form == Form::Step))
        reader.fail(has_stage ? fmt::format("{} has no stage", word)
                              : fmt::format("the stage before {} is missing", word));
    MicroBatch mb;
    if (row->form == Form::MicroBatch) {
        mb.index = reader.number("microbatch", kMostMicroBatches);
        if (reader.take('.'))
            mb.slice = static_cast<std::int16_t>(reader.number("slice", kMostSlices));
    }
    const Action action = row->make(stage, mb);
    if (const auto why = impossible(action); !why.empty()) reader.fail(std::string(why));
    return action;
}

Compute compute_of(Reader& reader, Dialect dialect) {
    const Action action = one_action(reader, dialect);
    if (const auto* compute = std::get_if<Compute>(&action)) return *compute;
    reader.fail("only F, B, I and W can overlap");
    return {};
}

/// Reads the rest of "(0F7;7B3)OVERLAP_F_B" after the '('.
Action overlap(Reader& reader, Dialect dialect) {
    Overlap both;
    both.first = compute_of(reader, dialect);
    if (!reader.take(';')) reader.fail("';' is expected between the two overlapping actions");
    both.second = compute_of(reader, dialect);
    if (!reader.take(')')) reader.fail("')' is expected after the two overlapping actions");
    const std::string text = to_text(Action{both});
    const std::string expected = text.substr(text.find(')') + 1);
    if (reader.word() != expected) reader.fail(fmt::format("{} is expected at the end", expected));
    return both;
}

}  // namespace

Parsed parse_action(std::string_view cell, Dialect dialect) {
    if (cell.empty()) return "the cell is empty";
    Reader reader(cell);
    const Action action = reader.take('(') ? overlap(reader, dialect) : one_action(reader, dialect);
    reader.end();
    if (reader.ok()) return action;
    return fmt::format("'{}': {}", Reader::excerpt(cell), reader.wrong());
}

}  // namespace debubble

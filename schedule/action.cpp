#include "schedule/action.h"

#include <array>
#include <charconv>

namespace debubble {
namespace {

/// Writes one action's text piece by piece.
class TextWriter {
public:
    explicit TextWriter(std::string& text) : text_(text) {}

    void operator()(const Compute& c) {
        number(c.stage.index);
        text_ += letter_of(c.pass);
        micro_batch(c.micro_batch);
    }
    void operator()(const Recompute& r) { of_micro_batch(r.stage, "R", r.micro_batch); }
    void operator()(const Overlap& o) {
        text_ += '(';
        (*this)(o.first);
        text_ += ';';
        (*this)(o.second);
        text_ += ")OVERLAP_";
        text_ += direction(o.first);
        text_ += '_';
        text_ += direction(o.second);
    }
    void operator()(const Send& s) { message(s.message.producer.index, "SEND_", s.message); }
    void operator()(const Recv& r) { message(consumer(r.message), "RECV_", r.message); }
    void operator()(const Unshard& u) { of_stage(u.stage, "UNSHARD"); }
    void operator()(const Reshard& r) { of_stage(r.stage, "RESHARD"); }
    void operator()(const ReduceGrad& r) { of_stage(r.stage, "REDUCE_GRAD"); }
    void operator()(const TiedGradReduce& t) { of_stage(t.stage, "TIED_GRAD"); }
    void operator()(const Offload& o) { of_micro_batch(o.stage, "OFFLOAD", o.micro_batch); }
    void operator()(const Reload& r) { of_micro_batch(r.stage, "RELOAD", r.micro_batch); }
    void operator()(const GradNorm&) { text_ += "GRAD_NORM"; }
    void operator()(const OptimizerStep&) { text_ += "OPTIMIZER_STEP"; }

    void micro_batch(const MicroBatch& mb) {
        number(mb.index);
        if (!mb.slice) return;
        text_ += '.';
        number(*mb.slice);
    }

private:
    void number(int value) {
        std::array<char, 12> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        text_.append(digits.data(), end);
    }
    void of_stage(Stage stage, std::string_view word) {
        number(stage.index);
        text_ += word;
    }
    void of_micro_batch(Stage stage, std::string_view word, const MicroBatch& mb) {
        of_stage(stage, word);
        micro_batch(mb);
    }
    void message(int stage, std::string_view word, const Message& m) {
        of_stage(Stage{stage}, word);
        text_ += m.kind == Message::Kind::Activation ? 'F' : 'B';
        micro_batch(m.micro_batch);
    }
    static char direction(const Compute& c) { return c.pass == Pass::Forward ? 'F' : 'B'; }
    /// The stage that consumes the message: a RECV is written with it.
    static int consumer(const Message& m) {
        return m.producer.index + (m.kind == Message::Kind::Activation ? 1 : -1);
    }

    std::string& text_;
};

}  // namespace

char letter_of(Pass pass) {
    constexpr std::array kLetters{'F', 'B', 'I', 'W'};
    return kLetters[static_cast<std::size_t>(pass)];
}

std::string to_text(const MicroBatch& mb) {
    std::string text;
    TextWriter(text).micro_batch(mb);
    return text;
}

void append_text(std::string& text, const Action& action) {
    std::visit(TextWriter(text), action);
}

std::string to_text(const Action& action) {
    std::string text;
    append_text(text, action);
    return text;
}

}  // namespace debubble

#include "schedule/action.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace debubble {
namespace {

/// Writes the text of an action in parts, into a buffer that holds the longest.
class TextWriter {
public:
    std::string_view text() const {
        return {text_.data(), static_cast<std::size_t>(end_ - text_.data())};
    }

    void operator()(const Compute& c) {
        number(c.stage.index);
        letter(letter_of(c.pass));
        micro_batch(c.micro_batch);
    }
    void operator()(const Recompute& r) { of_micro_batch(r.stage, "R", r.micro_batch); }
    void operator()(const Overlap& o) {
        letter('(');
        (*this)(o.first);
        letter(';');
        (*this)(o.second);
        word(")OVERLAP_");
        letter(direction(o.first));
        letter('_');
        letter(direction(o.second));
    }
    void operator()(const Send& s) { message(s.message.producer.index, "SEND_", s.message); }
    void operator()(const Recv& r) { message(consumer(r.message), "RECV_", r.message); }
    void operator()(const Unshard& u) { of_stage(u.stage, "UNSHARD"); }
    void operator()(const Reshard& r) { of_stage(r.stage, "RESHARD"); }
    void operator()(const ReduceGrad& r) { of_stage(r.stage, "REDUCE_GRAD"); }
    void operator()(const TiedGradReduce& t) { of_stage(t.stage, "TIED_GRAD"); }
    void operator()(const Offload& o) { of_micro_batch(o.stage, "OFFLOAD", o.micro_batch); }
    void operator()(const Reload& r) { of_micro_batch(r.stage, "RELOAD", r.micro_batch); }
    void operator()(const GradNorm&) { word("GRAD_NORM"); }
    void operator()(const OptimizerStep&) { word("OPTIMIZER_STEP"); }

    void micro_batch(const MicroBatch& mb) {
        number(mb.index);
        if (!mb.slice) return;
        letter('.');
        number(*mb.slice);
    }

private:
    void letter(char c) { *end_++ = c; }
    void word(std::string_view w) { end_ = std::copy(w.begin(), w.end(), end_); }
    void number(int value) {
        if (value >= 0 && value < 10)
            letter(static_cast<char>('0' + value));
        else
            end_ = std::to_chars(end_, text_.data() + text_.size(), value).ptr;
    }
    void of_stage(Stage stage, std::string_view what) {
        number(stage.index);
        word(what);
    }
    void of_micro_batch(Stage stage, std::string_view what, const MicroBatch& mb) {
        of_stage(stage, what);
        micro_batch(mb);
    }
    void message(int stage, std::string_view what, const Message& m) {
        of_stage(Stage{stage}, what);
        letter(m.kind == Message::Kind::Activation ? 'F' : 'B');
        micro_batch(m.micro_batch);
    }
    static char direction(const Compute& c) { return c.pass == Pass::Forward ? 'F' : 'B'; }
    /// The stage that consumes the message, which is the stage that a RECV is written with.
    static int consumer(const Message& m) {
        return m.producer.index + (m.kind == Message::Kind::Activation ? 1 : -1);
    }

    /// The longest text is an Overlap: six numbers of at most 11 characters and 20 letters.
    std::array<char, 96> text_;
    char* end_ = text_.data();
};

}  // namespace

char letter_of(Pass pass) {
    constexpr ArrayBy<Pass, char, 4> kLetters{'F', 'B', 'I', 'W'};
    return kLetters[pass];
}

std::string to_text(const MicroBatch& mb) {
    TextWriter writer;
    writer.micro_batch(mb);
    return std::string(writer.text());
}

void append_text(std::string& text, const Action& action) {
    TextWriter writer;
    std::visit(writer, action);
    text += writer.text();
}

std::string to_text(const Action& action) {
    std::string text;
    append_text(text, action);
    return text;
}

}  // namespace debubble

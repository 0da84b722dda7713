#include "schedule/action.h"

#include <array>

#include <fmt/format.h>

namespace debubble {
namespace {

std::string text(const Compute& c) {
    return fmt::format("{}{}{}", c.stage.index, letter_of(c.pass), to_text(c.micro_batch));
}

char letter_of(Message::Kind kind) {
    return kind == Message::Kind::Activation ? 'F' : 'B';
}

/// The stage that consumes the message: a RECV is written with it.
int consumer(const Message& m) {
    return m.producer.index + (m.kind == Message::Kind::Activation ? 1 : -1);
}

bool is_forward(const Compute& c) {
    return c.pass == Pass::Forward;
}

}  // namespace

std::string to_text(const MicroBatch& mb) {
    return mb.slice ? fmt::format("{}.{}", mb.index, *mb.slice) : fmt::format("{}", mb.index);
}

char letter_of(Pass pass) {
    constexpr std::array kLetters{'F', 'B', 'I', 'W'};
    return kLetters[static_cast<std::size_t>(pass)];
}

std::string to_text(const Action& action) {
    return std::visit(
        Overloaded{
            [](const Compute& c) { return text(c); },
            [](const Recompute& r) {
                return fmt::format("{}R{}", r.stage.index, to_text(r.micro_batch));
            },
            [](const Overlap& o) {
                return fmt::format("({};{})OVERLAP_{}_{}", text(o.first), text(o.second),
                                   is_forward(o.first) ? 'F' : 'B',
                                   is_forward(o.second) ? 'F' : 'B');
            },
            [](const Send& s) {
                return fmt::format("{}SEND_{}{}", s.message.producer.index,
                                   letter_of(s.message.kind), to_text(s.message.micro_batch));
            },
            [](const Recv& r) {
                return fmt::format("{}RECV_{}{}", consumer(r.message), letter_of(r.message.kind),
                                   to_text(r.message.micro_batch));
            },
            [](const Unshard& u) { return fmt::format("{}UNSHARD", u.stage.index); },
            [](const Reshard& r) { return fmt::format("{}RESHARD", r.stage.index); },
            [](const ReduceGrad& r) { return fmt::format("{}REDUCE_GRAD", r.stage.index); },
            [](const TiedGradReduce& t) { return fmt::format("{}TIED_GRAD", t.stage.index); },
            [](const Offload& o) {
                return fmt::format("{}OFFLOAD{}", o.stage.index, to_text(o.micro_batch));
            },
            [](const Reload& r) {
                return fmt::format("{}RELOAD{}", r.stage.index, to_text(r.micro_batch));
            },
            [](const GradNorm&) { return std::string("GRAD_NORM"); },
            [](const OptimizerStep&) { return std::string("OPTIMIZER_STEP"); },
        },
        action);
}

}  // namespace debubble

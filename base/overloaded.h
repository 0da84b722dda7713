#pragma once

namespace debubble {

/// Lets std::visit take one lambda per alternative; a missing one is a compile error.
template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace debubble

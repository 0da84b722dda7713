#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "text/key.h"
#include "text/mapping_reader.h"

/// Tables by which maps are read: a row is a key with the field it is read into, its range, its
/// meaning and an example. read_fields() reads by a table, described() tells of it: forms, ranges
/// and words are those that the reader demands, defaults those of a fresh object. For example:
///
///   const Fields<Gpu> kGpu{
///       {"sms", required(whole(&Gpu::sms, 1, 100'000)), "Streaming multiprocessors.", "108"},
///       {"bf16", flag(&Gpu::bf16), "The device has matrix units for bf16.", "false"}};
///
/// A place is a pointer to a member, or a function from the object to the field. A field may be
/// optional: a key that is not given leaves it unset.
namespace debubble::text {

template <class T>
struct Reading {
    std::function<void(MappingReader&, std::string_view key, T&)> read;
    std::function<std::vector<Form>(T& fresh)> forms;
    std::function<std::string(T& fresh)> value;  ///< the field as text; empty if it has no value
    bool required = false;
};

template <class T>
struct Field {
    std::string_view name;
    Reading<T> reading;
    std::string_view meaning;
    std::string_view example;
    std::string_view otherwise = {};  ///< what holds if it is not given, where the field's value in
                                      ///< a fresh object does not say it
};
template <class T>
using Fields = std::vector<Field<T>>;

std::string shown(std::int64_t value);
std::string shown(double value);
std::string shown(bool value);
std::string shown(const std::string& value);
std::string shown(Bytes value);
std::string shown(BytesPerSecond value);
std::string shown(Duration value);
std::string shown_flop_rate(double value);
std::string shown_power(double watts);
std::string shown_span(double seconds);

namespace detail {

template <class M>
inline constexpr bool kIsOptional = false;
template <class V>
inline constexpr bool kIsOptional<std::optional<V>> = true;

/// True for the 0 of a number.
template <class V>
bool is_zero(const V& value) {
    if constexpr (std::is_arithmetic_v<V>)
        return value == V{};
    else
        return false;
}

/// Calls read(value) and keeps what it reads; it returns false if there is nothing to keep.
template <class M>
void keep(M& field, bool zero_unsets, const auto& read) {
    if constexpr (kIsOptional<M>) {
        typename M::value_type value{};
        if (!read(value)) return;
        field = value;
        if (zero_unsets && is_zero(value)) field.reset();
    } else {
        read(field);
    }
}

template <class M>
std::string value_of(const M& field, bool zero_unsets, const auto& show) {
    if constexpr (kIsOptional<M>)
        return field || zero_unsets ? show(field.value_or(typename M::value_type{}))
                                    : std::string();
    else
        return show(field);
}

inline constexpr auto kShown = [](const auto& value) -> std::string {
    using V = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_integral_v<V> && !std::is_same_v<V, bool>)
        return shown(static_cast<std::int64_t>(value));
    else
        return shown(value);
};

// The parts of a row's reading that do not depend on how it is read. They are types of their own,
// since a lambda would be another type, with its functions, in every kind of row.

struct OneForm {
    Form form;
    template <class T>
    std::vector<Form> operator()(const T&) const {
        return {form};
    }
};

template <class Place, class Show>
struct Shown {
    Place place;
    Show show;
    bool zero_unsets = false;
    template <class T>
    std::string operator()(T& fresh) const {
        return value_of(std::invoke(place, fresh), zero_unsets, show);
    }
};

struct NoValue {
    template <class T>
    std::string operator()(const T&) const {
        return {};
    }
};

/// A row's reading before it is known of which object the place is.
template <class Place, class Read, class Show>
struct Bound {
    Place place;
    Form form;
    Read read;  ///< bool(MappingReader&, key, value)
    Show show;
    bool required = false;
    bool zero_unsets = false;

    template <class T>
    operator Reading<T>() const {  // NOLINT(google-explicit-constructor): rows read better so
        return {[place = place, read = read, zero = zero_unsets](MappingReader& in,
                                                                 std::string_view key, T& object) {
                    keep(std::invoke(place, object), zero,
                         [&](auto& value) { return read(in, key, value); });
                },
                OneForm{form}, Shown<Place, Show>{place, show, zero_unsets}, required};
    }
};

template <class Place, class Read, class Show>
Bound<Place, Read, Show> bound(Place place, Form form, Read read, Show show) {
    return {std::move(place), std::move(form), std::move(read), std::move(show)};
}

}  // namespace detail

auto whole(auto place, std::int64_t least, std::int64_t most, std::string_view unit = {}) {
    return detail::bound(
        place, Form{WholeForm{least, most, std::string(unit)}},
        [least, most](MappingReader& in, std::string_view key, auto& value) {
            using V = std::remove_reference_t<decltype(value)>;
            return in.whole(key, value, static_cast<V>(least), static_cast<V>(most));
        },
        detail::kShown);
}

auto real(auto place, double least, double most, std::string_view unit = {}) {
    return detail::bound(
        place, Form{RealForm{least, most, std::string(unit)}},
        [least, most](MappingReader& in, std::string_view key, double& value) {
            return in.real(key, value, least, most);
        },
        detail::kShown);
}

auto flag(auto place) {
    return detail::bound(
        place, Form{FlagForm{}},
        [](MappingReader& in, std::string_view key, bool& value) { return in.flag(key, value); },
        detail::kShown);
}

auto free_text(auto place) {
    return detail::bound(
        place, Form{TextForm{}},
        [](MappingReader& in, std::string_view key, std::string& value) {
            return in.text(key, value);
        },
        detail::kShown);
}

auto bytes(auto place) {
    return detail::bound(
        place, Form{QuantityForm{Quantity::Bytes}},
        [](MappingReader& in, std::string_view key, Bytes& value) { return in.bytes(key, value); },
        detail::kShown);
}

auto rate(auto place) {
    return detail::bound(
        place, Form{QuantityForm{Quantity::Rate}},
        [](MappingReader& in, std::string_view key, BytesPerSecond& value) {
            return in.rate(key, value);
        },
        detail::kShown);
}

auto duration(auto place) {
    return detail::bound(
        place, Form{QuantityForm{Quantity::Duration}},
        [](MappingReader& in, std::string_view key, Duration& value) {
            return in.duration(key, value);
        },
        detail::kShown);
}

auto flop_rate(auto place) {
    return detail::bound(
        place, Form{QuantityForm{Quantity::FlopRate}},
        [](MappingReader& in, std::string_view key, double& value) {
            return in.flop_rate(key, value);
        },
        [](double value) { return shown_flop_rate(value); });
}

auto power(auto place) {
    return detail::bound(
        place, Form{QuantityForm{Quantity::Power}},
        [](MappingReader& in, std::string_view key, double& value) { return in.power(key, value); },
        [](double value) { return shown_power(value); });
}

/// Seconds, in a double.
auto span(auto place) {
    return detail::bound(
        place, Form{QuantityForm{Quantity::Span}},
        [](MappingReader& in, std::string_view key, double& value) { return in.span(key, value); },
        [](double value) { return shown_span(value); });
}

auto count(auto place) {
    return detail::bound(
        place, Form{QuantityForm{Quantity::Count}},
        [](MappingReader& in, std::string_view key, std::int64_t& value) {
            return in.count(key, value);
        },
        detail::kShown);
}

template <class E, std::size_t N>
std::vector<std::string> names_of(const std::pair<std::string_view, E> (&words)[N]) {
    std::vector<std::string> names;
    for (const auto& [name, value] : words) names.emplace_back(name);
    return names;
}

/// `words` must outlive the table; `what` is the word's name in sentences, where it is not the key.
template <class E, std::size_t N>
auto word(auto place, const std::pair<std::string_view, E> (&words)[N],
          std::string_view what = {}) {
    return detail::bound(
        place, Form{WordForm{names_of(words)}},
        [&words, what](MappingReader& in, std::string_view key, auto& value) {
            return in.word(key, value, Words<E>(words), what);
        },
        [&words](const auto& value) {
            for (const auto& [name, known] : words)
                if (known == value) return std::string(name);
            return std::string();
        });
}

/// A key whose value is read by a function of its own.
template <class T>
Reading<T> custom(void (*read)(MappingReader&, std::string_view, T&), std::vector<Form> forms) {
    return {read, [forms = std::move(forms)](T&) { return forms; }, detail::NoValue{}};
}

/// A key whose value another function reads, in other places of the reader.
struct Part {
    std::vector<Form> forms;
    bool required = false;

    template <class T>
    operator Reading<T>() const {  // NOLINT(google-explicit-constructor): rows read better so
        return {[](MappingReader& in, std::string_view key, T&) { in.value(key); },
                [forms = forms](T&) { return forms; }, detail::NoValue{}, required};
    }
};
inline Part part(std::vector<Form> forms) {
    return {std::move(forms)};
}

template <class R>
R required(R reading) {
    reading.required = true;
    return reading;
}

/// A number of which 0 in a file means that there is none: the field is optional and stays unset.
template <class Place, class Read, class Show>
auto zero_unsets(detail::Bound<Place, Read, Show> reading) {
    reading.zero_unsets = true;
    return reading;
}

/// A reading that admits less than its type does, by a check after it.
template <class Place, class Read, class Show>
auto narrowed(detail::Bound<Place, Read, Show> reading, Form form) {
    reading.form = std::move(form);
    return reading;
}

template <class T>
void read_fields(MappingReader& in, const Fields<T>& fields, std::type_identity_t<T>& object) {
    for (const Field<T>& field : fields)
        if (field.reading.required) in.demand(field.name);
    for (const Field<T>& field : fields) field.reading.read(in, field.name, object);
}

/// Precondition: nothing was read into `fresh`.
template <class T>
std::vector<Key> described(const Fields<T>& fields, std::type_identity_t<T>& fresh) {
    std::vector<Key> keys;
    for (const Field<T>& field : fields) {
        const bool given = field.reading.required || !field.otherwise.empty();
        keys.push_back({std::string(field.name), field.reading.forms(fresh),
                        std::string(field.meaning), std::string(field.example),
                        given ? std::string(field.otherwise) : field.reading.value(fresh),
                        field.reading.required});
    }
    return keys;
}
template <class T>
std::vector<Key> described(const Fields<T>& fields) {
    T fresh{};
    return described(fields, fresh);
}

/// A map that is read by a table of its own.
template <class Place, class M>
struct Section {
    Place place;
    const Fields<M>* fields;
    bool required = false;

    template <class T>
    operator Reading<T>() const {  // NOLINT(google-explicit-constructor): rows read better so
        return {
            [place = place, fields = fields](MappingReader& in, std::string_view key, T& object) {
                const NodePtr map = in.value(key);
                if (!map) return;
                MappingReader inner(map, key, in.mistakes());
                read_fields(inner, *fields, std::invoke(place, object));
                inner.finish();
            },
            [place = place, fields = fields](T& fresh) {
                return std::vector{Form{MapForm{described(*fields, std::invoke(place, fresh))}}};
            },
            detail::NoValue{}, required};
    }
};
/// `fields` must outlive the table.
template <class Place, class M>
Section<Place, M> section(Place place, const Fields<M>& fields) {
    return {place, &fields};
}

/// The `base` of a map that changes some keys of a shipped file.
Key base_key(std::string folder, std::string example);

}  // namespace debubble::text

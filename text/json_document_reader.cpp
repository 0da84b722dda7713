#include "text/document_readers.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace debubble::text {
namespace {

/// The numbers that Python's json writes and JSON has no words for.
constexpr std::string_view kPythonNumbers[] = {"-Infinity", "Infinity", "NaN"};

/// A text in which those numbers are strings of the same length, and where they stand.
struct PlainJson {
    std::string text;
    std::unordered_map<std::size_t, std::string_view> numbers = {};  ///< by offset
};

PlainJson plain_json(const std::string& text) {
    PlainJson plain{text};
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && quoted) {
            ++i;
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            const std::string_view rest = std::string_view(text).substr(i);
            const auto* word = std::ranges::find_if(
                kPythonNumbers, [&](std::string_view one) { return rest.starts_with(one); });
            if (word == std::end(kPythonNumbers)) continue;
            plain.numbers.emplace(i, *word);
            plain.text[i] = plain.text[i + word->size() - 1] = '"';
            i += word->size() - 1;
        }
    }
    return plain;
}

/// Counts how far the parser has read: the SAX interface itself gives no places. The text given to
/// the parser has the length of the source.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, const char* source, const char** furthest)
        : at_(at), source_(source), furthest_(furthest) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        ++at_;
        *furthest_ = ++source_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

private:
    const char* at_;
    const char* source_;
    const char** furthest_;
};

class JsonTreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    JsonTreeBuilder(std::shared_ptr<const SourceText> source, const PlainJson& plain,
                    Mistakes& mistakes)
        : source_(std::move(source)),
          numbers_(&plain.numbers),
          mistakes_(&mistakes),
          furthest_(source_->text.data()),
          scanned_(furthest_),
          line_(source_->first_line) {}

    const char** furthest() { return &furthest_; }
    NodePtr root() const { return root_; }

    bool null() override { return attach(make(Node::Kind::Null)); }
    bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
    bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value)); }
    bool number_float(number_float_t, const string_t& text) override { return scalar(text); }
    bool string(string_t& value) override {
        auto node = make(Node::Kind::Scalar);
        const auto number = numbers_->find(token_at_);
        node->scalar = number == numbers_->end() ? value : std::string(number->second);
        node->quoted = number == numbers_->end();
        return attach(std::move(node));
    }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Node::Kind::Map); }
    bool start_array(std::size_t) override { return open(Node::Kind::List); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        Open& top = stack_.back();
        top.entry = {name, token_place(), nullptr};
        if (const auto number = numbers_->find(token_at_); number != numbers_->end())
            mistakes_->add(top.entry.place,
                           fmt::format("a key must be a quoted string, not {}", number->second));
        if (!top.keys.insert(name).second)
            mistakes_->add(top.entry.place, fmt::format("key '{}' is written twice", name));
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error) override {
        std::string message = error.what();
        if (const auto colon = message.find(": "); colon != std::string::npos)
            message.erase(0, colon + 2);
        mistakes_->add(place_of(source_->text.data() +
                                std::min(position > 0 ? position - 1 : 0, source_->text.size())),
                       "JSON: " + message);
        return false;
    }

private:
    struct Open {
        std::shared_ptr<Node> node;
        Node::Entry entry;
        std::unordered_set<std::string> keys;
    };

    SourcePosition place_of(const char* at) {
        for (; scanned_ < at; ++scanned_) {
            column_ = *scanned_ == '\n' ? 1 : column_ + 1;
            line_ += *scanned_ == '\n' ? 1 : 0;
        }
        return {source_, line_, column_};
    }

    /// The place where the token begins that the parser has just read.
    SourcePosition token_place() {
        constexpr std::string_view kBetween = " \t\r\n,:";
        const char* at = token_end_ ? token_end_ : source_->text.data();
        while (at < furthest_ && kBetween.find(*at) != std::string_view::npos) ++at;
        token_end_ = furthest_;
        token_at_ = at - source_->text.data();
        return place_of(at);
    }

    std::shared_ptr<Node> make(Node::Kind kind) {
        auto node = std::make_shared<Node>();
        node->kind = kind;
        node->place = token_place();
        return node;
    }

    bool scalar(std::string text) {
        auto node = make(Node::Kind::Scalar);
        node->scalar = std::move(text);
        return attach(std::move(node));
    }

    bool attach(NodePtr node) {
        if (++nodes_ > kMostJsonValues) {
            mistakes_->add(node->place, too_many_values(kMostJsonValues));
            return false;
        }
        if (stack_.empty()) {
            root_ = std::move(node);
            return true;
        }
        Open& top = stack_.back();
        top.node->expanded_size += node->expanded_size;
        if (top.node->is(Node::Kind::List)) {
            top.node->items.push_back(std::move(node));
        } else {
            top.entry.value = std::move(node);
            top.node->entries.push_back(std::move(top.entry));
        }
        return true;
    }

    bool open(Node::Kind kind) {
        Open top;
        top.node = make(kind);
        if (stack_.size() >= kDeepestDocument) {
            mistakes_->add(top.node->place, too_deep());
            return false;
        }
        stack_.push_back(std::move(top));
        return true;
    }

    bool close() {
        token_place();
        NodePtr done = std::move(stack_.back().node);
        stack_.pop_back();
        return attach(std::move(done));
    }

    std::shared_ptr<const SourceText> source_;
    const std::unordered_map<std::size_t, std::string_view>* numbers_;
    Mistakes* mistakes_;
    const char* furthest_;
    const char* token_end_ = nullptr;
    std::size_t token_at_ = 0;  ///< offset at which the last token begins
    const char* scanned_;
    int line_;
    int column_ = 1;
    std::vector<Open> stack_;
    NodePtr root_;
    std::size_t nodes_ = 0;
};

}  // namespace

NodePtr parse_json(std::string text, const std::string& file) {
    return parse_json_from(1, std::move(text), file);
}

NodePtr parse_json_from(int first_line, std::string text, const std::string& file) {
    const auto source = checked_source(std::move(text), file, first_line, kLongestJson);
    const PlainJson plain = plain_json(source->text);
    Mistakes mistakes;
    JsonTreeBuilder builder(source, plain, mistakes);
    const char* const begin = plain.text.data();
    const char* const end = begin + plain.text.size();
    const char* const written = source->text.data();
    nlohmann::json::sax_parse(
        CountingIterator(begin, written, builder.furthest()),
        CountingIterator(end, written + source->text.size(), builder.furthest()), &builder);
    mistakes.throw_if_any();
    return builder.root();
}

NodePtr read_json(const std::filesystem::path& path) {
    return parse_json(read_file(path, kLongestJson), path.string());
}

}  // namespace debubble::text

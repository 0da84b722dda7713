#include "text/document_readers.h"

#include <map>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/file.h"

namespace debubble::text {
namespace {

/// Thrown to leave yaml-cpp's parser when a bound is passed.
struct Stop {};

class YamlTreeBuilder : public YAML::EventHandler {
public:
    YamlTreeBuilder(std::shared_ptr<const SourceText> source, Mistakes& mistakes,
                    std::vector<RepeatedKey>* repeats)
        : source_(std::move(source)), mistakes_(&mistakes), repeats_(repeats) {}

    NodePtr root() const { return root_; }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0) stop(mark, "a second document begins here; a file may hold only one");
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        finish(leaf(mark), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto known = anchors_.find(anchor);
        if (known == anchors_.end()) stop(mark, "this alias is inside the value that it names");
        attach(known->second, place(mark));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        auto node = leaf(mark);
        const bool plain = tag == "?" || tag.empty();
        if (plain && (value == "~" || value == "null")) return finish(std::move(node), anchor);
        node->kind = Node::Kind::Scalar;
        node->quoted = !plain;
        node->scalar = value;
        check_tag(mark, tag);
        finish(std::move(node), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, Node::Kind::List);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, Node::Kind::Map);
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        std::shared_ptr<Node> node;
        YAML::anchor_t anchor = 0;
        bool has_key = false;  ///< for a map: the next node is a value
        bool keep = true;      ///< false if the key was bad
        Node::Entry entry;
        std::vector<NodePtr> merges;
        std::unordered_map<std::string, int> line_of_key;
    };

    SourcePosition place(const YAML::Mark& mark) const {
        return {source_, mark.line + 1, mark.column + 1};
    }

    [[noreturn]] void stop(const YAML::Mark& mark, std::string message) {
        mistakes_->add(place(mark), std::move(message));
        throw Stop{};
    }

    void check_tag(const YAML::Mark& mark, const std::string& tag) {
        if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:"))
            return;
        mistakes_->add(place(mark), fmt::format("the tag '{}' has no meaning here", tag));
    }

    std::shared_ptr<Node> leaf(const YAML::Mark& mark) {
        if (++nodes_ > kMostValues) stop(mark, too_many_values());
        auto node = std::make_shared<Node>();
        node->place = place(mark);
        return node;
    }

    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
              Node::Kind kind) {
        if (stack_.size() >= kDeepestDocument) stop(mark, too_deep());
        check_tag(mark, tag);
        Open open;
        open.node = leaf(mark);
        open.node->kind = kind;
        open.anchor = anchor;
        stack_.push_back(std::move(open));
    }

    void close() {
        Open top = std::move(stack_.back());
        stack_.pop_back();
        for (const NodePtr& merge : top.merges) add_merge(top, merge);
        finish(std::move(top.node), top.anchor);
    }

    void finish(std::shared_ptr<Node> node, YAML::anchor_t anchor) {
        NodePtr done = std::move(node);
        if (anchor != 0) anchors_[anchor] = done;
        const SourcePosition where = done->place;
        attach(std::move(done), where);
    }

    void attach(NodePtr node, const SourcePosition& where) {
        if (stack_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& top = stack_.back();
        if (top.node->is(Node::Kind::Map) && !top.has_key) return take_key(top, *node, where);
        grow(top, node->expanded_size, where);
        if (top.node->is(Node::Kind::List)) {
            top.node->items.push_back(std::move(node));
            return;
        }
        top.has_key = false;
        if (!top.keep) return;
        if (top.entry.key == "<<") {
            collect_merges(top, node, where);
        } else {
            top.entry.value = std::move(node);
            top.node->entries.push_back(std::move(top.entry));
        }
    }

    void grow(Open& top, std::size_t by, const SourcePosition& where) {
        top.node->expanded_size += by;
        if (top.node->expanded_size <= kMostValues) return;
        mistakes_->add(where,
                       fmt::format("aliases expand the text to more than {} values", kMostValues));
        throw Stop{};
    }

    void take_key(Open& top, const Node& key, const SourcePosition& where) {
        top.has_key = true;
        top.keep = key.is(Node::Kind::Scalar);
        top.entry = {key.scalar, where, nullptr};
        if (!top.keep) {
            mistakes_->add(where, fmt::format("a key must be a word, not {}", describe(key)));
            return;
        }
        const auto [first, fresh] = top.line_of_key.emplace(key.scalar, where.line);
        if (fresh || key.scalar == "<<") return;
        if (repeats_ != nullptr) {
            repeats_->push_back({key.scalar, where, first->second});
            std::erase_if(top.node->entries,
                          [&](const Node::Entry& entry) { return entry.key == key.scalar; });
            first->second = where.line;
            return;
        }
        top.keep = false;
        mistakes_->add(where, fmt::format("key '{}' is written twice, first in line {}", key.scalar,
                                          first->second));
    }

    void collect_merges(Open& top, const NodePtr& value, const SourcePosition& where) {
        const std::vector<NodePtr> one{value};
        for (const NodePtr& map : value->is(Node::Kind::List) ? value->items : one) {
            if (map->is(Node::Kind::Map))
                top.merges.push_back(map);
            else
                mistakes_->add(where, fmt::format("'<<' takes maps, not {}", describe(*map)));
        }
    }

    /// Keys written in the map itself win over merged ones, earlier merges over later.
    void add_merge(Open& top, const NodePtr& merge) {
        for (const Node::Entry& entry : merge->entries)
            if (top.line_of_key.emplace(entry.key, entry.place.line).second)
                top.node->entries.push_back(entry);
    }

    std::shared_ptr<const SourceText> source_;
    Mistakes* mistakes_;
    std::vector<RepeatedKey>* repeats_;
    std::vector<Open> stack_;
    std::map<YAML::anchor_t, NodePtr> anchors_;
    NodePtr root_;
    std::size_t nodes_ = 0;
    int documents_ = 0;
};

/// Places are given in `source`, whose lines `text` follows.
NodePtr parse_checked(const std::string& text, const std::shared_ptr<const SourceText>& source,
                      std::vector<RepeatedKey>* repeats = nullptr) {
    Mistakes mistakes;
    YamlTreeBuilder builder(source, mistakes, repeats);
    try {
        std::istringstream in(text);
        YAML::Parser parser(in);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Stop&) {  // the mistake is in the list already
    } catch (const YAML::Exception& error) {
        const YAML::Mark mark = error.mark.is_null() ? YAML::Mark() : error.mark;
        mistakes.add({source, mark.line + 1, mark.column + 1}, "YAML: " + error.msg);
    }
    mistakes.throw_if_any();
    if (NodePtr root = builder.root()) return root;
    auto nothing = std::make_shared<Node>();
    nothing->place = {source, 1, 1};
    return nothing;
}

}  // namespace

NodePtr parse_yaml(std::string text, const std::string& file) {
    const auto source = checked_source(std::move(text), file);
    return parse_checked(source->text, source);
}

NodePtr parse_yaml_of_others(std::string text, const std::string& file,
                             std::vector<RepeatedKey>& repeats) {
    const auto source = checked_source(std::move(text), file);
    return parse_checked(source->text, source, &repeats);
}

NodePtr parse_yaml_value(const std::string& value, const SourcePosition& place) {
    if (value.find('\n') != std::string::npos) {
        Mistakes mistakes;
        mistakes.add(place, "the value must be of one line; write {a: 1, b: 2} for a map");
        mistakes.throw_if_any();
    }
    check_characters(place.source);
    return parse_checked(std::string(static_cast<std::size_t>(place.column) - 1, ' ') + value,
                         place.source);
}

NodePtr read_yaml(const std::filesystem::path& path) {
    return parse_yaml(read_file(path, kLongestDocument), path.string());
}

}  // namespace debubble::text

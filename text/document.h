#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

/// A YAML or JSON text as values with their places. Immutable once made and shared by pointer, so
/// that many threads may read one tree, and a changed copy costs only the path to the change.
namespace debubble::text {

struct SourceText {
    std::string file;
    std::string text;
    int first_line = 1;  ///< line of the file in which the text begins
};

/// Lines and columns start at 1.
struct SourcePosition {
    std::shared_ptr<const SourceText> source;
    int line = 0;
    int column = 0;
};

/// The place in its file, and the text of that line. Precondition: the place has a source.
SourceLocation location_of(const SourcePosition& place);
std::string line_at(const SourcePosition& place);

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Node {
    enum class Kind { Null, Scalar, List, Map };
    struct Entry {
        std::string key;
        SourcePosition place;  ///< place of the key
        NodePtr value;
    };

    Kind kind = Kind::Null;
    bool quoted = false;  ///< true for a scalar that can only be text
    std::string scalar;
    std::vector<NodePtr> items;     ///< the elements of a List
    std::vector<Entry> entries;     ///< the entries of a Map, in the order written, keys distinct
    SourcePosition place;           ///< place of the value
    std::size_t expanded_size = 1;  ///< number of nodes, where each alias counts as what it stands
                                    ///< for

    const Entry* find(std::string_view key) const;
    NodePtr get(std::string_view key) const;  ///< null if absent
    bool is(Kind k) const { return kind == k; }
};

/// "a list", "a map", "empty" or the scalar in quotes, for use in sentences.
std::string describe(const Node& node);

NodePtr make_scalar(std::string text, SourcePosition place);
NodePtr make_map(std::vector<Node::Entry> entries, SourcePosition place);

/// `over` merged into `under`: maps are merged key by key, everything else is replaced. A map with
/// a `name` or `csv` of its own is a choice, not an addition: it replaces. Either may be null.
NodePtr merged(const NodePtr& under, const NodePtr& over);

/// The same for two maps that are merged whatever their keys are.
NodePtr merged_maps(const Node& under, const Node& over);

/// `over` on top of its `base` `under`: maps are merged key by key, however deep they lie and
/// whatever their keys are; everything else is replaced, except that an empty value in `over`
/// leaves the value of `under`.
NodePtr merged_deeply(const Node& under, const Node& over);

/// The value at a dotted path of maps; null where there is none.
NodePtr at(const NodePtr& map, std::string_view path);

/// The map without the one key.
NodePtr without(const NodePtr& map, std::string_view key);

/// The tree with `value` at the dotted `path`. Missing maps are made. A scalar on the way is the
/// short form of a map: `schedule: 1f1b` becomes {name: 1f1b}, `cluster: this-machine` becomes
/// {base: this-machine}. Throws InputError at `place` for a path that leads through a list, is
/// empty or is too long.
NodePtr with_value(const NodePtr& root, std::string_view path, NodePtr value,
                   const SourcePosition& place);

/// All mistakes of one reading, in the order found; only the first fifty are kept.
class Mistakes {
public:
    void add(const SourcePosition& place, std::string message,
             Diagnostic::Kind kind = Diagnostic::Kind::Mistake);
    void add(std::string message);  ///< a mistake of the text as a whole
    void add(const InputError& error);
    bool empty() const { return found_.empty(); }
    std::size_t count() const { return found_.size(); }
    /// Throws InputError if there are any.
    void throw_if_any() const;

private:
    std::vector<Diagnostic> found_;
    bool more_ = false;
};

// Values as YAML in one line.

/// True if the text is a word that reads back as itself without quotes.
bool is_plain_word(const std::string& text);

/// Flow YAML that reads back as the same tree.
std::string to_flow(const Node& node);

}  // namespace debubble::text

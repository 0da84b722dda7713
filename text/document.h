#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

/// A YAML or JSON text as values with their places. Immutable once made and
/// shared by pointer, so many threads may read one tree, and a changed copy
/// costs only the path to the change.
namespace debubble::text {

struct SourceText {
    std::string file;
    std::string text;
};

/// Lines and columns count from 1.
struct Place {
    std::shared_ptr<const SourceText> source;
    int line = 0;
    int column = 0;
};

struct Node;
using NodePtr = std::shared_ptr<const Node>;

struct Node {
    enum class Kind { Null, Scalar, List, Map };
    struct Entry {
        std::string key;
        Place place;  ///< of the key
        NodePtr value;
    };

    Kind kind = Kind::Null;
    bool quoted = false;  ///< a scalar that can only be text
    std::string scalar;
    std::vector<NodePtr> items;     ///< of a List
    std::vector<Entry> entries;     ///< of a Map, in the order written, keys distinct
    Place place;                    ///< of the value
    std::size_t expanded_size = 1;  ///< nodes, each alias counted where it stands

    const Entry* find(std::string_view key) const;
    NodePtr get(std::string_view key) const;  ///< null if absent
    bool is(Kind k) const { return kind == k; }
};

/// "a list", "a map", "empty" or the scalar in quotes: for sentences.
std::string describe(const Node& node);

NodePtr make_scalar(std::string text, Place place);
NodePtr make_map(std::vector<Node::Entry> entries, Place place);

/// `over` laid over `under`: maps are merged key by key, all else is replaced.
/// A map with a `name` or `csv` of its own is a choice, not an addition: it
/// replaces. Either may be null.
NodePtr merged(const NodePtr& under, const NodePtr& over);

/// The same for two maps that are to be merged whatever their keys are.
NodePtr merged_maps(const Node& under, const Node& over);

/// What stands on a `base`: maps are merged key by key, however deep they lie and whatever their
/// keys are; all else is replaced, but what is empty in `over` has not been said there.
NodePtr merged_deeply(const Node& under, const Node& over);

/// The map without one key.
NodePtr without(const NodePtr& map, std::string_view key);

/// The tree with `value` at the dotted `path`. Missing maps are made. A scalar on
/// the way is the short form of a map: `schedule: 1f1b` becomes {name: 1f1b},
/// `cluster: this-machine` becomes {base: this-machine}. Throws InputError at
/// `place` for a path through a list, an empty or an endless path.
NodePtr with_value(const NodePtr& root, std::string_view path, NodePtr value, const Place& place);

/// Every mistake of one reading, in the order found; only the first fifty are kept.
class Mistakes {
public:
    void add(const Place& place, std::string message,
             Diagnostic::Kind kind = Diagnostic::Kind::Mistake);
    void add(std::string message);  ///< of the whole
    void add(const InputError& error);
    bool empty() const { return found_.empty(); }
    std::size_t count() const { return found_.size(); }
    /// Throws InputError if there are any.
    void throw_if_any() const;

private:
    std::vector<Diagnostic> found_;
    bool more_ = false;
};

}  // namespace debubble::text

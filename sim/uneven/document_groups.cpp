#include "sim/uneven/document_groups.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace debubble::sim {
namespace {

/// _DYNAMIC_CP_WORKLOAD_CAP_DELTA
constexpr double kMoreWork = 0.05;

double work_of(std::int64_t length, int ranks) {
    const auto tokens = static_cast<double>(length);
    return tokens * tokens / ranks;
}

/// A microbatch during packing. Groups are made of the first free ranks, so that those in use are
/// always the first ones.
class Filling {
public:
    Filling(const GroupRules& rules, const Document& longest)
        : rules_(rules),
          most_work_(static_cast<double>(longest.length) * static_cast<double>(rules.capacity) *
                     (1 + kMoreWork)),
          roomiest_(rules.sizes.size()) {
        open(longest, ranks_needed(longest.length, rules));
    }

    /// True if some group has room for a document of this length, and thus for a shorter one.
    bool can_take(std::int64_t length) const { return place_of(length).has_value(); }

    /// Precondition: some group has room for the document.
    void take(const Document& document) {
        const std::optional<Place> best = place_of(document.length);
        if (best->group)
            add(*best->group, document);
        else
            open(document, best->ranks);
    }

    /// True if every rank has documents.
    bool fill() {
        while (used_ < all_ranks())
            if (!enlarge_one()) return false;
        return true;
    }

    PackedMicroBatch groups() && {
        int rank = 0;
        for (DocumentGroup& group : groups_) {
            group.first_rank = rank;
            rank += group.ranks;
        }
        return std::move(groups_);
    }

private:
    struct Place {
        double work;  ///< work of a rank of the group, with the document
        int ranks;
        std::optional<std::size_t> group;  ///< unset: a new one
    };

    std::optional<Place> place_of(std::int64_t length) const {
        const int needed = ranks_needed(length, rules_);
        std::optional<Place> best;
        for (std::size_t i = 0; i < rules_.sizes.size(); ++i) {
            const int size = rules_.sizes[i];
            if (size < needed) continue;
            if (length <= roomiest_[i])
                for (std::size_t g = 0; g < groups_.size(); ++g)
                    if (groups_[g].ranks == size && length <= room_[g])
                        improve(best, {work_[g] + work_of(length, size), size, g});
            if (used_ + size <= all_ranks()) improve(best, {work_of(length, size), size, {}});
        }
        return best;
    }

    int all_ranks() const { return rules_.sizes.back(); }

    /// The first of those whose fullest rank stays the least full.
    void improve(std::optional<Place>& best, const Place& place) const {
        const double fullest = std::max(fullest_, place.work);
        if (fullest > most_work_) return;
        if (!best || fullest < std::max(fullest_, best->work)) best = place;
    }

    void open(const Document& document, int ranks) {
        groups_.push_back({used_, ranks, {}});
        work_.push_back(0);
        room_.push_back(rules_.capacity * ranks);
        used_ += ranks;
        add(groups_.size() - 1, document);
    }

    void add(std::size_t group, const Document& document) {
        groups_[group].documents.push_back(document);
        work_[group] += work_of(document.length, groups_[group].ranks);
        room_[group] -= document.length;
        fullest_ = std::max(fullest_, work_[group]);
        const int ranks = groups_[group].ranks;
        std::int64_t& roomiest =
            roomiest_[std::ranges::find(rules_.sizes, ranks) - rules_.sizes.begin()];
        roomiest = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].ranks == ranks) roomiest = std::max(roomiest, room_[g]);
    }

    /// Enlarges the first of the smallest groups to the next size.
    bool enlarge_one() {
        const auto smallest = std::ranges::min_element(groups_, {}, &DocumentGroup::ranks);
        const auto size = std::ranges::upper_bound(rules_.sizes, smallest->ranks);
        if (size == rules_.sizes.end()) return false;
        const int more = *size - smallest->ranks;
        if (used_ + more > all_ranks()) return false;
        smallest->ranks = *size;
        used_ += more;
        return true;
    }

    const GroupRules& rules_;
    double most_work_;
    double fullest_ = 0;
    int used_ = 0;  ///< ranks
    PackedMicroBatch groups_;
    std::vector<double> work_;            ///< of a rank, by group
    std::vector<std::int64_t> room_;      ///< tokens, by group
    std::vector<std::int64_t> roomiest_;  ///< maximum of any group of a size, by rules_.sizes
};

/// Documents, longest first, some of them packed. A search for the next one that fits skips these:
/// with n documents a packing takes n log n steps and not n for each microbatch.
class Waiting {
public:
    explicit Waiting(std::span<const Document> documents)
        : documents_(documents.begin(), documents.end()), next_(documents.size() + 1) {
        std::ranges::stable_sort(documents_, std::ranges::greater{}, &Document::length);
        std::iota(next_.begin(), next_.end(), std::size_t{0});
    }

    std::size_t end() const { return documents_.size(); }
    const Document& operator[](std::size_t at) const { return documents_[at]; }

    /// The first waiting document here or after; end() if there is none.
    std::size_t first(std::size_t at) {
        std::size_t found = at;
        while (next_[found] != found) found = next_[found];
        while (next_[at] != found) at = std::exchange(next_[at], found);
        return found;
    }
    /// The same among those whose length fits; shorter ones then fit, too.
    std::size_t first(std::size_t at, const auto& fits) {
        at = first(at);
        if (at == end() || fits(documents_[at].length)) return at;
        const auto from = documents_.begin() + static_cast<std::ptrdiff_t>(at);
        const auto shorter = std::ranges::partition_point(
            from, documents_.end(), [&](std::int64_t length) { return !fits(length); },
            &Document::length);
        return first(shorter - documents_.begin());
    }
    void remove(std::size_t at) { next_[at] = at + 1; }

private:
    std::vector<Document> documents_;
    std::vector<std::size_t> next_;  ///< itself while the document waits, else a later one
};

/// One group of all ranks, with the documents that fit into it, longest first.
DocumentGroup group_of_all(Waiting& waiting, const GroupRules& rules,
                           std::vector<std::size_t>& taken) {
    DocumentGroup group{0, rules.sizes.back(), {}};
    std::int64_t room = rules.capacity * group.ranks;
    taken.clear();
    const auto fits = [&](std::int64_t length) { return length <= room; };
    for (auto at = waiting.first(0, fits); at < waiting.end(); at = waiting.first(at + 1, fits)) {
        group.documents.push_back(waiting[at]);
        room -= waiting[at].length;
        taken.push_back(at);
    }
    return group;
}

}  // namespace

std::int64_t DocumentGroup::tokens() const {
    std::int64_t sum = 0;
    for (const Document& document : documents) sum += document.length;
    return sum;
}

double DocumentGroup::tokens_of_rank() const {
    return static_cast<double>(tokens()) / ranks;
}

double DocumentGroup::work() const {
    double sum = 0;
    for (const Document& document : documents) sum += work_of(document.length, ranks);
    return sum;
}

std::vector<PackedMicroBatch> schedule_dynamic_groups(std::span<const Document> documents,
                                                      const GroupRules& rules) {
    Waiting waiting(documents);
    std::vector<PackedMicroBatch> micro_batches;
    for (auto longest = waiting.first(0); longest < waiting.end(); longest = waiting.first(0)) {
        Filling filling(rules, waiting[longest]);
        std::vector<std::size_t> taken{longest};
        const auto fits = [&](std::int64_t length) { return filling.can_take(length); };
        for (auto at = waiting.first(longest + 1, fits); at < waiting.end();
             at = waiting.first(at + 1, fits)) {
            filling.take(waiting[at]);
            taken.push_back(at);
        }
        if (filling.fill())
            micro_batches.push_back(std::move(filling).groups());
        else
            micro_batches.push_back({group_of_all(waiting, rules, taken)});
        for (const std::size_t at : taken) waiting.remove(at);
    }
    return micro_batches;
}

}  // namespace debubble::sim

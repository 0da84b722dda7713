#include <limits>

#include "sim/engine/event_queue.h"
#include "sim/engine/flow_network.h"
#include "tests/sim/simgrid/shared_links.h"

namespace debubble::sim {
namespace {

class Player {
public:
    Player(Case& played, const std::vector<BytesPerSecond>& links)
        : played_(played), network_(links, queue_), open_(played.items.size(), 0) {
        for (const Item& item : played.items) {
            for (const std::int32_t next : item.after_begin) ++open_[next];
            for (const std::int32_t next : item.after_end) ++open_[next];
        }
    }

    void run() {
        const std::vector<int> open = open_;
        for (std::size_t i = 0; i < open.size(); ++i)
            if (open[i] == 0) begin(static_cast<std::int32_t>(i));
        while (!queue_.empty()) handle(queue_.next());
    }

private:
    void handle(const Event& event) {
        const Item& item = played_.items[event.task];
        if (event.kind() == Event::Kind::FlowBegin)
            network_.join(event.task, item.bytes, item.links);
        else if (event.kind() == Event::Kind::TaskEnd ||
                 network_.leave_if_current(event.task, event.version))
            end(event.task);
    }
    void begin(std::int32_t task) {
        const Item& item = played_.items[task];
        queue_.at(queue_.now() + item.delay,
                  item.moves() ? Event::Kind::FlowBegin : Event::Kind::TaskEnd, task);
        fire(item.after_begin);
    }
    void end(std::int32_t task) {
        played_.ends[task] = seconds(queue_.now().time_since_epoch());
        fire(played_.items[task].after_end);
    }
    void fire(const std::vector<std::int32_t>& successors) {
        for (const std::int32_t next : successors)
            if (--open_[next] == 0) begin(next);
    }

    Case& played_;
    EventQueue queue_;
    FlowNetwork network_;
    std::vector<int> open_;
};

}  // namespace

void play_here(Case& played) {
    played.ends.assign(played.items.size(), std::numeric_limits<double>::quiet_NaN());
    std::vector<BytesPerSecond> links;
    for (const double capacity : played.capacity) links.push_back({capacity});
    Player(played, links).run();
}

}  // namespace debubble::sim

#include "schedule/generators/eight_steps.h"

namespace debubble {
namespace {

class Writer {
public:
    explicit Writer(ActionList& actions) : actions_(&actions) {}

    void forward(Stream& stream) { actions_->push_back(stream.next_forward()); }
    void backward(Stream& stream) { actions_->push_back(stream.next_backward()); }
    void overlap(Stream& forward, Stream& backward) {
        actions_->push_back(Overlap{forward.next_forward(), backward.next_backward()});
    }
    /// The backward in zero-bubble form: the weight half waits for weight().
    void backward_input(Stream& stream) {
        Compute compute = stream.next_backward();
        compute.pass = Pass::BackwardInput;
        actions_->push_back(compute);
        compute.pass = Pass::BackwardWeight;
        postponed_.push_back(compute);
    }
    void weight() {
        actions_->push_back(postponed_.front());
        postponed_.pop_front();
    }

private:
    ActionList* actions_;
    std::deque<Compute> postponed_;
};

}  // namespace

void write_eight_steps(ActionList& actions, Stream near, Stream far, TurnPosition at) {
    const int inner = at.from_end + 1;
    const int to_turn = at.turn - inner;
    Writer list(actions);

    for (int i = 0; i < 2 * to_turn; ++i) list.forward(near);  // 1: fill
    for (int i = 0; i < inner; ++i) {                          // 2: fill both ways
        list.forward(near);
        list.forward(far);
    }
    for (int i = 0; i < to_turn; ++i) {  // 3: first backwards, split
        list.backward_input(far);
        list.weight();
        list.forward(far);
    }
    for (int i = 0; i < at.per_stream - 2 * at.turn + inner; ++i) {  // 4: steady
        if (i == 0 && to_turn == 0) {  // at the turn, the first pair is not overlapped
            list.forward(near);
            list.backward(far);
        } else {
            list.overlap(near, far);
        }
        list.overlap(far, near);
    }
    for (int i = 0; i < to_turn; ++i) {  // 5: the near stream has no forward left
        list.backward(far);
        list.overlap(far, near);
    }
    for (int i = 0; i < 2 * inner; ++i) {  // 6: drain both ways, the second half split
        Stream& stream = i % 2 == 0 ? far : near;
        if (i < inner)
            list.backward(stream);
        else
            list.backward_input(stream);
    }
    for (int i = 0; i < to_turn; ++i) {  // 7: drain; weights fill the waits
        list.weight();
        list.backward_input(near);
    }
    for (int i = 0; i < inner; ++i) list.weight();  // 8: the weights that are left
}

}  // namespace debubble

// expect: deleted.*kind::
// cases: 24
#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

// A number of one kind where one of another is expected: each case is one error.
void mix(sublet::memory_plan const& plan, sublet::snapshot const& p, sublet::effect_sink& sink,
         sublet::counterexample& why, sublet::program_tree const& tree,
         sublet::live_range_lists const& lists);
void mix(sublet::memory_plan const& plan, sublet::snapshot const& p, sublet::effect_sink& sink,
         sublet::counterexample& why, sublet::program_tree const& tree, sublet::live_range_lists const& lists)
{
    sublet::node_id const node = 0;
    sublet::value_id const value = 0;
    sublet::step_id step = 0;
    sublet::position_id const position = 0;
    sublet::buffer_id const buffer = 0;
    sublet::slot_id const slot = 0;
    sublet::pool_id const pool = 0;
    sublet::program_id const program = 0;
    step = 1; // any integer
    bool const right = plan.offset_of(value) == 0 && plan.buffer_of[value] == buffer && slot == 0 &&
                       pool == 0 && p.touches(step).empty() && contains(sublet::live_range{0, 4}, position) &&
                       lists[value].empty() && tree.body(program).parent == 0 && p.successors(node).empty();
    sink.use(value);
    sublet::counterexample::access read;
    read.step = right ? step : sublet::no_step;
    why.of = read;
#if CASE == 1
    sublet::buffer_id const mixed = value;
    (void)mixed;
#elif CASE == 2
    step = buffer;
#elif CASE == 3
    (void)plan.offset_of(step);
#elif CASE == 4
    (void)plan.buffer_of[buffer];
#elif CASE == 5
    (void)plan.buffers[value];
#elif CASE == 6
    (void)plan.arena_bytes[buffer];
#elif CASE == 7
    (void)(value == buffer);
#elif CASE == 8
    (void)(step < position);
#elif CASE == 9
    (void)(slot != pool);
#elif CASE == 10
    auto const mixed = static_cast<sublet::position_id>(step);
    (void)mixed;
#elif CASE == 11
    sink.use(node);
#elif CASE == 12
    sink.use_at_end_of(value, value);
#elif CASE == 13
    sink.may_overwrite(value, buffer);
#elif CASE == 14
    (void)p.touches(node);
#elif CASE == 15
    (void)p.steps_of(step);
#elif CASE == 16
    (void)p.successors(value);
#elif CASE == 17
    sublet::handoff const mixed{.from = step, .to = position};
    (void)mixed;
#elif CASE == 18
    (void)contains(sublet::live_range{0, 4}, step);
#elif CASE == 19
    (void)lists[buffer];
#elif CASE == 20
    read.position = step;
#elif CASE == 21
    (void)why.name_of(step);
#elif CASE == 22
    (void)tree.body(value);
#elif CASE == 23
    std::vector<sublet::value_id> mixed;
    mixed.push_back(node);
#elif CASE == 24
    sublet::memory_plan::placed_buffer const mixed{.root = value, .pool = program};
    (void)mixed;
#endif
}

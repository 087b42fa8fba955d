// SPDX-License-Identifier: BSL-1.0

/// lower_nested(): the flat program is lowered in the order of its text. The names of operands in their own
/// programs are found by walking the touches of a step beside those of its flat step, which are some of them
/// in the same order. One walk over the flat nodes with a stack of open steps finds what is asked where.

#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/execution/detail/nested_program.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

/// Fills the other members of a nested_program with its flat tree and lowered program.
class nested_lowering {
public:
    nested_lowering(program_tree const& tree, nested_program& to) : tree_(tree), to_(to)
    {
        for (program_id i = 1; i < tree.size(); ++i)
            bodies_.push_back({key(tree.body(i).parent, tree.body(i).step), i, i});
        sort_by_key(bodies_);
    }

    void write()
    {
        for (program_id i = 0; i != tree_.size(); ++i) {
            bool const is_loop = i != 0 && tree_.body(i).kind == program_body::run_kind::loop;
            to_.loop_of.push_back(is_loop || i == 0 ? i : to_.loop_of[tree_.body(i).parent]);
        }
        for (step_id s = 0; s != to_.flat.program.steps(); ++s) write_step(s);
        for (node_id n = 0; n != to_.flat.program.nodes(); ++n) write_node(n);
    }

private:
    static std::uint64_t key(program_id program, step_id step)
    {
        return std::uint64_t{+program} << 32 | +step;
    }
    struct open_step {
        step_id begin;         // flat
        std::size_t next_body; // index into bodies_: of what is asked next
    };

    void write_step(step_id s)
    {
        flat_tree::step const of = to_.flat.step_of[s];
        bool const is_step = of.part == flat_tree::part::whole || of.part == flat_tree::part::beginning ||
                             of.part == flat_tree::part::end;
        auto const at = position_id::of(+s);
        if (is_step) {
            bool const begins = of.part == flat_tree::part::beginning;
            name(of, to_.lowered.uses[at], to_.uses, to_.own_uses, [](value_id) { return true; });
            name(of, to_.lowered.defs[at], to_.defs, to_.own_defs,
                 [&](value_id v) { return !begins || !to_.lowered.is_update(v, at); });
            if (begins)
                for (std::size_t b = first_body(of); b != bodies_.size() && bodies_[b].key == key(of); ++b)
                    to_.bodies.append(bodies_[b].id);
        }
        for (auto* rows : {&to_.uses, &to_.defs, &to_.own_uses, &to_.own_defs}) rows->close_row();
        to_.bodies.close_row();
    }
    static std::uint64_t key(flat_tree::step of) { return key(of.program, of.step); }
    std::size_t first_body(flat_tree::step of) const
    {
        return partition_point(bodies_.size(), [&](std::size_t i) { return bodies_[i].key >= key(of); });
    }

    template <class Shows>
    void name(flat_tree::step of, std::span<value_id const> row, nested_program::values_at& flat,
              nested_program::values_at& own, Shows shows)
    {
        auto const touches = tree_.program_of(of.program).touches(of.step);
        std::size_t next = 0;
        for (value_id v : row) {
            while (next != touches.size() && to_.flat.flat_of[of.program][touches[next].value] != v) ++next;
            if (next == touches.size()) next = 0; // of a view that is written and read there is one entry
            while (to_.flat.flat_of[of.program][touches[next].value] != v) ++next;
            if (!shows(v)) continue;
            flat.append(v);
            own.append(touches[next].value);
        }
    }

    void write_node(node_id n)
    {
        step_range const steps = to_.flat.program.steps_of(n);
        for (step_id s = steps.first; s != steps.last; ++s) {
            flat_tree::step const of = to_.flat.step_of[s];
            if (of.part == flat_tree::part::beginning) open_.push_back({s, first_body(of)});
            if (of.part == flat_tree::part::end) open_.pop_back();
        }
        nested_program::node_end end;
        step_id const last = steps.last - 1;
        flat_tree::part const part = to_.flat.step_of[last].part;
        if (to_.flat.program.successors(n).size() > 1) {
            if (part == flat_tree::part::whole || part == flat_tree::part::end) {
                end = {asked_of::successor, last, 0, true};
            } else {
                auto const before = to_.flat.program.predecessors(n); // ascending
                // A beginning that a loop of its own program leads back to is no header.
                bool const is_header = part == flat_tree::part::nothing && before.back() >= n;
                open_step& in = open_.back();
                auto const kind = [&] { return tree_.body(bodies_[in.next_body].id).kind; };
                if (is_header) {
                    while (kind() != program_body::run_kind::loop) ++in.next_body;
                    end = {asked_of::loop, in.begin, bodies_[in.next_body].id, false};
                    ++in.next_body;
                } else {
                    while (kind() != program_body::run_kind::branch || !has_more_arms(in.next_body))
                        ++in.next_body;
                    end = {asked_of::branch, in.begin, bodies_[in.next_body].id, in.begin == last};
                    in.next_body += to_.flat.program.successors(n).size();
                }
            }
        }
        to_.end_of.push_back(end);
    }
    /// The next body is a branch of the same choice.
    bool has_more_arms(std::size_t body) const
    {
        return body + 1 != bodies_.size() && bodies_[body + 1].key == bodies_[body].key &&
               tree_.body(bodies_[body + 1].id).kind == program_body::run_kind::branch;
    }

    program_tree const& tree_;
    nested_program& to_;
    std::vector<sort_key> bodies_; // {parent and step, body, body}
    std::vector<open_step> open_;
};

SUBLET_DECL nested_program lower_nested(program_tree const& tree, flat_tree_with_options const& flattened,
                                        memory_plan const* plan)
{
    snapshot const& p = flattened.flat.program;
    table<position_id, step_id> steps(p.steps());
    for (position_id at = 0; at != steps.size(); ++at) steps[at] = step_id::of(+at);
    plan_options options = plan == nullptr ? flattened.all : options_of_plan(p, flattened.all, *plan);
    options.order.clear();
    nested_program result{
        flattened.flat, lower_program(p, options, std::move(steps)), {}, {}, {}, {}, {}, {}, {}};
    nested_lowering(tree, result).write();
    return result;
}

SUBLET_DECL nested_program proved_nested(program_tree const& tree, flat_tree_with_options const& flattened,
                                         memory_plan const* plan, executor_options const& settings)
{
    bool const proves = settings.prove && settings.check != executor_options::checks::off;
    if (proves && plan != nullptr)
        if (verdict const valid = check_flow_plan(flattened.flat.program, *plan, flattened.all); !valid)
            throw unsound_plan(valid.error());
    return lower_nested(tree, flattened, plan);
}

} // namespace sublet::detail

// SPDX-License-Identifier: BSL-1.0

/// nested_walk: a loop begins to count where its step begins; an iteration begins where its header is left
/// for the body. A move copies what both values have, unless they begin at the same address.

#include <sublet/execution/detail/path_checker.hpp>
#include <sublet/execution/nested.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <cstring>

namespace sublet {

SUBLET_DECL nested_choice::nested_choice(detail::nested_program const& run,
                                         detail::value_storage const& values, node_id at, std::uint64_t begun)
    : program(run.flat.step_of[run.end_of[at].step].program),
      step(run.flat.step_of[run.end_of[at].step].step), body(run.end_of[at].body),
      alternatives(run.flat.program.successors(at).size()), iteration(begun), run_(&run), values_(&values),
      at_(at)
{
}

SUBLET_DECL std::span<std::byte const> nested_choice::in(std::size_t i) const
{
    auto const row = run_->uses[end().step];
    SUBLET_EXPECTS(i < row.size(), "sublet: a choice at step % of program % accesses operand % of %", step,
                   program, i, row.size());
    snapshot const& p = run_->flat.program;
    bool is_held = false, is_whole = true;
    for (touch t : p.touches(end().step))
        is_held = is_held || (t.value == row[i] && t.kind != touch::access::use_early);
    if (end().what == detail::asked_of::successor)
        for (overwrite o : p.overwrites(end().step)) is_whole = is_whole && o.in != row[i];
    bool const is_at_beginning = end().is_behind && end().what == detail::asked_of::branch;
    SUBLET_EXPECTS(is_whole && (is_held || is_at_beginning),
                   "sublet: a choice at step % of program % accesses operand %, which may be overwritten",
                   step, program, i);
    return values_->value_bytes(run_->lowered, row[i]);
}

namespace detail {

SUBLET_DECL nested_walk::nested_walk(nested_program const& run, value_storage& values,
                                     path_liveness const& live, executor_options::checks check)
    : run_(run), values_(values), begun_(run.loop_of.size(), 0)
{
    if (check >= executor_options::checks::paint)
        checker_.emplace(run.flat.program, run.lowered, live, values,
                         check == executor_options::checks::digest);
}

SUBLET_DECL void nested_walk::begin_step(step_id s)
{
    for (program_id b : run_.bodies[s]) begun_[b] = 0;
    values_.before(run_.lowered, position_id::of(+s));
    if (checker_) checker_->before(s);
    flat_tree::step const of = run_.flat.step_of[s];
    if (of.part != flat_tree::part::move) return;
    flat_tree::move const& m = run_.flat.moves[of.step];
    std::span<std::byte> const from = values_.value_bytes(run_.lowered, m.from);
    std::span<std::byte> const to = values_.value_bytes(run_.lowered, m.to);
    std::size_t const size = std::min(from.size(), to.size());
    if (size == 0 || from.data() == to.data()) return;
    std::memmove(to.data(), from.data(), size);
    ++copies;
}

SUBLET_DECL bool nested_walk::has_call(step_id s) const
{
    flat_tree::part const part = run_.flat.step_of[s].part;
    return part == flat_tree::part::whole || part == flat_tree::part::end ||
           (part == flat_tree::part::beginning && !run_.defs[s].empty());
}

SUBLET_DECL std::uint64_t nested_walk::iteration(step_id s) const
{
    program_id const loop = run_.loop_of[run_.flat.step_of[s].program];
    return loop == 0 ? 0 : begun_[loop] - 1;
}

SUBLET_DECL void nested_walk::end_step(step_id s)
{
    if (checker_) checker_->after(s);
    steps += has_call(s);
}

SUBLET_DECL void nested_walk::discard(step_id s)
{
    if (checker_) checker_->discard(s);
}

SUBLET_DECL std::uint64_t nested_walk::begun(node_id n) const
{
    nested_program::node_end const& end = run_.end_of[n];
    return end.what == asked_of::loop ? begun_[end.body] : iteration(end.step);
}

SUBLET_DECL node_id nested_walk::follow(node_id n, std::size_t answer)
{
    snapshot const& p = run_.flat.program;
    discard(p.steps_of(n).last - 1);
    auto const next = p.successors(n);
    if (next.empty()) return no_node;
    nested_program::node_end const& end = run_.end_of[n];
    SUBLET_EXPECTS(
        answer < next.size(), "sublet: at step % of program % way % is chosen, but there are only % of them",
        run_.flat.step_of[end.step].step, run_.flat.step_of[end.step].program, answer, next.size());
    node_id to = next[answer];
    if (end.what == asked_of::loop) {
        to = next[1 - answer]; // the body comes first
        begun_[end.body] += answer;
    }
    if (checker_) checker_->follow(n, to);
    return to;
}

SUBLET_DECL void nested_walk::finish() const
{
    if (checker_) checker_->finish();
}

SUBLET_DECL value_id nested_runner::flat(tree_value v) const
{
    auto const& flat_of = run_.flat.flat_of;
    SUBLET_EXPECTS(v.program < flat_of.size(),
                   "sublet: an executor is called with program %, but there are only % programs", v.program,
                   flat_of.size());
    SUBLET_EXPECTS(v.value < flat_of[v.program].size(),
                   "sublet: an executor is called with value % of program %, which has only % values",
                   v.value, v.program, flat_of[v.program].size());
    return flat_of[v.program][v.value];
}

} // namespace detail

} // namespace sublet

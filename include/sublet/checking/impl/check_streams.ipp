// SPDX-License-Identifier: BSL-1.0

/// Three passes: over the commands, for blocks; over the touches, each against the allocation and the
/// release of its block; over the pairs of conflicting touches. Each asks the vector clocks, and the first
/// pass with a fault ends the check.

#include <sublet/checking/check_streams.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/checking/internal/conflict_scan.hpp>
#include <sublet/checking/internal/stream_clocks.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

class stream_checker {
public:
    explicit stream_checker(stream_commands const& list)
        : list_(list), clocks_(list), allocated_(list.blocks.size(), no_step),
          released_(list.blocks.size(), no_step)
    {
    }

    std::optional<counterexample> find(bool must_release)
    {
        follow_blocks();
        if (!found_) follow_touches();
        if (!found_) follow_races();
        for (std::uint32_t b = 0; must_release && !found_ && b != allocated_.size(); ++b)
            if (allocated_[b] != no_step && released_[b] == no_step)
                report(fault::leaked, {.first = allocated_[b], .block = b});
        if (!found_) return std::nullopt;
        return counterexample{what_, *found_};
    }

private:

    /// Keeps the fault with the lowest second command.
    void report(fault what, counterexample::commands its)
    {
        if (found_ && found_->second <= its.second) return;
        if (its.first != no_step) {
            its.first_stream = list_.operations[its.first].stream;
            its.first_step = step_of(its.first);
        }
        if (its.second != no_step) {
            its.second_stream = list_.operations[its.second].stream;
            its.second_step = step_of(its.second);
        }
        found_ = its;
        what_ = what;
    }
    step_id step_of(std::uint32_t command) const
    {
        stream_commands::operation const& operation = list_.operations[command];
        return operation.what == stream_commands::operation_kind::work ? step_id{operation.which} : no_step;
    }
    bool is_given(std::uint32_t block) const
    {
        return block < list_.blocks.size() && list_.blocks[block].is_given;
    }

    void follow_blocks()
    {
        for (std::uint32_t i = 0; i != list_.operations.size() && !found_; ++i) {
            stream_commands::operation const& operation = list_.operations[i];
            if (operation.what == stream_commands::operation_kind::wait && !clocks_.is_recorded(i))
                report(fault::unrecorded, {.second = i, .block = operation.which});
            if (operation.what != stream_commands::operation_kind::allocate &&
                operation.what != stream_commands::operation_kind::release)
                continue;
            SUBLET_EXPECTS(operation.which < list_.blocks.size(),
                           "sublet: command % names block %, but there are only % blocks", i, operation.which,
                           list_.blocks.size());
            std::uint32_t &made = allocated_[operation.which], &freed = released_[operation.which];
            if (operation.what == stream_commands::operation_kind::allocate) {
                if (made != no_step || is_given(operation.which))
                    report(fault::double_allocation, {.first = made, .second = i, .block = operation.which});
                made = i;
            } else if (made == no_step && !is_given(operation.which)) {
                report(fault::never_allocated, {.second = i, .block = operation.which});
            } else if (freed != no_step) {
                report(fault::double_release, {.first = freed, .second = i, .block = operation.which});
            } else {
                if (made != no_step && !clocks_.is_before(made, i))
                    report(fault::use_before_allocation,
                           {.first = made, .second = i, .block = operation.which});
                freed = i;
            }
        }
    }

    void follow_touches()
    {
        for (byte_access const& t : list_.touches) {
            SUBLET_EXPECTS(
                t.at < list_.operations.size() && t.space < list_.blocks.size(),
                "sublet: a touch of value % names command % of %, or a block that does not exist: %", t.value,
                t.at, list_.operations.size(), t.space);
            if (t.begin >= t.end) continue;
            counterexample::commands f{
                .second = t.at, .second_value = t.value, .block = t.space, .begin = t.begin, .end = t.end};
            if (t.end > list_.blocks[t.space].bytes) report_as(f, fault::out_of_bounds, no_step);
            std::uint32_t const made = allocated_[t.space], freed = released_[t.space];
            bool const is_there = is_given(t.space) || (made != no_step && made < t.at);
            if (!is_there) report_as(f, fault::never_allocated, no_step);
            else if (made != no_step && !clocks_.is_before(made, t.at))
                report_as(f, fault::use_before_allocation, made);
            else if (freed < t.at) report_as(f, fault::use_after_release, freed);
            else if (freed != no_step && !clocks_.is_before(t.at, freed))
                report(fault::freed_in_use, {.first = t.at,
                                             .second = freed,
                                             .first_value = t.value,
                                             .block = t.space,
                                             .begin = t.begin,
                                             .end = t.end});
        }
    }
    void report_as(counterexample::commands f, fault what, std::uint32_t first)
    {
        f.first = first;
        report(what, f);
    }

    void follow_races()
    {
        for_conflicting_pairs(list_.touches,
                              [this](std::uint32_t earlier, std::uint32_t later, race const& r) {
                                  if (found_ || clocks_.is_before(earlier, later)) return;
                                  report(fault::race, {.first = earlier,
                                                       .second = later,
                                                       .first_value = r.first_value,
                                                       .second_value = r.second_value,
                                                       .block = r.space,
                                                       .begin = r.begin,
                                                       .end = r.end});
                              });
    }

    stream_commands const& list_;
    stream_clocks clocks_;
    std::vector<std::uint32_t> allocated_, released_; // by block: the command
    fault what_ = fault::race;
    std::optional<counterexample::commands> found_{};
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_streams(stream_commands const& list, bool must_release)
{
    return detail::stream_checker(list).find(must_release);
}

} // namespace sublet

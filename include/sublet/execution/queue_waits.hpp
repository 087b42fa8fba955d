// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_QUEUE_WAITS_HPP
#define SUBLET_EXECUTION_QUEUE_WAITS_HPP

/// What queues have to wait for: the steps of a plan run on given queues, each in order, and a wait for an
/// event of another queue keeps what the order of a queue does not. Neither a device nor an arena is needed.
///
///     std::cout << sublet::waits(list, planned, {.queue_of = {0, 1, 1, 0}});
///
///     queue 0    g-buffer ● ─────────────────► lighting      ●   an event is recorded
///                          ╲                  ╱               ╲   another queue waits for it
///     queue 1               ► occlusion ─► soften ●          here lighting need not wait for occlusion, too
///
/// Rounds of the same arena may overlap: then the steps that begin a round wait for those of the round before
/// that used their bytes, and no queue has to wait for the end of a round.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/edges.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/reporting/internal/name_texts.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Which step runs on which queue.
struct queue_options {
    table<step_id, std::uint32_t> queue_of = {}; ///< by step; queues are numbered from 0, at most 1024
    std::vector<handoff> handoffs = {};          ///< order to be kept, too, as in edges()
    bool repeats = false; ///< a round may begin before the one before has ended, in each queue
};

/// The waits between queues.
struct queue_waits {
    /// The steps of each queue, in the order in which it runs them.
    std::vector<std::vector<step_id>> queues;
    /// `to` waits until `from`, on another queue, has ended: sorted by `to`, `from`; none implied by others
    /// or by the order of a queue.
    std::vector<step_edges::edge> list;
    /// The same for `from` in the round before; only if rounds repeat.
    std::vector<step_edges::edge> next_round;
    /// The steps after which an event is recorded, because a wait of either list is for it: those of each
    /// queue in its order, queue by queue.
    std::vector<step_id> events;
    std::size_t implied = 0;      ///< edges between queues, within a round, that need no wait
    std::size_t depth = 0;        ///< steps of the longest chain, by queues and waits, of one round
    std::vector<char> names = {}; ///< of steps, as in step_edges
};

/// The waits of a plan, its steps spread over queues.
///
/// Requires:   as edges(); each step has a queue. If rounds repeat, no value of the arena is an input or an
///             output: the caller writes or reads it between two rounds. It may be external, or state, or
///             carried from each round to the next.
/// Ensures:    every run in which each queue runs its steps in order, and keeps the waits, leaves what the
///             steps leave one after another, round for round. Left out, any one of them is missed by some
///             run of these edges; of the next round, where each access is taken for one of all its storage,
///             and what is carried over several rounds for what is carried over one.
/// Complexity: that of edges(), O((steps + edges) queues) and, if rounds repeat, that of aliases() and
///             O((aliases + buffers) queues^2 log).
/// Throws:     as edges(); precondition_error for a step without a queue.
[[nodiscard]] queue_waits waits(snapshot const& p, arena const& planned, plan_options const& options,
                                queue_options const& queues);
/// The same for a listing: steps have their names, also in errors.
template <detail::listed L>
[[nodiscard]] queue_waits waits(L const& list, arena const& planned, queue_options const& queues)
{
    try {
        return list.named(waits(list.program(), planned, list.options(), queues));
    } catch (unsound_plan const& found) {
        throw unsound_plan(list.named(verdict(found.why())).error());
    }
}

/// Writes how many waits there are to any text stream, and for each queue its steps, their waits and events.
/// Control characters in names are dropped, and bytes that are not UTF-8 become '?'.
///
/// Complexity: O(output + steps (waits + events)).
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, queue_waits const& found)
{
    detail::plain_text<Stream> text{out};
    detail::name_texts<step_id> steps(found.names);
    auto counted = [&](std::size_t count, char const* what) {
        text << count << ' ' << what << (count == 1 ? "" : "s");
    };
    counted(found.list.size() + found.next_round.size(), "wait");
    text << " for ";
    counted(found.events.size(), "event");
    if (!found.next_round.empty()) text << ", " << found.next_round.size() << " of the round before";
    if (found.implied != 0) text << ", and " << found.implied << " more are implied";
    text << "; ";
    counted(found.depth, "step");
    text << " deep";
    auto write_step = [&](step_id s) {
        steps.write(text, s);
        char const* before = " (after ";
        for (auto const* list : {&found.list, &found.next_round})
            for (step_edges::edge e : *list) {
                if (e.to != s) continue;
                text << before;
                steps.write(text, e.from);
                if (list == &found.next_round) text << " of the round before";
                before = ", ";
            }
        for (step_id recorded : found.events)
            if (recorded == s) {
                text << (*before == ',' ? "; " : " (") << "event";
                before = ",";
            }
        if (*before == ',') text << ')';
    };
    for (std::size_t q = 0; q != found.queues.size(); ++q)
        for (step_id s : found.queues[q]) {
            if (s == found.queues[q].front()) text << "\nqueue " << q << ": ";
            else text << ", ";
            write_step(s);
        }
    return out;
}

/// Writes the waits as one JSON document. `steps`: names, if not those of the waits.
///
///     {
///      "sublet_waits": 1,
///      "steps": ["load", "blur", "show"],
///      "queues": [[0, 2], [1]],
///      "depth": 3,
///      "events": [0, 1],
///      "waits": [
///       {"from": 0, "to": 1, "why": "data"},
///       {"from": 1, "to": 2, "why": "data"}
///      ],
///      "next_round": []
///     }
///
/// Version 1 of the schema: `steps` are the names by id; all other numbers but `depth` are their ids, and
/// `why` is as in the document of step_edges.
///
/// Ensures:    it is UTF-8, as what write_json() writes of a plan. Equal waits and names give equal bytes.
/// Complexity: O(output); a name is asked for once.
/// Throws:     whatever the stream and the names throw; std::bad_alloc.
template <detail::text_stream Stream>
Stream& write_json(Stream& out, queue_waits const& found, names_of<step_id> const& steps = {})
{
    detail::plain_text<Stream> text{out};
    detail::name_texts<step_id> names(found.names, steps);
    std::size_t count = 0;
    for (auto const& queue : found.queues) count += queue.size();
    text << "{\n \"sublet_waits\": 1,\n \"steps\": ";
    names.write_json_list(text, count);
    text << ",\n \"queues\": [";
    for (std::size_t q = 0; q != found.queues.size(); ++q) {
        if (q != 0) text << ", ";
        detail::write_json_ids(text, found.queues[q]);
    }
    text << "],\n \"depth\": " << found.depth << ",\n \"events\": ";
    detail::write_json_ids(text, found.events);
    text << ",\n \"waits\": ";
    detail::write_json_edges(text, found.list);
    text << ",\n \"next_round\": ";
    detail::write_json_edges(text, found.next_round);
    text << "\n}\n";
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/queue_waits.ipp>
#endif

#endif

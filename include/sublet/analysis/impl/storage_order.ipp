// SPDX-License-Identifier: BSL-1.0

/// Accesses are taken in listed order. A segment tree over the bytes knows, of each node, the last write and
/// the reads since, so each access finds those that it has to follow; waits that edges or data imply are
/// dropped at once.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL listed_touches::listed_touches(snapshot const& program, std::vector<node_id> const& order)
    : p(program), steps(steps_in_order(program, order))
{
    for (node_id n = 0; n != p.nodes(); ++n) node_of.resize(p.steps_of(n).last, n);
    auto const uses = p.edge_uses();
    ends = csr_rows<node_id, std::uint32_t>::gathered(p.nodes(), [uses](auto add) {
        for (std::uint32_t i = 0; i != uses.size(); ++i) add(uses[i].pred, i);
    });
}

/// The accesses of ranges of segments so far, and which of them the next one has to follow.
///
///     segments    0       1       2       3     w writes 0 to 3, v writes 2, r reads 2 and 3: w and r cover
///     nodes nodes       └─ 0-1 ─┘       └─ 2-3 ─┘     of more than one segment. A read of all follows v and
///     w; a
///                     └───── 0-3 ─────┘         write of all follows r, which follows v, and w for 0 and 1.
///
/// A segment tree. Accesses are numbered from 1, and a node knows the last ones that cover it, and those
/// under it. Of the reads that cover a node it keeps those since the last write under it: that write follows
/// the reads before it, and they follow it. So reads of a whole that alternate with writes of parts are a
/// chain.
///
/// Complexity: an access takes O(log^2 segments), and O(log segments) for each access that it has to follow.
class range_accesses {
public:
    explicit range_accesses(ordered_bytes const& bytes)
        : tree_{bytes.segments}, nodes_(2 * std::size_t{bytes.segments})
    {
        for (segment_range r : bytes.of) tree_.each(r, [this](std::size_t n) { nodes_[n].is_used = true; });
        for (std::size_t n = 2; n < nodes_.size(); ++n) nodes_[n].is_used |= nodes_[n / 2].is_used;
    }

    /// Calls `visit` for steps to follow, for some more than once.
    template <class Visit>
    void read(segment_range r, step_id s, Visit visit)
    {
        number const now = add(s);
        tree_.each(r, [&](std::size_t n) {
            node& at = nodes_[n];
            number const above = covers(n).write;
            if (!at.reads.empty() && larger(above, at.last_write) > at.reads.back()) {
                at.followed = at.reads.back();
                at.reads.clear();
            }
            visit_writes(n, above, at.followed, visit);
            at.reads.push_back(now);
            at.covering.read = at.all.read = now;
        });
        each_over_ends(r, [&](std::size_t n) {
            update(n);
            std::vector<number>& parts = nodes_[n].reads_of_parts;
            if (nodes_[n].covering.read != now && (parts.empty() || parts.back() != now))
                parts.push_back(now);
        });
    }
    template <class Visit>
    void write(segment_range r, step_id s, Visit visit)
    {
        number const now = add(s);
        tree_.each(r, [&](std::size_t n) {
            last_accesses const above = covers(n);
            for (std::size_t m = n / 2; nodes_[m].is_used; m /= 2)
                visit_newer(nodes_[m].reads, larger(above.write, nodes_[n].all.write), visit);
            visit_overwritten(n, above, visit);
            nodes_[n].covering.write = nodes_[n].all.write = nodes_[n].last_write = now;
        });
        each_over_ends(r, [&](std::size_t n) {
            update(n);
            nodes_[n].last_write = now;
        });
    }

private:
    using number = std::uint32_t;
    struct last_accesses {
        number write = 0, read = 0;
    };
    struct node {
        last_accesses covering;    // of the whole node, by itself
        last_accesses all;         // each segment has one from this on, those of ancestors not counted
        number last_write = 0;     // of a segment under it, or of all
        number followed = 0;       // writes up to this one precede another that `reads` follow
        std::vector<number> reads; // of the whole node
        std::vector<number> reads_of_parts; // of segments under it
        bool is_used = false;               // under a node of some range, or one
    };

    number add(step_id s)
    {
        step_of_.push_back(s);
        return static_cast<number>(step_of_.size() - 1);
    }
    /// The used nodes of each_over_ends().
    template <class Visit>
    void each_over_ends(segment_range r, Visit visit) const
    {
        tree_.each_over_ends(r, [&](std::size_t n) {
            if (nodes_[n].is_used) visit(n);
            return nodes_[n].is_used;
        });
    }
    /// Of the ancestors.
    last_accesses covers(std::size_t n) const
    {
        last_accesses last;
        while (nodes_[n /= 2].is_used) {
            last.write = larger(last.write, nodes_[n].covering.write);
            last.read = larger(last.read, nodes_[n].covering.read);
        }
        return last;
    }
    void update(std::size_t n)
    {
        node& at = nodes_[n];
        last_accesses below;
        if (n < tree_.leaves) {
            last_accesses const left = nodes_[2 * n].all, right = nodes_[2 * n + 1].all;
            below = {smaller(left.write, right.write), smaller(left.read, right.read)};
        }
        at.all.write = larger(at.covering.write, below.write);
        at.all.read = larger(at.covering.read, below.read);
    }
    bool has_newer_write_below(std::size_t n, number than) const
    {
        return n < tree_.leaves && larger(nodes_[2 * n].last_write, nodes_[2 * n + 1].last_write) > than;
    }

    template <class Visit>
    void visit_newer(std::vector<number> const& list, number than, Visit& visit) const
    {
        for (std::size_t i = list.size(); i != 0 && list[i - 1] > than; --i) visit(step_of_[list[i - 1]]);
    }
    /// The last writes of the segments of n, without those up to `followed`; `above` is of the ancestors.
    template <class Visit>
    // NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
    void visit_writes(std::size_t n, number above, number followed, Visit& visit) const
    {
        number const last = larger(above, nodes_[n].covering.write);
        if (has_newer_write_below(n, larger(last, followed))) {
            visit_writes(2 * n, last, followed, visit);
            visit_writes(2 * n + 1, last, followed, visit);
        } else if (last > followed) {
            visit(step_of_[last]);
        }
    }
    /// The reads at and under n since its last writes, and last writes of segments that were not read since.
    template <class Visit>
    // NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
    void visit_overwritten(std::size_t n, last_accesses above, Visit& visit) const
    {
        node const& at = nodes_[n];
        visit_newer(at.reads, larger(above.write, at.all.write), visit);
        above = {larger(above.write, at.covering.write), larger(above.read, at.covering.read)};
        if (has_newer_write_below(n, above.write)) {
            visit_overwritten(2 * n, above, visit);
            visit_overwritten(2 * n + 1, above, visit);
            return;
        }
        visit_newer(at.reads_of_parts, above.write, visit);
        if (larger(above.read, at.all.read) < above.write) visit(step_of_[above.write]);
    }

    segment_nodes tree_;
    std::vector<node> nodes_;
    std::vector<step_id> step_of_{no_step}; // by access
};

SUBLET_DECL std::vector<handoff> storage_order(snapshot const& p, ordered_bytes const& bytes,
                                               std::vector<node_id> const& order)
{
    listed_touches const listed(p, order);
    table<value_id, step_id> def_of(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (t.defines()) def_of[t.value] = s;

    std::vector<handoff> found;                          // by `to`, each once
    table<step_id, step_id> last_to(p.steps(), no_step); // of each `from`
    range_accesses accesses(bytes);
    // Of each node: the end of its steps that are known to precede the current one.
    table<node_id, step_id> ordered_before(p.nodes(), 0);
    std::vector<node_id> marked;
    auto mark = [&](node_id n, step_id end) {
        if (ordered_before[n] == 0) marked.push_back(n);
        ordered_before[n] = larger(ordered_before[n], end);
    };
    for (step_id s : listed.steps) {
        node_id const n = listed.node_of[s];
        if (s == p.steps_of(n).first) {
            for (node_id m : marked) ordered_before[m] = 0;
            marked.clear();
            for (node_id m : p.predecessors(n)) mark(m, p.steps_of(m).last);
        }
        mark(n, s);
        listed.each(s, [&](std::size_t, touch t) {
            step_id const writer = def_of[t.value];
            if (!t.defines() && writer != no_step && writer != s) mark(listed.node_of[writer], writer + 1);
        });
        auto order_after = [&](step_id first) {
            bool const is_known = first == s || first < ordered_before[listed.node_of[first]];
            if (!is_known && std::exchange(last_to[first], s) != s) found.push_back({first, s});
        };
        listed.each(s, [&](std::size_t, touch t) {
            segment_range const its = bytes.of[t.value];
            if (t.kind == touch::access::view || is_empty(its)) return;
            if (t.writes()) accesses.write(its, s, order_after);
            else accesses.read(its, s, order_after);
        });
    }
    auto const before = csr_rows<step_id, step_id>::gathered(p.steps(), [&](auto add) {
        for (handoff h : found) add(h.to, h.from);
    });
    csr_rows<step_id, step_id> const after = before.transposed(p.steps());
    found.clear();
    for (step_id from = 0; from != p.steps(); ++from)
        for (step_id to : after[from]) found.push_back({from, to});
    return found;
}

} // namespace sublet::detail

// SPDX-License-Identifier: BSL-1.0

/// Nodes with one edge in and one edge out are taken from a list, and become part of the branch that replaces
/// both edges; a table by ends finds the branch that is parallel to it, and those of the same ends are merged
/// when the last of them is known. Segments are lists in one pool: what is appended is joined to the last
/// segment as long as the two would not be cut.

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/series_parallel.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

// --- branches --------------------------------------------------------------------------------------------

class branch_reduction {
public:
    branch_reduction(order_graph const& g, std::uint64_t most);
    [[nodiscard]] contracted_graph result();

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// Nodes that run without a pause; in bytes relative to those live before them.
    struct segment {
        node_id first, last;
        std::uint32_t next = none, previous = none;
        std::int64_t rise = 0, net = 0; ///< the most while they run; when they have run
        bool is_known = false;          ///< `rise` and `net` are
        [[nodiscard]] bool falls() const { return net <= 0; }
    };
    struct branch {
        std::uint32_t from, to; ///< nodes, the source or the sink
        std::uint32_t first = none, last = none;
        bool is_known = true; ///< all its segments are
        bool is_open = false; ///< other nodes touch its buffers
        /// The last of the branches parallel to it that are to be merged with it, and of those the one
        /// before.
        std::uint32_t beside = none, beside_before = none;
    };

    [[nodiscard]] std::uint32_t source() const { return static_cast<std::uint32_t>(g_.nodes()); }
    [[nodiscard]] std::uint32_t sink() const { return source() + 1; }

    void add_branch(std::uint32_t from, std::uint32_t to);
    void reduce(node_id n);
    void join_parallel(std::uint32_t added);
    void list_if_serial(std::uint32_t node);
    std::uint32_t& parallel_to(branch const& b);

    [[nodiscard]] bool is_touched_by(std::uint32_t end, buffer_id b) const;
    bool know(branch& b);
    bool are_touches_closed();
    void measure(branch& b);
    void append(branch& b, std::uint32_t s);
    [[nodiscard]] bool joins(segment const& a, segment const& b) const;
    [[nodiscard]] branch merged(branch const& a, branch const& b);
    void merge_all(branch& b);

    order_graph const& g_;
    csr_rows<node_id, touched_buffer> touches_;
    bool is_first_special_ = false, is_limited_ = false;
    std::uint64_t work_left_ = 0;

    std::vector<branch> branches_;
    std::vector<unsigned char> is_gone_;          // by branch
    std::vector<std::uint32_t> in_, out_;         // by node: how many branches
    std::vector<std::uint64_t> in_sum_, out_sum_; // the sum of their numbers
    std::vector<std::uint32_t> cells_;            // branches by their ends: a power of two, half of it empty
    std::vector<node_id> serial_;                 // nodes with one branch in and one out
    table<node_id, unsigned char> is_inside_;     // of a branch

    std::vector<segment> segments_;
    table<node_id, node_id> next_; // in its segment

    table<buffer_id, std::uint32_t> touching_;     // nodes
    table<buffer_id, std::uint32_t> known_;        // of them, in segments that are known
    table<buffer_id, unsigned char> begins_known_; // it begins in one
    table<buffer_id, unsigned char> ends_known_;
    // While a branch is judged, of the nodes that are not known:
    table<buffer_id, std::uint32_t> count_;
    table<buffer_id, node_id> first_touch_, last_touch_;
    table<buffer_id, unsigned char> is_before_, is_after_; // touched by the node at this end of the branch
    std::vector<node_id> unknown_;
    std::vector<branch> parallel_; // while they are merged
    std::vector<touched_buffer> touched_;
};

SUBLET_DECL branch_reduction::branch_reduction(order_graph const& g, std::uint64_t most)
    : g_(g), touches_(touches_of(g))
{
    std::size_t const nodes = g.nodes(), ends = nodes + 2, buffers = g.buffers();
    byte_count all = 0;
    touching_.assign(buffers, 0);
    for (node_id n = 0; n != nodes; ++n)
        for (touched_buffer const& t : touches_[n]) ++touching_[t.buffer];
    for (buffer_id b = 0; b != buffers; ++b) {
        all = all > no_size - g.size[b] ? no_size : all + g.size[b];
        is_first_special_ =
            is_first_special_ || (touching_[b] == 0 && g.is_given[b] != 0 && g.is_kept[b] == 0);
    }
    is_limited_ = all >> 63 != 0;
    for (step_id s = 0; s != g.early.rows(); ++s)
        for (buffer_id b : g.early[s]) is_first_special_ = is_first_special_ || g.is_given[b] != 0;

    known_.assign(buffers, 0);
    begins_known_.assign(buffers, 0);
    ends_known_.assign(buffers, 0);
    count_.assign(buffers, 0);
    first_touch_.assign(buffers, no_node);
    last_touch_.assign(buffers, no_node);
    is_before_.assign(buffers, 0);
    is_after_.assign(buffers, 0);
    next_.assign(nodes, no_node);
    is_inside_.assign(nodes, 0);
    in_.assign(ends, 0);
    out_.assign(ends, 0);
    in_sum_.assign(ends, 0);
    out_sum_.assign(ends, 0);
    work_left_ = most * (std::uint64_t{nodes} + g.after.items() + touches_.items());

    std::size_t cells = 64;
    while (cells < 4 * (g.after.items() + 2 * nodes)) cells *= 2;
    cells_.assign(cells, none);
    for (node_id n = 0; n != nodes; ++n) {
        if (g.before[n].empty()) add_branch(source(), n);
        for (node_id next : g.after[n]) add_branch(n, next);
        if (g.after[n].empty()) add_branch(n, sink());
    }
    for (node_id n = 0; n != nodes; ++n) list_if_serial(n);
    while (!serial_.empty()) {
        node_id const n = serial_.back();
        serial_.pop_back();
        if (!is_inside_[n]) reduce(n);
    }
    for (std::uint32_t i = 0; i != branches_.size(); ++i)
        if (!is_gone_[i]) {
            merge_all(branches_[i]);
            know(branches_[i]);
        }
}

SUBLET_DECL void branch_reduction::add_branch(std::uint32_t from, std::uint32_t to)
{
    auto const added = static_cast<std::uint32_t>(branches_.size());
    branches_.push_back({from, to});
    is_gone_.push_back(0);
    ++out_[from];
    out_sum_[from] += added;
    ++in_[to];
    in_sum_[to] += added;
    parallel_to(branches_[added]) = added;
}

/// The cell of the branch with these ends that was found last, or an empty one.
SUBLET_DECL std::uint32_t& branch_reduction::parallel_to(branch const& b)
{
    std::uint64_t const hash = ((std::uint64_t{b.from} << 32 | b.to) + 1) * 0x9e3779b97f4a7c15;
    for (auto at = static_cast<std::uint32_t>(hash >> 32);; ++at) {
        std::uint32_t& cell = cells_[at & (cells_.size() - 1)];
        if (cell == none || (branches_[cell].from == b.from && branches_[cell].to == b.to)) return cell;
    }
}

SUBLET_DECL void branch_reduction::list_if_serial(std::uint32_t node)
{
    if (node < source() && in_[node] == 1 && out_[node] == 1) serial_.push_back(node_id{node});
}

/// The branches into and out of a node and the node itself become the first of the two.
SUBLET_DECL void branch_reduction::reduce(node_id n)
{
    auto const kept = static_cast<std::uint32_t>(in_sum_[n]), gone = static_cast<std::uint32_t>(out_sum_[n]);
    branch &b = branches_[kept], &rest = branches_[gone];
    merge_all(b);
    merge_all(rest);
    auto const s = static_cast<std::uint32_t>(segments_.size());
    segments_.push_back({.first = n, .last = n});
    is_inside_[n] = 1;
    auto link = [&](std::uint32_t first, std::uint32_t last) {
        if (first == none) return;
        segments_[first].previous = b.last;
        if (b.last != none) segments_[b.last].next = first;
        else b.first = first;
        b.last = last;
    };
    link(s, s);
    link(rest.first, rest.last);
    b.to = rest.to;
    b.is_known = false;
    b.is_open = b.is_open || rest.is_open;
    is_gone_[gone] = 1;
    in_sum_[b.to] = in_sum_[b.to] - gone + kept;
    join_parallel(kept);
}

/// A branch is to be merged with one of the same ends, if there is one and both are closed.
SUBLET_DECL void branch_reduction::join_parallel(std::uint32_t added)
{
    branch& b = branches_[added];
    std::uint32_t& cell = parallel_to(b);
    if (cell == none || cell == added) {
        cell = added;
        return;
    }
    branch& other = branches_[cell];
    if (!know(other)) {
        cell = added;
        return;
    }
    if (!know(b)) return;
    b.beside_before = other.beside;
    other.beside = added;
    is_gone_[added] = 1;
    --out_[b.from];
    out_sum_[b.from] -= added;
    --in_[b.to];
    in_sum_[b.to] -= added;
    list_if_serial(b.from);
    list_if_serial(b.to);
}

// --- segments --------------------------------------------------------------------------------------------

/// Whether a node, the source or the sink touches a buffer.  O(log touches)
SUBLET_DECL bool branch_reduction::is_touched_by(std::uint32_t end, buffer_id b) const
{
    if (end >= source()) return false;
    auto const row = touches_[node_id{end}];
    std::size_t const at = partition_point(row.size(), [&](std::size_t i) { return row[i].buffer >= b; });
    return at != row.size() && row[at].buffer == b;
}

/// Makes segments of the nodes of a branch; false if it is not closed.
SUBLET_DECL bool branch_reduction::know(branch& b)
{
    if (b.is_known) return true;
    if (b.is_open || is_limited_ || (b.from == source() && is_first_special_)) return false;
    unknown_.clear();
    std::uint64_t looked_at = 0;
    for (std::uint32_t s = b.first; s != none; s = segments_[s].next) {
        ++looked_at;
        if (segments_[s].is_known) continue;
        unknown_.push_back(segments_[s].first);
        looked_at += touches_[segments_[s].first].size();
    }
    if (looked_at > work_left_) return false;
    work_left_ -= looked_at;

    for (node_id n : unknown_)
        for (touched_buffer const& t : touches_[n]) {
            is_before_[t.buffer] = is_touched_by(b.from, t.buffer);
            is_after_[t.buffer] = is_touched_by(b.to, t.buffer);
            ++count_[t.buffer];
            if (first_touch_[t.buffer] == no_node) first_touch_[t.buffer] = n;
            last_touch_[t.buffer] = n;
        }
    b.is_open = !are_touches_closed();
    if (!b.is_open) measure(b);
    for (node_id n : unknown_)
        for (touched_buffer const& t : touches_[n]) {
            count_[t.buffer] = 0;
            first_touch_[t.buffer] = no_node;
        }
    return !b.is_open;
}

/// A buffer that is live throughout a branch may be touched anywhere.
SUBLET_DECL bool branch_reduction::are_touches_closed()
{
    for (node_id n : unknown_)
        for (touched_buffer const& t : touches_[n]) {
            buffer_id const b = t.buffer;
            bool const is_live_throughout = (t.is_begun || is_before_[b]) && (t.is_needed || is_after_[b]);
            if (!is_live_throughout && count_[b] + known_[b] + is_before_[b] + is_after_[b] != touching_[b])
                return false;
        }
    return true;
}

/// The bytes of the nodes that are not known, and with them the segments of the branch.
SUBLET_DECL void branch_reduction::measure(branch& b)
{
    auto begins = [&](touched_buffer const& t) {
        return !t.is_begun && !is_before_[t.buffer] && !begins_known_[t.buffer];
    };
    auto ends = [&](touched_buffer const& t) {
        return !t.is_needed && !is_after_[t.buffer] && !ends_known_[t.buffer];
    };
    std::uint32_t s = b.first;
    b.first = b.last = none;
    for (std::uint32_t next = none; s != none; s = next) {
        segment& here = segments_[s];
        next = here.next;
        if (!here.is_known) {
            node_id const n = here.first;
            touched_.assign(touches_[n].begin(), touches_[n].end());
            byte_count through = 0, before = 0, after = 0;
            for (touched_buffer& t : touched_) {
                bool const is_begun = !(begins(t) && first_touch_[t.buffer] == n);
                bool const is_needed = !(ends(t) && last_touch_[t.buffer] == n);
                t.is_begun = is_begun;
                t.is_needed = is_needed;
                byte_count const size = g_.size[t.buffer];
                if (is_begun && is_needed) through += size;
                if (is_begun) before += size;
                if (is_needed) after += size;
            }
            auto const most = static_cast<std::int64_t>(bytes_while(g_, g_.steps[n], touched_, through));
            here.net = static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
            here.rise = most - static_cast<std::int64_t>(before);
            std::int64_t const least = here.net > 0 ? here.net : 0; // less if it frees what it reads early
            if (here.rise < least) here.rise = least;
            here.is_known = true;
        }
        append(b, s);
    }
    b.is_known = true;
    for (node_id n : unknown_)
        for (touched_buffer const& t : touches_[n]) {
            ++known_[t.buffer];
            if (last_touch_[t.buffer] != n) continue;
            begins_known_[t.buffer] = begins_known_[t.buffer] || begins(t);
            ends_known_[t.buffer] = ends_known_[t.buffer] || ends(t);
        }
}

/// No valley lies between them that a least peak needs.
SUBLET_DECL bool branch_reduction::joins(segment const& a, segment const& b) const
{
    if (a.falls() && b.falls()) return a.net + b.rise <= a.rise;
    if (!a.falls() && !b.falls()) return a.net + b.rise >= a.rise;
    return b.falls();
}

SUBLET_DECL void branch_reduction::append(branch& b, std::uint32_t s)
{
    segments_[s].previous = b.last;
    segments_[s].next = none;
    if (b.last == none) b.first = s;
    else segments_[b.last].next = s;
    b.last = s;
    while (segments_[s].previous != none && joins(segments_[segments_[s].previous], segments_[s])) {
        segment const& end = segments_[s];
        s = end.previous;
        segment& start = segments_[s];
        start.rise = start.rise < start.net + end.rise ? start.net + end.rise : start.rise;
        start.net += end.net;
        next_[start.last] = end.first;
        start.last = end.last;
        start.next = none;
        b.last = s;
    }
}

SUBLET_DECL branch_reduction::branch branch_reduction::merged(branch const& a, branch const& b)
{
    branch result{a.from, a.to};
    auto comes_first = [](segment const& x, segment const& y) {
        if (x.falls() != y.falls()) return x.falls();
        return x.falls() ? x.rise <= y.rise : x.rise - x.net >= y.rise - y.net;
    };
    std::uint32_t x = a.first, y = b.first;
    while (x != none || y != none) {
        bool const is_x = y == none || (x != none && comes_first(segments_[x], segments_[y]));
        std::uint32_t& from = is_x ? x : y;
        std::uint32_t const s = from;
        from = segments_[s].next;
        append(result, s);
        if (work_left_ != 0) --work_left_;
    }
    return result;
}

/// Merges a branch and those beside it, pair by pair: each segment is in a logarithm of merges.
SUBLET_DECL void branch_reduction::merge_all(branch& b)
{
    if (b.beside == none) return;
    parallel_.clear();
    for (std::uint32_t i = b.beside; i != none; i = branches_[i].beside_before)
        parallel_.push_back(branches_[i]);
    b.beside = none;
    parallel_.push_back(b);
    for (std::size_t count = parallel_.size(); count != 1; count = (count + 1) / 2)
        for (std::size_t i = 0; i < count; i += 2)
            parallel_[i / 2] = i + 1 == count ? parallel_[i] : merged(parallel_[i + 1], parallel_[i]);
    b = parallel_[0];
    b.beside = b.beside_before = none;
}

// --- contracted graph ------------------------------------------------------------------------------------

SUBLET_DECL contracted_graph branch_reduction::result()
{
    contracted_graph c;
    // Runs are numbered by their first nodes.
    table<node_id, std::uint32_t> begins(g_.nodes(), none); // a segment
    std::vector<node_id> after_first; // of each segment that follows another: both first nodes
    table<node_id, node_id> run(g_.nodes());
    for (std::uint32_t i = 0; i != branches_.size(); ++i) {
        if (is_gone_[i]) continue;
        for (std::uint32_t s = branches_[i].first; s != none; s = segments_[s].next) {
            begins[segments_[s].first] = s;
            if (segments_[s].next == none) continue;
            after_first.push_back(segments_[s].first);
            after_first.push_back(segments_[segments_[s].next].first);
        }
    }
    node_id runs = 0;
    for (node_id n = 0; n != g_.nodes(); ++n) {
        if (is_inside_[n] && begins[n] == none) continue;
        node_id const last = is_inside_[n] ? segments_[begins[n]].last : n;
        for (node_id at = n;; at = next_[at]) {
            run[at] = runs;
            c.run_of.append(at);
            if (at == last) break;
        }
        c.run_of.close_row();
        ++runs;
    }

    order_graph& result = c.graph;
    step_id steps = 0;
    for (node_id r = 0; r != runs; ++r) {
        step_id const first = steps;
        for (node_id n : c.run_of[r])
            for (step_id s = g_.steps[n].first; s != g_.steps[n].last; ++s, ++steps) {
                for (buffer_id b : g_.held[s]) result.held.append(b);
                for (buffer_id b : g_.early[s]) result.early.append(b);
                result.held.close_row();
                result.early.close_row();
                result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
                for (overwrite_pair const& pair : g_.pairs_of(s)) result.pairs.push_back(pair);
            }
        result.steps.push_back({first, steps});
    }
    result.first_pair.push_back(static_cast<std::uint32_t>(result.pairs.size()));
    result.size = g_.size;
    result.touch_count = g_.touch_count;
    result.is_given = g_.is_given;
    result.is_kept = g_.is_kept;

    auto const turned = csr_rows<node_id, node_id>::gathered(runs, [&](auto add) {
                            for (node_id n = 0; n != g_.nodes(); ++n)
                                for (node_id next : g_.after[n])
                                    if (run[n] != run[next]) add(run[next], run[n]);
                            for (std::size_t i = 0; i != after_first.size(); i += 2)
                                add(run[after_first[i + 1]], run[after_first[i]]);
                        }).transposed(runs);
    result.before = csr_rows<node_id, node_id>::gathered(runs, [&](auto add) {
        for (node_id from = 0; from != runs; ++from) {
            node_id last = no_node;
            for (node_id to : turned[from])
                if (to != last) add(last = to, from);
        }
    });
    result.after = result.before.transposed(runs);

    table<node_id, unsigned char> is_listed_run(runs, 0);
    for (node_id n : g_.listed)
        if (!is_listed_run[run[n]]) {
            is_listed_run[run[n]] = 1;
            result.listed.push_back(run[n]);
        }
    return c;
}

SUBLET_DECL std::vector<node_id> contracted_graph::expanded(std::vector<node_id> const& order) const
{
    std::vector<node_id> result;
    for (node_id r : order) result.insert(result.end(), run_of[r].begin(), run_of[r].end());
    return result;
}

SUBLET_DECL contracted_graph contracted(order_graph const& g, std::uint64_t most)
{
    contracted_graph result = branch_reduction(g, most).result();
    std::vector<node_id> const order = any_order(result.graph);
    result.is_path = true;
    for (std::size_t i = 1; i < order.size(); ++i)
        result.is_path = result.is_path && is_listed(result.graph.after[order[i - 1]], order[i]);
    return result;
}

} // namespace sublet::detail

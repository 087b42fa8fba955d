// SPDX-License-Identifier: BSL-1.0

/// Allocated storage is cut into segments at the borders of its values, and a bit for each says that it is
/// written. In a list one pass suffices; in control flow sets are intersected over the paths until nothing
/// changes. Storage that one node allocates and alone touches is decided within the node. If all
/// allocations are scratch, which nothing reads, a scan of the touches suffices.

#include <sublet/analysis/internal/contents.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The bytes of allocated storage, cut into segments at the borders of its values, and which are written.
class written_segments {
public:
    using set = std::vector<std::uint64_t>; // a bit for each segment; at least one word

    /// Of storage that only one node touches, which allocates it first; or of all other.
    enum class part : std::uint8_t { of_one_node, of_several };

    SUBLET_COLD written_segments(snapshot const& p, plan_options const& options, part which)
        : p_(p), of_(p.values()), role_(options.role.tabulate(p.values(), "role"))
    {
        std::size_t const values = p.values();
        table<value_id, value_id> const alias_of = options.alias_of.tabulate(values, "alias_of");
        buffer_classes const classes = classes_of(alias_of);
        table<value_id, byte_count> const bytes = options.bytes.tabulate(values, "bytes");
        table<value_id, byte_count> const begin =
            offsets_in_roots(alias_of, options.view_offset.tabulate(values, "view_offset"));
        table<buffer_id, unsigned char> is_allocated(classes.root.size(), 0), is_of_one(is_allocated);
        table<buffer_id, node_id> node(classes.root.size(), no_node); // the first that touches the storage
        auto touched = [&](buffer_id b, node_id n, bool is_allocation) {
            if (node[b] == no_node) node[b] = n, is_of_one[b] = is_allocation;
            if (node[b] != n) is_of_one[b] = 0;
            if (is_allocation) is_allocated[b] = 1;
        };
        for (node_id n = 0; n != p.nodes(); ++n)
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
                for (touch t : p.touches(s))
                    if (t.kind == touch::access::allocate) touched(classes.buffer_of[t.value], n, true);
                for (touch t : p.touches(s))
                    if (t.kind != touch::access::allocate) touched(classes.buffer_of[t.value], n, false);
            }
        for (edge_use u : p.edge_uses()) is_of_one[classes.buffer_of[u.value]] = 0;
        for (value_id v = 0; v != values; ++v) {
            buffer_id const b = classes.buffer_of[v];
            if (has_role(role_[v], value_role::output)) is_of_one[b] = 0;
            if (is_given(role_[v])) is_allocated[b] = 0; // its contents are given
        }
        for (buffer_id b = 0; b != is_allocated.size(); ++b)
            if ((which == part::of_one_node) != (is_of_one[b] != 0)) is_allocated[b] = 0;
        auto end_of = [&](value_id v) { // a size that is not known reaches to the end of the storage
            byte_count const whole = bytes[classes.root[classes.buffer_of[v]]];
            bool const is_known = bytes[v] != no_size && sum_fits(begin[v], bytes[v]);
            return is_known ? smaller(begin[v] + bytes[v], whole) : whole;
        };
        std::vector<sort_key> borders; // {buffer, byte, value}
        for (value_id v = 0; v != values; ++v) {
            root_.push_back(classes.root[classes.buffer_of[v]]);
            if (is_allocated[classes.buffer_of[v]] == 0 || begin[v] >= end_of(v)) continue;
            for (byte_count at : {begin[v], end_of(v)}) borders.push_back({classes.buffer_of[v], at, v});
        }
        sort_by_key(borders);
        for (std::size_t i = 0; i != borders.size(); ++i) {
            sort_key const& at = borders[i];
            bool const is_new = i == 0 || at.key != borders[i - 1].key || at.tie != borders[i - 1].tie;
            if (is_new) first_byte_.push_back(at.tie);
            auto const segment = static_cast<std::uint32_t>(first_byte_.size() - 1);
            value_id const v = at.id;
            if (at.tie == begin[v]) of_[v].first = segment;
            if (at.tie == end_of(v)) of_[v].last = segment;
        }
    }

    [[nodiscard]] bool is_empty() const { return first_byte_.empty(); }
    [[nodiscard]] set with_all(bool are_written) const
    {
        return set(first_byte_.size() / 64 + 1, are_written ? ~std::uint64_t{0} : 0);
    }

    /// What is written after the steps of a node; `missing(value, step, segment)` is called for each read of a
    /// value of which a segment is not.
    template <class Missing>
    void pass(node_id n, set& written, Missing missing) const
    {
        step_range const steps = p_.steps_of(n);
        for (step_id s = steps.first; s != steps.last; ++s) {
            for (touch t : p_.touches(s))
                if (t.kind <= touch::access::use_early || t.kind == touch::access::read_view)
                    read(t.value, s, written, missing);
            for (touch t : p_.touches(s))
                if (t.kind == touch::access::allocate) fill(of_[t.value], written, false);
            for (touch t : p_.touches(s))
                if (t.writes() && t.kind != touch::access::allocate) fill(of_[t.value], written, true);
        }
    }
    template <class Missing>
    void read(value_id v, step_id s, set const& written, Missing missing) const
    {
        for (std::uint32_t i = of_[v].first; i < of_[v].last; i = (i / 64 + 1) * 64) {
            std::uint64_t const unwritten = ~written[i / 64] >> i % 64;
            if (unwritten == 0) continue;
            std::uint32_t const segment = i + static_cast<std::uint32_t>(std::countr_zero(unwritten));
            if (segment < of_[v].last) return missing(v, s, segment);
        }
    }
    template <class Missing>
    void read_outputs(set const& written, Missing missing) const
    {
        for (value_id v = 0; v != of_.size(); ++v)
            if (has_role(role_[v], value_role::output)) read(v, no_step, written, missing);
    }
    [[nodiscard]] counterexample unwritten(value_id v, step_id s, std::uint32_t segment) const
    {
        return {fault::unwritten, counterexample::access{.value = v,
                                                         .other = root_[v],
                                                         .step = s,
                                                         .begin = first_byte_[segment],
                                                         .end = first_byte_[segment + 1]}};
    }

private:
    static void fill(segment_range segments, set& written, bool is_written)
    {
        for (std::uint32_t i = segments.first; i < segments.last;) {
            std::uint32_t const last = smaller(segments.last, (i / 64 + 1) * 64);
            std::uint64_t const bits =
                (last - i == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (last - i)) - 1) << i % 64;
            if (is_written) written[i / 64] |= bits;
            else written[i / 64] &= ~bits;
            i = last;
        }
    }

    snapshot const& p_;
    table<value_id, segment_range> of_; // none in other storage
    table<value_id, value_id> root_;
    table<value_id, value_role> role_;
    std::vector<byte_count> first_byte_; // by segment, and the end of each storage
};

/// Some allocated storage may be read: another touch names it, the end of a node, or the caller. Otherwise
/// all of it is scratch of the steps that allocate it, and there is nothing to follow.
SUBLET_COLD_DECL bool may_read_allocations(snapshot const& p, plan_options const& options)
{
    buffer_classes const classes = classes_of(options.alias_of.tabulate(p.values(), "alias_of"));
    table<buffer_id, unsigned char> is_allocated(classes.root.size(), 0), is_touched(is_allocated);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            buffer_id const b = classes.buffer_of[t.value];
            bool const is_allocation = t.kind == touch::access::allocate;
            if (is_allocated[b] != 0 || (is_allocation && is_touched[b] != 0)) return true;
            is_allocated[b] = is_allocation;
            is_touched[b] = 1;
        }
    for (edge_use u : p.edge_uses())
        if (is_allocated[classes.buffer_of[u.value]] != 0) return true;
    auto const role = options.role.tabulate(p.values(), "role");
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::output) && is_allocated[classes.buffer_of[v]] != 0) return true;
    return false;
}

SUBLET_COLD_DECL std::optional<counterexample> find_unwritten(snapshot const& p, plan_options const& options)
{
    if (!p.has_allocations() || !may_read_allocations(p, options)) return std::nullopt;
    auto const at_end = csr_rows<node_id, value_id>::gathered(p.nodes(), [&](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, u.value);
    });
    std::optional<counterexample> first;
    auto run_as_listed = [&](written_segments const& segments) {
        auto missing = [&](value_id v, step_id s, std::uint32_t segment) {
            if (!first || s < first->step()) first = segments.unwritten(v, s, segment);
        };
        written_segments::set written = segments.with_all(false);
        for (node_id n = 0; n != p.nodes(); ++n) {
            segments.pass(n, written, missing);
            for (value_id v : at_end[n]) segments.read(v, p.steps_of(n).last - 1, written, missing);
        }
        segments.read_outputs(written, missing);
    };
    run_as_listed({p, options, written_segments::part::of_one_node});
    written_segments const segments(p, options, written_segments::part::of_several);
    if (p.edges() != edge_meaning::control_flow) {
        run_as_listed(segments);
        return first;
    }
    if (first || segments.is_empty()) return first;
    auto missing = [&](value_id v, step_id s, std::uint32_t segment) {
        if (!first) first = segments.unwritten(v, s, segment);
    };
    auto nothing = [](value_id, step_id, std::uint32_t) {};
    // What is written on all paths to a node: everything, until a path is seen.
    table<node_id, written_segments::set> before(p.nodes(), segments.with_all(true));
    if (p.nodes() != 0) before[0] = segments.with_all(false);
    std::vector<node_id> open;
    table<node_id, unsigned char> is_open(p.nodes(), 0), is_reached(p.nodes(), 0);
    if (p.nodes() != 0) open.push_back(0), is_open[0] = is_reached[0] = 1;
    for (std::size_t next = 0; next != open.size(); ++next) { // first in, first out
        node_id const n = open[next];
        is_open[n] = 0;
        written_segments::set after = before[n];
        segments.pass(n, after, nothing);
        for (node_id to : p.successors(n)) {
            bool changes = !is_reached[to];
            for (std::size_t w = 0; w != after.size(); ++w) {
                changes = changes || (before[to][w] & ~after[w]) != 0;
                before[to][w] &= after[w];
            }
            if (!changes || is_open[to]) continue;
            is_open[to] = is_reached[to] = 1;
            open.push_back(to);
        }
    }
    for (node_id n = 0; n != p.nodes() && !first; ++n) {
        if (!is_reached[n]) continue;
        written_segments::set written = before[n];
        segments.pass(n, written, missing);
        for (value_id v : at_end[n]) segments.read(v, p.steps_of(n).last - 1, written, missing);
        if (!first && p.successors(n).empty()) segments.read_outputs(written, missing);
    }
    return first;
}

} // namespace sublet::detail

// SPDX-License-Identifier: BSL-1.0

/// A vertex with no neighbours but those of another one is left out. Cliques of the prefixes bound the slots
/// of each size class from below. Then numbers of slots by class are raised until the classes can be
/// coloured: each question is a list colouring, searched by conflict-directed backjumping; targets between
/// bound and best come first.

#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/slot_size_search.hpp>

#include <algorithm>
#include <utility>

// --- dominated vertices ----------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL reduced_graph::reduced_graph(std::size_t values)
    : interferes_(values, values), is_remaining_(1, values)
{
    for (value_id v = 0; v != values; ++v) {
        is_remaining_.set(0, v);
        merged_into_.push_back(v);
    }
}

SUBLET_DECL void reduced_graph::merge(value_id removed, value_id into)
{
    for (std::size_t w = 0; w != is_remaining_.words(); ++w)
        for_each(w, interferes_[removed][w], [&](value_id v) { connect(into, v); });
    remove(removed, into);
}

SUBLET_DECL void reduced_graph::merge_dominated()
{
    for (std::size_t before = ~std::size_t{0}; before != merged_.size();) {
        before = merged_.size();
        for (auto v = value_id::of(merged_into_.size()); v-- != 0;)
            for (value_id u = 0; u != v && merged_into_[v] == v; ++u)
                if (merged_into_[u] == u && is_dominated(v, u)) remove(v, u);
    }
}

SUBLET_DECL csr_rows<std::uint32_t, value_id> reduced_graph::co_components() const
{
    csr_rows<std::uint32_t, value_id> result;
    bit_rows open = is_remaining_;
    std::vector<value_id> reached;
    for (std::size_t first = 0; first != open.words();) {
        if (open[0][first] == 0) {
            ++first;
            continue;
        }
        bit_rows part = open;
        auto const bit = static_cast<std::size_t>(std::countr_zero(open[0][first]));
        reached.assign(1, value_id::of(first * 64 + bit));
        open[0][first] ^= word{1} << bit;
        while (!reached.empty()) {
            word const* const others = interferes_[reached.back()];
            reached.pop_back();
            for (std::size_t w = first; w != open.words(); ++w) {
                for_each(w, open[0][w] & ~others[w], [&](value_id v) { reached.push_back(v); });
                open[0][w] &= others[w];
            }
        }
        for (std::size_t w = first; w != open.words(); ++w)
            for_each(w, part[0][w] & ~open[0][w], [&](value_id v) { result.append(v); });
        result.close_row();
    }
    return result;
}

SUBLET_DECL void reduced_graph::assign_merged(table<value_id, slot_id>& slot_of) const
{
    for (std::size_t i = merged_.size(); i-- != 0;) slot_of[merged_[i]] = slot_of[merged_into_[merged_[i]]];
}

SUBLET_DECL bool reduced_graph::is_dominated(value_id v, value_id by) const
{
    for (std::size_t w = 0; w != is_remaining_.words(); ++w)
        if ((interferes_[v][w] & is_remaining_[0][w] & ~interferes_[by][w]) != 0) return false;
    return true;
}

// --- prefix cliques --------------------------------------------------------------------------------------

/// Searches for a clique of a given size, without recursion.
class clique_search {
public:
    explicit clique_search(bit_rows const& interferes, std::size_t vertices)
        : interferes_(interferes), candidates_(1, vertices), branches_(1, vertices), fits_(1, vertices),
          vertices_(vertices)
    {
    }

    /// Whether some `wanted` neighbours of v before it form a clique: `members`, the last first.
    bool find(value_id v, std::size_t wanted, std::uint64_t node_limit)
    {
        if (rows_ < wanted + 1) {
            rows_ = 2 * wanted + 1;
            candidates_ = bit_rows(rows_, vertices_);
            branches_ = bit_rows(rows_, vertices_);
        }
        members.clear();
        is_undecided = false;
        if (wanted == 0) return true;
        for (std::size_t w = 0; w != words(); ++w) {
            bool const is_before = w < v / 64, is_same_word = w == v / 64;
            auto const mask = is_before ? ~word{0} : is_same_word ? (word{1} << v % 64) - 1 : word{0};
            candidates_[0][w] = interferes_[v][w] & mask;
        }
        for (choose_branches(wanted); true;) {
            std::size_t const depth = members.size();
            std::size_t w = words();
            word last = 0; // that is not 0
            while (w != 0 && last == 0) last = branches_[depth][--w];
            if (last == 0) {
                if (depth == 0) return false;
                members.pop_back();
                continue;
            }
            std::size_t const bit = 63 - static_cast<std::size_t>(std::countl_zero(last));
            branches_[depth][w] ^= word{1} << bit;
            candidates_[depth][w] ^= word{1} << bit;
            if (node_limit-- == 0) {
                is_undecided = true;
                return false;
            }
            ++nodes;
            members.push_back(value_id::of(w * 64 + bit));
            if (members.size() == wanted) return true;
            for (std::size_t i = 0; i != words(); ++i)
                candidates_[depth + 1][i] = candidates_[depth][i] & interferes_[members.back()][i];
            choose_branches(wanted);
        }
    }

    std::vector<value_id> members;
    std::uint64_t nodes = 0;
    bool is_undecided = false; // the node limit was reached

private:
    using word = bit_rows::word;
    std::size_t words() const { return candidates_.words(); }

    /// Branches on the candidates left over by a greedy partition into one independent set less than members
    /// are wanted.
    void choose_branches(std::size_t wanted)
    {
        std::size_t const depth = members.size();
        word* const open = branches_[depth];
        for (std::size_t w = 0; w != words(); ++w) open[w] = candidates_[depth][w];
        for (std::size_t classes = wanted - depth - 1; classes != 0; --classes) {
            for (std::size_t w = 0; w != words(); ++w) fits_[0][w] = open[w];
            for (std::size_t w = 0; w != words();) {
                if (fits_[0][w] == 0) {
                    ++w;
                    continue;
                }
                auto const bit = static_cast<std::size_t>(std::countr_zero(fits_[0][w]));
                open[w] ^= word{1} << bit;
                fits_[0][w] ^= word{1} << bit;
                word const* const others = interferes_[w * 64 + bit];
                for (std::size_t i = w; i != words(); ++i) fits_[0][i] &= ~others[i];
            }
        }
    }

    bit_rows const& interferes_;
    bit_rows candidates_, branches_; // by depth
    bit_rows fits_;                  // candidates for the current independent set
    std::size_t vertices_, rows_ = 1;
};

SUBLET_DECL prefix_cliques find_prefix_cliques(bit_rows const& interferes, std::size_t vertices,
                                               std::uint64_t node_limit)
{
    prefix_cliques result;
    clique_search search(interferes, vertices);
    for (value_id v = 0; v != vertices; ++v) {
        if (search.find(v, result.cliques.rows(), node_limit)) {
            for (value_id w : search.members) result.cliques.append(w);
            result.cliques.append(v);
            result.cliques.close_row();
        }
        result.is_exact = result.is_exact && !search.is_undecided;
        result.size.push_back(static_cast<std::uint32_t>(result.cliques.rows()));
    }
    result.nodes = search.nodes;
    return result;
}

// --- bounded list coloring -------------------------------------------------------------------------------

SUBLET_DECL bounded_list_coloring::bounded_list_coloring(bit_rows const& interferes,
                                                         std::vector<std::uint32_t> end_of)
    : interferes_(interferes), end_of_(std::move(end_of)), class_of_(end_of_.empty() ? 0 : end_of_.back())
{
    value_id v = 0;
    for (std::uint32_t size_class = 0; size_class != end_of_.size(); ++size_class)
        while (v != end_of_[size_class]) class_of_[v++] = size_class;
    last_.assign(class_of_.size(), no_slot);
    free_.resize(class_of_.size());
    failures_.resize(class_of_.size());
    trail_index_.resize(class_of_.size());
    past_conflicts_ = bit_rows(class_of_.size(), class_of_.size());
    conflict_set_ = bit_rows(1, class_of_.size());
}

SUBLET_DECL coloring_answer bounded_list_coloring::color(std::size_t last,
                                                         std::vector<std::uint32_t> const& slots,
                                                         std::uint64_t node_limit)
{
    count_ = end_of_[last];
    slots_ = slots.data();
    if (is_extended()) return coloring_answer::colored;
    width_ = slots[last];
    taken_.assign(count_ * width_, 0);
    occupants_.assign(width_, 0);
    slot_of.assign(class_of_.size(), no_slot);
    trail_.clear();
    for (value_id v = 0; v != count_; ++v) free_[v] = allowed(v);
    class_begin_.clear();
    for (std::size_t size_class = 0; size_class <= last; ++size_class)
        class_begin_.resize(slots[size_class], slot_id::of(class_begin_.size()));
    std::size_t colored = 0;
    for (std::size_t size_class = 0; size_class <= last; ++size_class) {
        value_id const first = size_class == 0 ? 0 : end_of_[size_class - 1];
        std::uint32_t const above = size_class == 0 ? 0 : slots[size_class - 1];
        if (end_of_[size_class] - first != 1 || slots[size_class] == above) continue;
        assign(first, above);
        trail_index_[first] = 0;
        ++colored;
    }
    for (; colored + trail_.size() != count_; ++nodes) {
        value_id v = min_dom_wdeg();
        slot_id s = no_slot;
        if (free_[v] != 0) {
            s = next_choice(v, no_slot);
            trail_.push_back(v);
            trail_index_[v] = static_cast<std::uint32_t>(trail_.size());
            for (std::size_t w = 0; w != past_conflicts_.words(); ++w) past_conflicts_[v][w] = 0;
        } else {
            ++failures_[v];
            for (std::size_t w = 0; w != past_conflicts_.words(); ++w) conflict_set_[0][w] = 0;
            add_conflicts(v);
            for (; !trail_.empty(); trail_.pop_back()) {
                v = trail_.back();
                slot_id const tried = unassign(v);
                if (!conflict_set_.test(0, v)) continue; // not a cause: jump back over it
                for (std::size_t w = 0; w != past_conflicts_.words(); ++w)
                    conflict_set_[0][w] = past_conflicts_[v][w] |= conflict_set_[0][w];
                s = next_choice(v, tried);
                if (s != no_slot) break;
                add_conflicts(v);
            }
            if (trail_.empty()) return coloring_answer::impossible;
        }
        if (node_limit-- == 0) return coloring_answer::undecided;
        assign(v, s);
    }
    std::copy_n(slot_of.begin(), count_, last_.begin());
    answered_ = count_;
    return coloring_answer::colored;
}

SUBLET_DECL bool bounded_list_coloring::is_extended()
{
    auto const known = value_id::of(smaller(answered_, count_));
    for (value_id v = 0; v != known; ++v)
        if (last_[v] >= allowed(v)) return false;
    std::size_t const width = slots_[class_of_[value_id::of(count_ - 1)]];
    taken_.assign(width, ~std::uint32_t{0}); // by slot: the last new value that found it taken
    slot_of.assign(class_of_.size(), no_slot);
    std::copy_n(last_.begin(), +known, slot_of.begin());
    for (value_id v = known; v != count_; ++v) {
        for_each_neighbor(v, [&](value_id u) {
            if (u < v) taken_[slot_of[u]] = v;
        });
        slot_id s = allowed(v);
        while (s != 0 && taken_[s - 1] == v) --s;
        if (s == 0) return false;
        slot_of[v] = s - 1;
    }
    std::copy_n(slot_of.begin(), count_, last_.begin());
    answered_ = larger(answered_, count_);
    return true;
}

SUBLET_DECL void bounded_list_coloring::assign(value_id v, slot_id s)
{
    slot_of[v] = s;
    ++occupants_[s];
    for_each_neighbor(v, [&](value_id u) { free_[u] -= taken_[u * width_ + s]++ == 0 && s < allowed(u); });
}

SUBLET_DECL slot_id bounded_list_coloring::unassign(value_id v)
{
    slot_id const s = std::exchange(slot_of[v], no_slot);
    --occupants_[s];
    for_each_neighbor(v, [&](value_id u) { free_[u] += --taken_[u * width_ + s] == 0 && s < allowed(u); });
    return s;
}

SUBLET_DECL void bounded_list_coloring::add_conflicts(value_id v)
{
    first_in_.assign(allowed(v), no_value);
    for_each_neighbor(v, [&](value_id u) {
        if (slot_of[u] >= allowed(v)) return;
        value_id& first = first_in_[slot_of[u]];
        if (first == no_value || trail_index_[u] < trail_index_[first]) first = u;
    });
    for (value_id u : first_in_)
        if (u != no_value && trail_index_[u] != 0) conflict_set_.set(0, u);
}

SUBLET_DECL value_id bounded_list_coloring::min_dom_wdeg() const
{
    value_id found = no_value;
    for (value_id v = 0; v != count_; ++v) {
        if (slot_of[v] != no_slot) continue;
        if (found == no_value || free_[v] * (failures_[found] + 1) < free_[found] * (failures_[v] + 1))
            found = v;
    }
    return found;
}

SUBLET_DECL slot_id bounded_list_coloring::next_choice(value_id v, slot_id tried) const
{
    slot_id const saved_slot = last_[v] < allowed(v) && is_free(v, last_[v]) ? last_[v] : no_slot;
    if (tried == no_slot && saved_slot != no_slot) return saved_slot;
    if (tried == saved_slot) tried = no_slot;
    slot_id const first_empty =
        saved_slot != no_slot && occupants_[saved_slot] == 0 ? class_begin_[saved_slot] : no_slot;
    slot_id last_empty = no_slot;
    for (slot_id s = allowed(v); s-- != 0;) {
        if (s == saved_slot || !is_free(v, s)) continue;
        if (occupants_[s] == 0) {
            if (class_begin_[s] == first_empty || class_begin_[s] == last_empty) continue;
            last_empty = class_begin_[s];
        }
        if (s < tried) return s;
    }
    return no_slot;
}

// --- slot size search ------------------------------------------------------------------------------------

class slot_size_search {
public:
    slot_size_search(bit_rows const& interferes, table<value_id, byte_count> const& size, std::uint64_t nodes)
        : interferes_(interferes), size_(size), ends_(ends_of(size)), coloring_(interferes, ends_),
          nodes_(nodes)
    {
    }

    slot_size_result find()
    {
        best_.proof = find_prefix_cliques(interferes_, size_.size(), clique_node_limit);
        for (std::size_t i = 0; i != ends_.size(); ++i) {
            byte_count const below = ends_[i] == size_.size() ? 0 : size_[ends_[i]];
            drop_.push_back(size_[ends_[i] - 1] - below);
            least_.push_back(best_.proof.size[ends_[i] - 1]);
        }
        slots_ = least_;
        best_.lower_bound = bytes_of(0);
        color_first_fit();
        byte_count target_gap = (best_.bytes - best_.lower_bound) / 16;
        for (std::uint64_t nodes = first_nodes; is_open();) {
            if (search(best_.lower_bound + target_gap, nodes)) {
                target_gap += target_gap / 2 + 1;
            } else {
                if (is_open()) search(best_.bytes - 1, nodes / 4);
                nodes *= 2;
            }
        }
        return std::move(best_);
    }

private:
    static constexpr std::uint64_t clique_node_limit = 4096, first_nodes = 65'536;

    bool is_open() const { return best_.lower_bound != best_.bytes && best_.nodes < nodes_; }

    static std::vector<std::uint32_t> ends_of(table<value_id, byte_count> const& size)
    {
        std::vector<std::uint32_t> ends;
        for (std::size_t v = 0; v != size.size(); ++v)
            if (v + 1 == size.size() || size[v + 1] != size[v])
                ends.push_back(static_cast<std::uint32_t>(v + 1));
        return ends;
    }

    /// Lower bound for the plan: the size classes down to `last`, and at least `least_` for the others.
    byte_count bytes_of(std::size_t last) const
    {
        byte_count sum = 0;
        for (std::size_t i = 0; i != slots_.size(); ++i)
            sum += drop_[i] * (i <= last ? slots_[i] : larger(slots_[last], least_[i]));
        return sum;
    }

    void color_first_fit()
    {
        table<value_id, slot_id> slot_of(size_.size(), no_slot);
        table<slot_id, value_id> taken_for(size_.size() + 1, no_value); // the last that found it taken
        for (value_id v = 0; v != size_.size(); ++v) {
            for (value_id u = 0; u != v; ++u)
                if (interferes_.test(v, u)) taken_for[slot_of[u]] = v;
            slot_id s = 0;
            while (taken_for[s] == v) ++s;
            slot_of[v] = s;
        }
        best_.bytes = no_size;
        update_incumbent(slot_of);
    }
    void update_incumbent(table<value_id, slot_id> const& slot_of)
    {
        table<slot_id, unsigned char> is_taken(size_.size());
        byte_count sum = 0;
        for (value_id v = 0; v != size_.size(); ++v)
            if (is_taken[slot_of[v]] == 0) {
                is_taken[slot_of[v]] = 1;
                sum += size_[v];
            }
        if (sum >= best_.bytes) return;
        best_.slot_of = slot_of;
        best_.bytes = sum;
    }

    /// Whether the nodes sufficed for all slot counts of at most `target` bytes: then the bound exceeds the
    /// target or equals the best plan.
    bool search(byte_count target, std::uint64_t nodes)
    {
        std::uint64_t const stop = best_.nodes + smaller(nodes, nodes_ - best_.nodes);
        std::uint64_t const node_limit = size_.size() + nodes / (32 + 4 * ends_.size());
        byte_count pruned_bound = best_.bytes; // the least bytes of what was pruned
        bool is_decided = true;
        std::size_t last = 0;
        auto widen = [&] { // one slot more for the class above; false: there is none
            if (last == 0) return false;
            ++slots_[--last];
            return true;
        };
        slots_[0] = least_[0];
        while (true) {
            std::uint32_t const above = last == 0 ? 0 : slots_[last - 1];
            std::uint32_t const values = ends_[last] - (last == 0 ? 0 : ends_[last - 1]);
            byte_count const bytes = slots_[last] <= above + values ? bytes_of(last) : no_size;
            if (bytes > target || bytes >= best_.bytes) {
                pruned_bound = smaller(pruned_bound, bytes);
                if (!widen()) break;
                continue;
            }
            if (best_.nodes == stop) return false;
            std::uint64_t const before = coloring_.nodes;
            auto const answer = coloring_.color(last, slots_, smaller(node_limit, stop - best_.nodes - 1));
            best_.nodes += coloring_.nodes - before + 1;
            if (answer == coloring_answer::colored && last + 1 != slots_.size()) {
                ++last;
                slots_[last] = larger(slots_[last - 1], least_[last]);
                continue;
            }
            if (answer == coloring_answer::colored) {
                update_incumbent(coloring_.slot_of);
                if (best_.bytes == best_.lower_bound || !widen()) break;
                continue;
            }
            if (answer == coloring_answer::undecided) {
                is_decided = false;
                pruned_bound = smaller(pruned_bound, bytes);
            }
            ++slots_[last];
        }
        best_.lower_bound = larger(best_.lower_bound, smaller(pruned_bound, best_.bytes));
        return is_decided;
    }

    bit_rows const& interferes_;
    table<value_id, byte_count> const& size_;
    std::vector<std::uint32_t> ends_, least_, slots_; // by size class
    std::vector<byte_count> drop_;                    // by class: to the next size
    bounded_list_coloring coloring_;
    std::uint64_t nodes_;
    slot_size_result best_;
};

SUBLET_DECL slot_size_result search_slot_sizes(bit_rows const& interferes,
                                               table<value_id, byte_count> const& size, std::uint64_t nodes)
{
    if (size.empty()) return {};
    return slot_size_search(interferes, size, nodes).find();
}

} // namespace sublet::detail

// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_STAIRCASES_IPP
#define SUBLET_SHARING_IMPL_STAIRCASES_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/stair_coloring.hpp>
#include <sublet/sharing/staircases.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

class staircase_search {
public:
    /// Requires: sizes fall, none is 0, and together they do not exceed 64 bits; `interferes` is symmetric.
    staircase_search(bit_rows const& interferes, std::vector<byte_count> const& size, std::uint64_t nodes)
        : interferes_(interferes), size_(size), ends_(ends_of(size)), coloring_(interferes, ends_),
          nodes_(nodes)
    {
    }

    staircase find()
    {
        best_.proof = find_prefix_cliques(interferes_, size_.size(), clique_patience);
        for (std::size_t i = 0; i != ends_.size(); ++i) {
            byte_count const below = ends_[i] == size_.size() ? 0 : size_[ends_[i]];
            drop_.push_back(size_[ends_[i] - 1] - below);
            least_.push_back(best_.proof.size[ends_[i] - 1]);
        }
        slots_ = least_;
        best_.lower_bound = bytes_of(0);
        fill_in_turn();
        byte_count reach = (best_.bytes - best_.lower_bound) / 16;
        for (std::uint64_t nodes = first_nodes; is_open();) {
            if (search(best_.lower_bound + reach, nodes)) {
                reach += reach / 2 + 1;
            } else {
                if (is_open()) search(best_.bytes - 1, nodes / 4);
                nodes *= 2;
            }
        }
        return std::move(best_);
    }

private:
    static constexpr std::uint64_t clique_patience = 4096, first_nodes = 65'536;

    bool is_open() const { return best_.lower_bound != best_.bytes && best_.nodes < nodes_; }

    static std::vector<std::uint32_t> ends_of(std::vector<byte_count> const& size)
    {
        std::vector<std::uint32_t> ends;
        for (std::size_t v = 0; v != size.size(); ++v)
            if (v + 1 == size.size() || size[v + 1] != size[v])
                ends.push_back(static_cast<std::uint32_t>(v + 1));
        return ends;
    }

    /// Of the stairs down to `last`, and of what must follow at least.
    byte_count bytes_of(std::size_t last) const
    {
        byte_count sum = 0;
        for (std::size_t i = 0; i != slots_.size(); ++i)
            sum += drop_[i] * (i <= last ? slots_[i] : larger(slots_[last], least_[i]));
        return sum;
    }

    /// The first plan: each takes the first slot that nobody has with whom it interferes.
    void fill_in_turn()
    {
        std::vector<slot_id> slot_of(size_.size(), no_slot);
        std::vector<value_id> taken_for(size_.size() + 1, no_value); // by slot: the last that found it taken
        for (value_id v = 0; v != size_.size(); ++v) {
            for (value_id u = 0; u != v; ++u)
                if (interferes_.test(v, u)) taken_for[slot_of[u]] = v;
            slot_id s = 0;
            while (taken_for[s] == v) ++s;
            slot_of[v] = s;
        }
        best_.bytes = no_size;
        keep(slot_of);
    }
    void keep(std::vector<slot_id> const& slot_of)
    {
        std::vector<std::uint32_t> is_taken(size_.size());
        byte_count sum = 0;
        for (std::size_t v = 0; v != size_.size(); ++v)
            if (is_taken[slot_of[v]] == 0) {
                is_taken[slot_of[v]] = 1;
                sum += size_[v];
            }
        if (sum >= best_.bytes) return;
        best_.slot_of = slot_of;
        best_.bytes = sum;
    }

    /// Whether so many nodes were enough for all staircases of at most `target` bytes: then the bound is
    /// above it now, or that of the best plan.
    bool search(byte_count target, std::uint64_t nodes)
    {
        std::uint64_t const stop = best_.nodes + smaller(nodes, nodes_ - best_.nodes);
        std::uint64_t const patience = size_.size() + nodes / (32 + 4 * ends_.size());
        byte_count missed = best_.bytes; // none that was left out has fewer
        bool is_decided = true;
        std::size_t last = 0;
        auto widen = [&] { // the stair above; false: there is none
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
                missed = smaller(missed, bytes);
                if (!widen()) break;
                continue;
            }
            if (best_.nodes == stop) return false;
            std::uint64_t const before = coloring_.nodes;
            auto const answer = coloring_.color(last, slots_, smaller(patience, stop - best_.nodes - 1));
            best_.nodes += coloring_.nodes - before + 1;
            if (answer == stair_answer::colored && last + 1 != slots_.size()) {
                ++last;
                slots_[last] = larger(slots_[last - 1], least_[last]);
                continue;
            }
            if (answer == stair_answer::colored) {
                keep(coloring_.slot_of);
                if (best_.bytes == best_.lower_bound || !widen()) break;
                continue;
            }
            if (answer == stair_answer::undecided) {
                is_decided = false;
                missed = smaller(missed, bytes);
            }
            ++slots_[last];
        }
        best_.lower_bound = larger(best_.lower_bound, smaller(missed, best_.bytes));
        return is_decided;
    }

    bit_rows const& interferes_;
    std::vector<byte_count> const& size_;
    std::vector<std::uint32_t> ends_, least_, slots_; // by stair
    std::vector<byte_count> drop_;                    // by stair: to the next
    stair_coloring coloring_;
    std::uint64_t nodes_;
    staircase best_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL staircase find_staircase(bit_rows const& interferes, std::vector<byte_count> const& size,
                                     std::uint64_t nodes)
{
    if (size.empty()) return {};
    return detail::staircase_search(interferes, size, nodes).find();
}

} // namespace sublet

#endif

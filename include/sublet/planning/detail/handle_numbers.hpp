// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_HANDLE_NUMBERS_HPP
#define SUBLET_PLANNING_DETAIL_HANDLE_NUMBERS_HPP

/// Numbers handles from 0 in the order in which they are added: a table of the handles, and to find their
/// numbers a hash table, O(1) expected, for a handle with a hash, or a std::map, O(log n), for one with an
/// order.

#include <sublet/core/errors.hpp>
#include <sublet/core/ids.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view> // std::hash
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet::detail {

template <class H>
concept hashable = requires(H const& h) {
    { std::hash<H>{}(h) } -> std::convertible_to<std::size_t>;
};

template <class H>
inline constexpr bool is_standard_string = false;
template <template <class, class, class> class String, class Allocator>
inline constexpr bool is_standard_string<String<char, std::char_traits<char>, Allocator>> = true;

template <class H>
class handle_numbers {
public:
    [[nodiscard]] std::size_t size() const { return handles_.size(); }
    [[nodiscard]] H const& operator[](value_id v) const { return handles_[v]; }

    [[nodiscard]] value_id find(H const& h) const
    {
        if constexpr (hashable<H>) {
            return table_.cells.empty() ? no_value : table_.cells[cell_of(h, table_)];
        } else {
            auto const found = numbers_.find(h);
            return found == numbers_.end() ? no_value : found->second;
        }
    }
    /// A string by its text, which has the hash of the string: no string is made.
    [[nodiscard]] value_id find_text(std::string_view text) const
        requires(hashable<H> && is_standard_string<H>)
    {
        return table_.cells.empty() ? no_value : table_.cells[cell_of(text, table_)];
    }
    value_id add(H const& h)
    {
        value_id const known = find(h);
        return known == no_value ? add_new(h) : known;
    }

private:
    struct hash_table {
        std::vector<value_id> cells; // a power of two, at most half of them taken; empty for ordered handles
        unsigned shift = 63;         // to the bits of a product that number a line
        unsigned near = 0;           // to the bits in which handles differ that are close
    };

    template <class Key>
    static constexpr std::uint64_t hash_of(Key const& h)
    {
        return std::hash<Key>{}(h);
    }

    /// If something throws, nothing has changed.
    value_id add_new(H const& h)
    {
        SUBLET_EXPECTS(handles_.size() + 1 < no_value, "sublet: more values than 32-bit ids");
        if constexpr (hashable<H>) {
            if (2 * handles_.size() >= table_.cells.size()) grow();
            std::size_t const at = cell_of(h, table_);
            handles_.push_back(h);
            return table_.cells[at] = value_id::of(size() - 1);
        } else {
            handles_.push_back(h);
            struct removal {
                table<value_id, H>* from;
                ~removal()
                {
                    if (from != nullptr) from->pop_back();
                }
            } unless_numbered{&handles_};
            numbers_.emplace(h, value_id::of(size() - 1));
            unless_numbered.from = nullptr;
            return value_id::of(size() - 1);
        }
    }
    /// The cell that holds the number of h, or is free for it. Lines of 16 cells are found by multiplicative
    /// hashing (Knuth, The Art of Computer Programming 3, 6.4), and handles that are close to each other, as
    /// pointers to objects made one after another are, lie in one line: each line is a cache miss.
    template <class Key>
    std::size_t cell_of(Key const& h, hash_table const& in) const
    {
        std::vector<value_id> const& cells = in.cells;
        std::uint64_t const key = hash_of(h) >> in.near;
        auto at = to_size((key / 16 * 0x9e3779b97f4a7c15u >> in.shift) * 16 + key % 16);
        while (cells[at] != no_value && !(handles_[cells[at]] == h)) at = (at + 1) & (cells.size() - 1);
        return at;
    }
    void grow()
    {
        hash_table grown;
        grown.shift = table_.cells.empty() ? 63 : table_.shift - 2;
        grown.cells.assign(std::size_t{16} << (64 - grown.shift), no_value);
        grown.near = handles_.empty() ? 0 : 12;
        for (std::size_t i = 1; i < handles_.size() && i != 64; ++i) {
            std::uint64_t const a = hash_of(handles_[i - 1]), b = hash_of(handles_[i]);
            while (grown.near != 0 && (larger(a, b) - smaller(a, b)) >> grown.near == 0) --grown.near;
        }
        for (value_id v = 0; v != size(); ++v) grown.cells[cell_of(handles_[v], grown)] = v;
        table_ = std::move(grown);
    }

    struct none {};
    table<value_id, H> handles_;
    hash_table table_;
    std::conditional_t<hashable<H>, none, std::map<H, value_id>> numbers_;
};

} // namespace sublet::detail

#endif

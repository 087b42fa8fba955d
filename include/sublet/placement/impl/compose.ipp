// SPDX-License-Identifier: BSL-1.0
/// Blocks are listed by begin and by end. Each is examined with those that share a border: equal lives are
/// stacked, equal sizes appended where no other fits, five that interlock joined; what is new is examined
/// in turn, pinwheels last, until nothing is left to join or the visits are spent.

#include <sublet/core/internal/vectors.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/compose.hpp>

#include <initializer_list>
#include <utility>

// --- compose ---------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::vector<byte_count> composed_shapes::origins(std::vector<byte_count> const& of_left) const
{
    std::vector<byte_count> at(parts.size());
    for (std::size_t s = 0; s != of_left.size(); ++s) at[blocks[s]] = of_left[s];
    for (std::size_t b = parts.size(); b-- != 0;)
        if (parts[b].whole != b) at[b] = at[parts[b].whole] + parts[b].above;
    return at;
}

/// The blocks so far, by the positions where they begin and end.
class shape_composer {
public:
    SUBLET_COLD shape_composer(placement_shapes const& all, std::uint64_t visits, search_control& control)
        : all_(all), control_(control), most_visits_(visits), beginning_(all.positions.size() + 1),
          ending_(all.positions.size() + 1)
    {
        step_poll const poll(control);
        for (std::uint32_t s = 0; s != all.size() && !has_stopped_; ++s) {
            has_stopped_ = poll.stops(16);
            placement_shape const& shape = all.shapes[s];
            result_.parts.push_back({s});
            blocks_.push_back({shape.life, shape.size, shape.alignment});
            bool const is_free = shape.pinned == no_offset && shape.preferred == no_offset;
            if (is_free && shape.phase == 0 && all.is_plain(s)) list(s);
        }
    }

    composed_shapes run()
    {
        // A step may let blocks fit that were examined before. Pinwheels cost most, so they come last.
        for (bool is_last = false; !is_over();) {
            has_new_ = false;
            for (std::uint32_t b = 0; b != blocks_.size() && !is_over(); ++b) examine(b, is_last);
            if (!has_new_ && is_last) break;
            is_last = !has_new_;
        }
        if (!has_stopped_) gather();
        return std::move(result_);
    }

private:
    struct block {
        live_range life;
        byte_count size;
        byte_count alignment;
        bool is_listed = false; // it may become a part
    };
    struct placed_part {
        std::uint32_t block;
        byte_count above;
    };
    using ids = std::vector<std::uint32_t>;

    void list(std::uint32_t b)
    {
        blocks_[b].is_listed = true;
        beginning_[blocks_[b].life.first].push_back(b);
        ending_[blocks_[b].life.last].push_back(b);
    }
    /// The blocks of a list that are no parts yet.
    ids const& current(ids& listed)
    {
        visits_ += 1 + listed.size();
        std::size_t kept = 0;
        for (std::uint32_t b : listed)
            if (blocks_[b].is_listed) listed[kept++] = b;
        shorten(listed, kept);
        return listed;
    }
    bool is_over()
    {
        if (visits_ >= next_poll_) {
            next_poll_ = visits_ + 16384;
            has_stopped_ = has_stopped_ || control_.stop(no_limit, 0, 0);
        }
        return has_stopped_ || visits_ >= most_visits_;
    }

    SUBLET_COLD bool join(live_range life, byte_count size, std::initializer_list<placed_part> parts)
    {
        byte_count alignment = 1;
        for (placed_part const& p : parts) alignment = larger(alignment, blocks_[p.block].alignment);
        for (placed_part const& p : parts)
            if (alignment % blocks_[p.block].alignment != 0 || p.above % blocks_[p.block].alignment != 0)
                return false;
        auto const whole = static_cast<std::uint32_t>(blocks_.size());
        result_.parts.push_back({whole});
        for (placed_part const& p : parts) {
            result_.parts[p.block] = {whole, p.above};
            blocks_[p.block].is_listed = false;
        }
        blocks_.push_back({life, size, alignment});
        list(whole);
        has_new_ = true;
        return true;
    }

    void examine(std::uint32_t b, bool in_pinwheels)
    {
        if (blocks_[b].is_listed) stack(b);
        if (blocks_[b].is_listed) append(ending_[blocks_[b].life.first], b, true);
        if (blocks_[b].is_listed) append(beginning_[blocks_[b].life.last], b, false);
        if (!in_pinwheels) return;
        if (blocks_[b].is_listed) join_pinwheel(b);
        // As a blade it begins or ends with the center, or the center begins at its end or ends at its begin.
        if (!blocks_[b].is_listed) return;
        live_range const life = blocks_[b].life;
        for (position_id at : {life.first, life.last}) {
            if (current(beginning_[at]).empty() || current(ending_[at]).empty()) continue;
            for (ids* near : {&beginning_[at], &ending_[at]})
                for (std::size_t i = 0; i < near->size() && blocks_[b].is_listed && !is_over(); ++i)
                    if (blocks_[(*near)[i]].is_listed) join_pinwheel((*near)[i]);
        }
    }

    void stack(std::uint32_t b)
    {
        live_range const life = blocks_[b].life;
        ids& begins = beginning_[life.first];
        ids& ends = ending_[life.last];
        for (std::uint32_t other : current(begins.size() < ends.size() ? begins : ends)) {
            block const &one = blocks_[b], &two = blocks_[other];
            if (other == b || two.life.first != life.first || two.life.last != life.last) continue;
            if (!sum_fits(one.size, two.size)) continue;
            byte_count const size = one.size + two.size;
            if (join(life, size, {{b, 0}, {other, one.size}}) ||
                join(life, size, {{other, 0}, {b, blocks_[other].size}}))
                return;
        }
    }

    /// The only block of this size; `none` if there are none or several.
    std::uint32_t only_one_of(byte_count size, ids& listed)
    {
        std::uint32_t found = none;
        for (std::uint32_t b : current(listed))
            if (blocks_[b].size == size) {
                if (found != none) return none;
                found = b;
            }
        return found;
    }
    void append(ids& others, std::uint32_t b, bool is_before)
    {
        std::uint32_t const other = only_one_of(blocks_[b].size, others);
        live_range const life = blocks_[b].life;
        if (other == none ||
            only_one_of(blocks_[b].size, is_before ? beginning_[life.first] : ending_[life.last]) == none)
            return;
        join(hull(life, blocks_[other].life), blocks_[b].size, {{b, 0}, {other, 0}});
    }

    void join_pinwheel(std::uint32_t center)
    {
        block const c = blocks_[center];
        if (current(ending_[c.life.first]).empty() || current(beginning_[c.life.last]).empty()) return;
        for (std::uint32_t left : ending_[c.life.first]) {
            block const& l = blocks_[left];
            if (l.size <= c.size) continue;
            for (std::uint32_t top : current(beginning_[c.life.first])) {
                if (top == center || blocks_[top].size != l.size - c.size) continue;
                for (std::uint32_t bottom : current(ending_[c.life.last])) {
                    block const& b = blocks_[bottom];
                    if (bottom == center || b.life.first != l.life.first) continue;
                    for (std::uint32_t right : current(beginning_[c.life.last])) {
                        block const& r = blocks_[right];
                        if (r.size - c.size != b.size || r.life.last != blocks_[top].life.last) continue;
                        if (!sum_fits(b.size, l.size)) continue;
                        byte_count const below = b.size;
                        if (join(hull(l.life, r.life), below + l.size,
                                 {{bottom, 0}, {right, 0}, {center, below}, {left, below}, {top, r.size}}))
                            return;
                    }
                    if (is_over()) return;
                }
            }
        }
    }

    SUBLET_COLD void gather()
    {
        std::vector<sort_key> left;
        for (std::uint32_t b = 0; b != blocks_.size(); ++b)
            if (result_.parts[b].whole == b) left.push_back({blocks_[b].life.first, 0, b});
        sort_by_key(left);
        result_.shapes.positions = all_.positions;
        for (sort_key const& k : left) {
            block const& b = blocks_[k.id];
            result_.blocks.push_back(k.id);
            if (k.id < all_.size()) {
                result_.shapes.shapes.push_back(all_.shapes[k.id]);
                for (shape_piece const& p : all_.pieces_of(k.id)) result_.shapes.pieces.push_back(p);
            } else {
                result_.shapes.shapes.push_back({b.life, b.size, b.alignment});
                result_.shapes.pieces.push_back({b.life, 0, b.size});
            }
            result_.shapes.first_piece.push_back(static_cast<std::uint32_t>(result_.shapes.pieces.size()));
        }
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};

    placement_shapes const& all_;
    search_control& control_;
    std::uint64_t visits_ = 0, next_poll_ = 16384, most_visits_;
    bool has_new_ = true, has_stopped_ = false;
    std::vector<block> blocks_;
    table<position_id, ids> beginning_, ending_; // there
    composed_shapes result_;
};

SUBLET_DECL composed_shapes compose(placement_shapes const& all, std::uint64_t visits,
                                    search_control& control)
{
    return shape_composer(all, visits, control).run();
}

} // namespace sublet::detail

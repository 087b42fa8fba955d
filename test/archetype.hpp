// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_ARCHETYPE_HPP
#define SUBLET_TEST_ARCHETYPE_HPP

/// For each concept a minimal model: it has nothing beyond what the concept requires.
///
///     a result of < or ==      not bool, only convertible to it
///     a vertex                 no default, no ==
///     a cursor                 no assignment, no ->, no iterator traits; it returns by value
///     an edge, an id           no copy
///     a graph, a program       no copy; functions that only ADL finds
///
/// An algorithm that compiles with these requires no more than its concept.

#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace archetype {

struct no_copy {
    no_copy() = default;
    no_copy(no_copy const&) = delete;
    no_copy& operator=(no_copy const&) = delete;
};

class truth : no_copy {
public:
    explicit truth(bool answer) : answer_(answer) {}
    operator bool() const { return answer_; }

private:
    bool answer_;
};

/// A type that converts to a number.
class id : no_copy {
public:
    explicit id(int number) : number_(number) {}
    operator int() const { return number_; }

private:
    int number_;
};

/// Iterates over a range of ints, each converted to a T.
template <class T>
class cursor {
public:
    explicit cursor(int const* at) : at_(at) {}
    cursor(cursor const&) = default;
    cursor& operator=(cursor const&) = delete;
    T operator*() const { return T(*at_); }
    cursor& operator++() { return ++at_, *this; }
    friend truth operator==(cursor const& a, cursor const& b) { return truth(a.at_ == b.at_); }
    friend truth operator!=(cursor const& a, cursor const& b) { return truth(a.at_ != b.at_); }

private:
    int const* at_;
};

template <class T>
struct cursor_pair : no_copy {
    explicit cursor_pair(std::vector<int> const& list) : first(list.data()), second(list.data() + list.size())
    {
    }
    cursor<T> const first;
    cursor<T> const second;
};

/// A range that a lambda may return: begin, end, and ids by value.
class id_list : no_copy {
public:
    explicit id_list(std::vector<int> list) : list_(std::move(list)) {}
    cursor<id> begin() { return cursor<id>(list_.data()); }
    cursor<id> end() { return cursor<id>(list_.data() + list_.size()); }

private:
    std::vector<int> list_;
};

class vertex {
public:
    explicit vertex(int name) : name_(name) {}
    friend truth operator<(vertex const& a, vertex const& b) { return truth(a.name_ < b.name_); }
    int name() const { return name_; }

private:
    int name_;
};

/// Vertices named -0, -1, -2 ... in this order, so that a name is neither an index nor ascending.
class graph : no_copy {
public:
    explicit graph(std::vector<std::vector<int>> successors) : successors_(std::move(successors))
    {
        for (std::size_t n = 0; n != successors_.size(); ++n) names_.push_back(-static_cast<int>(n));
    }

    class edge : no_copy {
    public:
        explicit edge(int to) : to_(to) {}
        int to() const { return to_; }

    private:
        int to_;
    };
    class edge_end : no_copy {
    public:
        explicit edge_end(int to) : to_(to) {}
        operator vertex() const { return vertex(-to_); }

    private:
        int to_;
    };

    friend cursor_pair<vertex> vertices(graph const& g) { return cursor_pair<vertex>(g.names_); }
    friend cursor_pair<edge> out_edges(vertex const& v, graph const& g)
    {
        return cursor_pair<edge>(g.successors_[static_cast<std::size_t>(-v.name())]);
    }
    friend edge_end target(edge const& e, graph const&) { return edge_end(e.to()); }

private:
    std::vector<int> names_;
    std::vector<std::vector<int>> successors_;
};

/// Node n leads to n + 1, uses value n - 1 (the first uses -1: nothing) and defines value n.
class program : no_copy {
public:
    explicit program(int nodes) : nodes_(nodes) {}
    id nodes() const { return id(nodes_); }
    id values() const { return id(nodes_); }
    id_list successors(sublet::node_id n) const
    {
        int const next = static_cast<int>(n) + 1;
        return id_list(next < nodes_ ? std::vector{next} : std::vector<int>{});
    }
    static sublet::edge_meaning edges() { return sublet::edge_meaning::order; }
    truth effects(sublet::node_id n, sublet::effect_sink& sink) const
    {
        sink.use(id(static_cast<int>(n) - 1));
        sink.def(id(static_cast<int>(n)));
        return truth(false);
    }

private:
    int nodes_;
};

/// Consecutive ranges [i, i + 1). Not const, not copied, and a type that converts to live_range.
class lives {
public:
    lives() = default;
    lives(lives&&) = default;

    class life : no_copy {
    public:
        explicit life(std::uint32_t index) : index_(index) {}
        operator sublet::live_range() const { return {index_, index_ + 1}; }

    private:
        std::uint32_t index_;
    };
    life operator()(std::uint32_t index) { return life(index); }
};

/// Every size is 8. Not const, not copied, and a type that converts to a number.
class sizes {
public:
    sizes() = default;
    sizes(sizes&&) = default;
    id operator()(std::uint32_t) { return id(8); }
};

/// A table of a property: [] and size() with int, values by proxy.
class table {
public:
    explicit table(std::vector<int> list) : list_(std::move(list)) {}
    id operator[](int at) const { return id(list_[static_cast<std::size_t>(at)]); }
    int size() const { return static_cast<int>(list_.size()); }

private:
    std::vector<int> list_;
};

} // namespace archetype

#endif

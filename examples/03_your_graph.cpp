// SPDX-License-Identifier: BSL-1.0
// Plans a renderer's own graph of passes, with strings as vertices: it needs only three free functions, which
// ADL finds. Prints why the passes cannot run in the order in which they were added, a valid order found by
// depth-first search, and the plan for it.

#include <sublet/sublet.hpp>

#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct pass {
    std::vector<int> reads, writes;
    std::vector<std::string> next; // passes that need what this one writes
};

class frame_graph {
public:
    void add(std::string const& name, pass const& p)
    {
        names_.push_back(name);
        passes_[name] = p;
    }
    pass const& operator[](std::string const& name) const { return passes_.at(name); }

    // An edge may have any type; here it is the name of its target.
    friend auto vertices(frame_graph const& g) { return std::pair(g.names_.begin(), g.names_.end()); }
    friend auto out_edges(std::string const& name, frame_graph const& g)
    {
        return std::pair(g[name].next.begin(), g[name].next.end());
    }
    friend std::string const& target(std::string const& edge, frame_graph const&) { return edge; }

private:
    std::vector<std::string> names_;
    std::map<std::string, pass> passes_;
};
static_assert(sublet::graph<frame_graph>);

int main()
{
    enum image { depth, shadow, color, glow, screen };
    char const* const name_of[] = {"depth", "shadow", "color", "glow", "screen"};
    std::vector<int> const bytes = {8192, 4096, 16384, 4096, 16384};

    frame_graph frame;
    frame.add("geometry", {{}, {depth}, {"shadows", "lighting"}});
    frame.add("tonemap", {{color, glow}, {screen}, {}});
    frame.add("bloom", {{color}, {glow}, {"tonemap"}});
    frame.add("lighting", {{depth, shadow}, {color}, {"bloom", "tonemap"}});
    frame.add("shadows", {{depth}, {shadow}, {"lighting"}});

    auto const program = sublet::tasks(
        frame, 5, [&](auto const& name) -> auto& { return frame[name].reads; },
        [&](auto const& name) -> auto& { return frame[name].writes; });
    sublet::plan_options options{.bytes = bytes};
    std::cout << "as added: " << sublet::plan_memory(program, options).error() << "\nin order:";

    sublet::vertex_numbering const numbers(frame);
    auto const left = sublet::depth_first(frame).postorder;
    options.order.assign(left.rbegin(), left.rend());
    for (auto node : options.order) std::cout << ' ' << numbers[node];

    auto const planned = sublet::plan_memory(program, options);
    std::cout << "\n\n" << planned.report() << '\n';
    for (auto const& buffer : planned.plan.buffers)
        std::cout << name_of[buffer.root] << " at " << buffer.offset << " during steps [" << buffer.life.first
                  << ", " << buffer.life.last << ")\n";
}

// SPDX-License-Identifier: BSL-1.0
#include "fake_runtime.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace {

using fake_cuda::machine;

struct block {
    std::unique_ptr<std::max_align_t[]> room; // 256 bytes more than are used, which begin at `first()`
    std::size_t bytes = 0;
    cudaMemPool_t pool = nullptr;  // null: a graph's
    void const* capture = nullptr; // the capture that allocated it, for a graph
    bool is_live = true;           // for a graph: between its alloc and free nodes

    unsigned char* first() const
    {
        auto const at = reinterpret_cast<std::uintptr_t>(room.get());
        return reinterpret_cast<unsigned char*>(room.get()) + (256 - at % 256) % 256;
    }
    void poison() const { std::memset(first(), 0xCD, bytes); }
};

block block_of(std::size_t bytes)
{
    block made{.room = std::make_unique<std::max_align_t[]>((bytes + 256) / sizeof(std::max_align_t) + 1),
               .bytes = bytes};
    made.poison();
    return made;
}

/// Memory that can be mapped once.
struct part {
    int device = 0;
    std::size_t bytes = 0;
    bool is_mapped = false;
    bool is_released = false; // freed when it is not mapped, either
};

/// Reserved addresses, and what is mapped there.
struct address_range {
    struct mapping {
        std::size_t bytes = 0;
        CUmemGenericAllocationHandle memory = 0;
        bool is_accessible = false;
    };
    block room;
    std::size_t padding = 0;               // to its alignment
    std::map<std::size_t, mapping> mapped; // by the first byte

    unsigned char* first() const { return room.first() + padding; }
    std::size_t bytes() const { return room.bytes - padding; }
    bool is_accessible(unsigned char const* begin, std::size_t count) const
    {
        if (begin < first() || begin + count > first() + bytes()) return false;
        std::size_t at = static_cast<std::size_t>(begin - first());
        std::size_t const end = at + count;
        for (auto const& [from, its] : mapped)
            if (from <= at && at < from + its.bytes && its.is_accessible)
                at = std::min(end, from + its.bytes);
        return at == end;
    }
};

/// By stream of a capture: the number of commands that happen before.
using vector_clock = std::map<cudaStream_t, std::size_t>;

struct capture {
    cudaStream_t origin = nullptr;
    std::map<cudaStream_t, vector_clock> clocks;          // by stream that takes part
    std::map<cudaStream_t, std::set<std::size_t>> latest; // by stream: nodes that its next one depends on
    bool is_invalid = false;
    std::vector<std::function<void()>> nodes;
    std::vector<char const*> kinds;                         // by node
    std::vector<std::pair<std::size_t, std::size_t>> edges; // by second node
    std::vector<std::shared_ptr<block>> blocks;
};

} // namespace

struct CUstream_st {
    int device;
    std::shared_ptr<capture> in; // null: not captured
};
struct CUevent_st {
    int device;
    std::shared_ptr<capture> in; // the capture that it was recorded in last
    vector_clock clocks;
    std::set<std::size_t> latest;
};
struct CUmemPoolHandle_st {
    int device;
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0, threshold = 0;
};
struct CUgraph_st {
    int device;
    std::shared_ptr<capture> what;
    bool is_instantiated = false;
};
struct CUgraphExec_st {
    int device;
    std::shared_ptr<capture> what;
};

namespace {

struct runtime_state {
    machine how;
    int current = 0;
    cudaError_t last = cudaSuccess;
    std::vector<cudaError_t> lost;
    std::size_t calls = 0, calls_when_lost = 0, failing = 0;
    cudaError_t failure = cudaSuccess;
    bool is_sticky = false;
    std::list<CUstream_st> streams;
    std::list<CUevent_st> events;
    std::list<CUmemPoolHandle_st> pools;
    std::list<CUgraph_st> graphs;
    std::list<CUgraphExec_st> executables;
    std::map<void*, block> blocks; // allocated outside of captures
    std::map<void*, block> host_blocks;
    std::list<address_range> ranges;
    std::map<CUmemGenericAllocationHandle, part> parts;
    CUmemGenericAllocationHandle last_part = 0;
    std::vector<std::uint64_t> graph_high;
    std::vector<std::string> misuses, log;
    std::vector<std::pair<std::size_t, std::size_t>> edges; // of the last graph

    cudaError_t set_error(cudaError_t code)
    {
        if (code != cudaSuccess) last = code;
        return code;
    }
    cudaError_t misuse(char const* what, cudaError_t code = cudaErrorInvalidValue)
    {
        misuses.emplace_back(what);
        return set_error(code);
    }
    /// The result that is the same for every call, if there is one.
    cudaError_t begin_call(char const* name)
    {
        log.emplace_back(name);
        ++calls;
        if (how.start_up != cudaSuccess) return set_error(how.start_up);
        bool const is_device_query =
            !std::strcmp(name, "cudaGetDevice") || !std::strcmp(name, "cudaSetDevice");
        cudaError_t const lost_by = lost[static_cast<std::size_t>(current)];
        if (lost_by != cudaSuccess && !is_device_query) {
            calls_when_lost += std::strcmp(name, "cudaLaunchKernel") != 0;
            return set_error(lost_by);
        }
        if (calls != failing) return cudaSuccess;
        if (is_sticky) lost[static_cast<std::size_t>(current)] = failure;
        return set_error(failure);
    }
    template <class Object>
    static bool has(std::list<Object> const& all, Object const* one)
    {
        return std::any_of(all.begin(), all.end(), [&](Object const& each) { return &each == one; });
    }
    template <class Object>
    cudaError_t destroy(std::list<Object>& all, Object* one, cudaError_t code)
    {
        auto const found =
            std::find_if(all.begin(), all.end(), [&](Object const& each) { return &each == one; });
        if (found == all.end()) return misuse("an object is destroyed that does not exist");
        all.erase(found);
        return code;
    }
    std::size_t block_bytes() const
    {
        std::size_t sum = 0;
        for (auto const& each : blocks) sum += each.second.bytes;
        return sum;
    }
    void add_block(void** first, std::size_t bytes)
    {
        block made = block_of(bytes);
        *first = made.first();
        blocks.emplace(*first, std::move(made));
    }
    /// `code`: of the call, which releases in any case, unless the device is lost.
    cudaError_t free_block(std::map<void*, block>& from, void* first, cudaError_t code)
    {
        if (lost[static_cast<std::size_t>(current)] != cudaSuccess) return code;
        auto const found = from.find(first);
        if (found == from.end() || found->second.pool != nullptr)
            return misuse("memory is freed that is not allocated");
        from.erase(found);
        return code;
    }
    bool is_usable(cudaStream_t stream)
    {
        if (!has(streams, stream)) return misuse("a stream is used that does not exist"), false;
        if (stream->device != current)
            return misuse("a stream is used while another device is current"), false;
        return true;
    }
    /// Executed now, or when the graph is launched.
    cudaError_t enqueue(cudaStream_t stream, char const* kind, std::function<void()> what)
    {
        return is_usable(stream) ? enqueue_unchecked(stream, kind, std::move(what))
                                 : cudaErrorInvalidResourceHandle;
    }
    cudaError_t enqueue_unchecked(cudaStream_t stream, char const* kind, std::function<void()> what)
    {
        if (stream->in == nullptr) return what(), cudaSuccess;
        capture& its = *stream->in;
        if (its.is_invalid) return set_error(cudaErrorStreamCaptureInvalidated);
        std::size_t const node = its.nodes.size();
        for (std::size_t const before : its.latest[stream]) its.edges.emplace_back(before, node);
        its.latest[stream] = {node};
        its.nodes.push_back(std::move(what));
        its.kinds.push_back(kind);
        ++its.clocks[stream][stream];
        return cudaSuccess;
    }
    cudaError_t invalidate_capture(cudaStream_t stream, char const* what, cudaError_t code)
    {
        stream->in->is_invalid = true;
        return misuse(what, code);
    }
    bool is_lost() const { return lost[static_cast<std::size_t>(current)] != cudaSuccess; }
    address_range* range_of(CUdeviceptr address, std::size_t bytes)
    {
        auto const* const begin = reinterpret_cast<unsigned char const*>(address);
        for (address_range& each : ranges)
            if (begin >= each.first() && begin + bytes <= each.first() + each.bytes()) return &each;
        return nullptr;
    }
    std::size_t bytes_of_parts() const
    {
        std::size_t sum = 0;
        for (auto const& [handle, its] : parts) sum += its.bytes;
        return sum;
    }
    std::uint64_t graph_bytes(int device) const
    {
        std::set<capture const*> seen;
        std::uint64_t sum = 0;
        for (auto const& each : executables)
            if (each.device == device && seen.insert(each.what.get()).second)
                for (auto const& one : each.what->blocks) sum += one->bytes;
        return sum;
    }
};

runtime_state& runtime()
{
    static runtime_state all = [] {
        runtime_state fresh; // a machine with one device, as for programs that do not call start()
        fresh.lost.assign(1, cudaSuccess);
        fresh.graph_high.assign(1, 0);
        return fresh;
    }();
    return all;
}

/// Whether a command may touch these bytes: within one live block.
bool is_within(void const* first, std::size_t bytes, cudaStream_t stream)
{
    auto const* const begin = static_cast<unsigned char const*>(first);
    auto holds = [&](block const& one) {
        return begin >= one.first() && begin + bytes <= one.first() + one.bytes;
    };
    for (auto const& [key, one] : runtime().blocks)
        if (holds(one)) return true;
    for (address_range const& each : runtime().ranges)
        if (each.is_accessible(begin, bytes)) return true;
    if (stream->in != nullptr)
        for (auto const& one : stream->in->blocks)
            if (holds(*one)) return true;
    return false;
}

} // namespace

namespace fake_cuda {

void start(machine const& how)
{
    runtime() = runtime_state();
    runtime().how = how;
    runtime().lost.assign(static_cast<std::size_t>(std::max(how.devices, 1)), cudaSuccess);
    runtime().graph_high.assign(runtime().lost.size(), 0);
}

void fail_call(std::size_t nth, cudaError_t code, bool is_sticky)
{
    runtime().calls = runtime().calls_when_lost = 0;
    runtime().failing = nth;
    runtime().failure = code;
    runtime().is_sticky = is_sticky;
    runtime().log.clear();
}
std::size_t calls() { return runtime().calls; }
std::size_t calls_when_lost() { return runtime().calls_when_lost; }

live_objects held()
{
    std::set<block const*> of_graphs;
    for (auto const& each : runtime().graphs)
        for (auto const& one : each.what->blocks) of_graphs.insert(one.get());
    for (auto const& each : runtime().executables)
        for (auto const& one : each.what->blocks) of_graphs.insert(one.get());
    return {runtime().streams.size(),
            runtime().events.size(),
            runtime().pools.size(),
            runtime().graphs.size(),
            runtime().executables.size(),
            runtime().blocks.size() + runtime().host_blocks.size() + of_graphs.size(),
            runtime().ranges.size(),
            runtime().parts.size()};
}
std::size_t mapped_bytes() { return runtime().bytes_of_parts(); }
std::vector<std::string> const& misuses() { return runtime().misuses; }
std::vector<std::string> const& log() { return runtime().log; }
std::vector<std::pair<std::size_t, std::size_t>> const& edges() { return runtime().edges; }

std::size_t graph_nodes()
{
    std::size_t sum = 0;
    for (auto const& each : runtime().executables) sum += each.what->nodes.size();
    return sum;
}

void launch(cudaStream_t stream, std::function<void()> kernel)
{
    if (runtime().begin_call("cudaLaunchKernel") != cudaSuccess) return;
    (void)runtime().enqueue(stream, "kernel", std::move(kernel));
}

} // namespace fake_cuda

#define BEGIN_CALL(name)                                                                                     \
    do {                                                                                                     \
        if (cudaError_t const code = runtime().begin_call(name)) return code;                                \
    } while (false)

extern "C" {

// --- versions, errors, devices ---------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t CUDARTAPI cudaDriverGetVersion(int* version)
{
    return *version = runtime().how.driver, cudaSuccess;
}

char const* CUDARTAPI cudaGetErrorName(cudaError_t code)
{
    switch (code) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    default: return "an error of the fake";
    }
}
char const* CUDARTAPI cudaGetErrorString(cudaError_t) { return "as requested"; }

cudaError_t CUDARTAPI cudaGetLastError()
{
    cudaError_t const code = runtime().last;
    runtime().last = runtime().lost[static_cast<std::size_t>(runtime().current)];
    return code;
}
cudaError_t CUDARTAPI cudaPeekAtLastError() { return runtime().last; }

cudaError_t CUDARTAPI cudaGetDeviceCount(int* count)
{
    BEGIN_CALL("cudaGetDeviceCount");
    if (runtime().how.devices == 0) return runtime().set_error(cudaErrorNoDevice);
    return *count = runtime().how.devices, cudaSuccess;
}
cudaError_t CUDARTAPI cudaGetDevice(int* device)
{
    BEGIN_CALL("cudaGetDevice");
    return *device = runtime().current, cudaSuccess;
}
cudaError_t CUDARTAPI cudaSetDevice(int device)
{
    BEGIN_CALL("cudaSetDevice");
    if (device < 0 || device >= runtime().how.devices) return runtime().set_error(cudaErrorInvalidDevice);
    return runtime().current = device, cudaSuccess;
}
cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp* all, int device)
{
    BEGIN_CALL("cudaGetDeviceProperties");
    *all = {};
    std::strcpy(all->name, device == 0 ? "Fake A" : "Fake B");
    all->major = 9;
    all->totalGlobalMem = runtime().how.capacity;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int)
{
    BEGIN_CALL("cudaDeviceGetAttribute");
    if (what == cudaDevAttrMemoryPoolsSupported) *value = runtime().how.has_pools;
    else if (what == cudaDevAttrComputeMode)
        *value = runtime().how.is_prohibited ? cudaComputeModeProhibited : cudaComputeModeDefault;
    else return runtime().misuse("an attribute is read that the fake does not support");
    return cudaSuccess;
}

// --- streams and events ----------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags)
{
    BEGIN_CALL("cudaStreamCreateWithFlags");
    if (flags != cudaStreamNonBlocking) runtime().misuse("a stream waits for the default stream");
    runtime().streams.push_back({runtime().current, nullptr});
    return *stream = &runtime().streams.back(), cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t const code = runtime().begin_call("cudaStreamDestroy");
    if (runtime().lost[static_cast<std::size_t>(runtime().current)] != cudaSuccess) return code;
    if (runtime_state::has(runtime().streams, stream) && stream->in != nullptr)
        runtime().misuse("a stream is destroyed while it is captured");
    return runtime().destroy(runtime().streams, stream, code);
}
cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags)
{
    BEGIN_CALL("cudaEventCreateWithFlags");
    if (flags != cudaEventDisableTiming) runtime().misuse("an event has timing");
    runtime().events.push_back({runtime().current, nullptr, {}, {}});
    return *event = &runtime().events.back(), cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t const code = runtime().begin_call("cudaEventDestroy");
    if (runtime().lost[static_cast<std::size_t>(runtime().current)] != cudaSuccess) return code;
    return runtime().destroy(runtime().events, event, code);
}
cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    BEGIN_CALL("cudaEventRecord");
    if (!runtime().is_usable(stream)) return cudaErrorInvalidResourceHandle;
    if (!runtime_state::has(runtime().events, event))
        return runtime().misuse("an event is recorded that does not exist");
    if (event->device != stream->device) return runtime().misuse("an event is recorded on another device");
    event->in = stream->in;
    event->clocks = stream->in == nullptr ? vector_clock() : stream->in->clocks[stream];
    event->latest = stream->in == nullptr ? std::set<std::size_t>() : stream->in->latest[stream];
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    BEGIN_CALL("cudaStreamWaitEvent");
    if (!runtime().is_usable(stream)) return cudaErrorInvalidResourceHandle;
    if (!runtime_state::has(runtime().events, event))
        return runtime().misuse("an event is waited for that does not exist");
    if (event->in == nullptr) {
        if (stream->in == nullptr) return cudaSuccess;
        return runtime().invalidate_capture(stream, "a captured stream waits for an event from outside",
                                            cudaErrorStreamCaptureIsolation);
    }
    if (event->in->origin == nullptr) return runtime().misuse("an event of a finished capture is waited for");
    if (stream->in == nullptr) stream->in = event->in;
    if (stream->in != event->in)
        return runtime().invalidate_capture(stream, "a stream of one capture waits for another one",
                                            cudaErrorStreamCaptureMerge);
    vector_clock& clock = stream->in->clocks[stream];
    for (auto const& [other, count] : event->clocks) clock[other] = std::max(clock[other], count);
    stream->in->latest[stream].insert(event->latest.begin(), event->latest.end());
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream)
{
    BEGIN_CALL("cudaStreamSynchronize");
    if (!runtime().is_usable(stream)) return cudaErrorInvalidResourceHandle;
    if (stream->in == nullptr) return cudaSuccess;
    return runtime().invalidate_capture(stream, "a captured stream is synchronized",
                                        cudaErrorStreamCaptureUnsupported);
}

// --- memory ----------------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t* pool, cudaMemPoolProps const* wanted)
{
    BEGIN_CALL("cudaMemPoolCreate");
    if (wanted->allocType != cudaMemAllocationTypePinned || wanted->handleTypes != cudaMemHandleTypeNone ||
        wanted->location.type != cudaMemLocationTypeDevice || wanted->location.id != runtime().current)
        return runtime().misuse("a pool is not in the memory of the current device");
    runtime().pools.push_back({runtime().current});
    return *pool = &runtime().pools.back(), cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t pool)
{
    cudaError_t const code = runtime().begin_call("cudaMemPoolDestroy");
    if (runtime().lost[static_cast<std::size_t>(runtime().current)] != cudaSuccess) return code;
    return runtime().destroy(runtime().pools, pool, code);
}
cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value)
{
    BEGIN_CALL("cudaMemPoolSetAttribute");
    std::uint64_t wanted;
    std::memcpy(&wanted, value, sizeof wanted);
    if (what == cudaMemPoolAttrReleaseThreshold) return pool->threshold = wanted, cudaSuccess;
    if (wanted != 0) return runtime().misuse("a peak is set to a value other than 0");
    if (what == cudaMemPoolAttrUsedMemHigh) return pool->used_high = pool->used, cudaSuccess;
    if (what == cudaMemPoolAttrReservedMemHigh) return pool->reserved_high = pool->reserved, cudaSuccess;
    return runtime().misuse("an attribute is set that is only read");
}
cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value)
{
    BEGIN_CALL("cudaMemPoolGetAttribute");
    std::uint64_t const bytes = what == cudaMemPoolAttrUsedMemCurrent       ? pool->used
                                : what == cudaMemPoolAttrUsedMemHigh        ? pool->used_high
                                : what == cudaMemPoolAttrReservedMemCurrent ? pool->reserved
                                : what == cudaMemPoolAttrReservedMemHigh    ? pool->reserved_high
                                                                            : pool->threshold;
    std::memcpy(value, &bytes, sizeof bytes);
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t)
{
    BEGIN_CALL("cudaMemPoolTrimTo");
    return pool->reserved = pool->used, cudaSuccess;
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void** first, std::size_t bytes, cudaMemPool_t pool,
                                              cudaStream_t stream)
{
    BEGIN_CALL("cudaMallocFromPoolAsync");
    if (!runtime().is_usable(stream)) return cudaErrorInvalidResourceHandle;
    if (!runtime_state::has(runtime().pools, pool))
        return runtime().misuse("memory is taken from a pool that does not exist");
    if (bytes == 0) return runtime().misuse("no bytes are allocated");
    std::size_t const used = pool->used + runtime().bytes_of_parts();
    if (bytes > runtime().how.capacity || used > runtime().how.capacity - bytes)
        return runtime().set_error(cudaErrorMemoryAllocation);
    block made{.room = std::make_unique<std::max_align_t[]>((bytes + 256) / sizeof(std::max_align_t) + 1),
               .bytes = bytes};
    *first = made.first();
    made.poison();
    if (stream->in == nullptr) {
        made.pool = pool;
        pool->used += bytes;
        pool->used_high = std::max(pool->used_high, pool->used);
        pool->reserved = std::max(pool->reserved, pool->used);
        pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
        runtime().blocks.emplace(*first, std::move(made));
        return cudaSuccess;
    }
    made.capture = stream->in.get();
    auto const kept = std::make_shared<block>(std::move(made));
    stream->in->blocks.push_back(kept);
    return runtime().enqueue(stream, "allocation", [kept] {
        kept->is_live = true;
        kept->poison();
    });
}
cudaError_t CUDARTAPI cudaFreeAsync(void* first, cudaStream_t stream)
{
    cudaError_t const code = runtime().begin_call("cudaFreeAsync");
    if (runtime().lost[static_cast<std::size_t>(runtime().current)] != cudaSuccess) return code;
    if (!runtime_state::has(runtime().streams, stream))
        return runtime().misuse("memory is freed in a stream that does not exist");
    if (stream->in == nullptr) {
        auto const found = runtime().blocks.find(first);
        if (found == runtime().blocks.end()) return runtime().misuse("memory is freed that is not allocated");
        if (runtime_state::has(runtime().pools, found->second.pool))
            found->second.pool->used -= found->second.bytes;
        runtime().blocks.erase(found);
        return code;
    }
    for (auto const& one : stream->in->blocks) {
        if (one->first() != first || !one->is_live) continue;
        one->is_live = false;
        cudaError_t const issued = runtime().enqueue_unchecked(stream, "free", [kept = one] {
            if (!kept->is_live) runtime().misuse("a graph frees twice");
            kept->is_live = false;
            kept->poison();
        });
        return code != cudaSuccess ? code : issued;
    }
    return runtime().invalidate_capture(stream, "a capture frees what it has not allocated",
                                        cudaErrorInvalidValue);
}
cudaError_t CUDARTAPI cudaMemsetAsync(void* first, int value, std::size_t bytes, cudaStream_t stream)
{
    BEGIN_CALL("cudaMemsetAsync");
    if (!runtime().is_usable(stream)) return cudaErrorInvalidResourceHandle;
    if (!is_within(first, bytes, stream)) return runtime().misuse("bytes are filled that are not allocated");
    return runtime().enqueue(stream, "fill", [=] { std::memset(first, value, bytes); });
}
cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    BEGIN_CALL("cudaMemcpyAsync");
    if (!runtime().is_usable(stream)) return cudaErrorInvalidResourceHandle;
    bool const is_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    bool const is_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    if ((is_from && !is_within(from, bytes, stream)) || (is_to && !is_within(to, bytes, stream)))
        return runtime().misuse("bytes are copied that are not allocated");
    if (stream->in != nullptr && !(is_from && is_to))
        return runtime().invalidate_capture(stream, "a copy of the host's bytes is captured",
                                            cudaErrorStreamCaptureUnsupported);
    return runtime().enqueue(stream, "copy", [=] { std::memcpy(to, from, bytes); });
}

// --- memory without a pool, and of the host --------------------------------------------------------------

cudaError_t CUDARTAPI cudaMemGetInfo(std::size_t* free, std::size_t* total)
{
    BEGIN_CALL("cudaMemGetInfo");
    *free = runtime().how.capacity - runtime().block_bytes();
    return *total = runtime().how.capacity, cudaSuccess;
}
cudaError_t CUDARTAPI cudaMalloc(void** first, std::size_t bytes)
{
    BEGIN_CALL("cudaMalloc");
    if (bytes == 0) return runtime().misuse("no bytes are allocated");
    if (bytes > runtime().how.capacity - runtime().block_bytes())
        return runtime().set_error(cudaErrorMemoryAllocation);
    return runtime().add_block(first, bytes), cudaSuccess;
}
cudaError_t CUDARTAPI cudaFree(void* first)
{
    cudaError_t const code = runtime().begin_call("cudaFree");
    return runtime().free_block(runtime().blocks, first, code);
}
cudaError_t CUDARTAPI cudaMallocHost(void** first, std::size_t bytes)
{
    BEGIN_CALL("cudaMallocHost");
    block made = block_of(bytes);
    *first = made.first();
    runtime().host_blocks.emplace(*first, std::move(made));
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaFreeHost(void* first)
{
    cudaError_t const code = runtime().begin_call("cudaFreeHost");
    return runtime().free_block(runtime().host_blocks, first, code);
}

// --- mapped memory: functions of the driver --------------------------------------------------------------

} // extern "C"

namespace {

CUresult as_driver(cudaError_t code) { return static_cast<CUresult>(code); }

#define BEGIN_DRIVER_CALL(name)                                                                              \
    do {                                                                                                     \
        if (cudaError_t const code = runtime().begin_call(name)) return as_driver(code);                     \
    } while (false)

CUresult misuse_of_driver(char const* what) { return as_driver(runtime().misuse(what)); }

bool is_whole(std::size_t bytes) { return bytes != 0 && bytes % runtime().how.granularity == 0; }
bool is_memory_of_device(CUmemAllocationProp const& its)
{
    return its.type == CU_MEM_ALLOCATION_TYPE_PINNED && its.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           its.location.id == runtime().current;
}

CUresult CUDAAPI device_of(CUdevice* device, int ordinal)
{
    BEGIN_DRIVER_CALL("cuDeviceGet");
    return *device = ordinal, CUDA_SUCCESS;
}
CUresult CUDAAPI attribute_of(int* value, CUdevice_attribute what, CUdevice device)
{
    BEGIN_DRIVER_CALL("cuDeviceGetAttribute");
    if (what != CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED || device != runtime().current)
        return misuse_of_driver("an attribute is read that the fake does not support");
    return *value = runtime().how.has_mapping, CUDA_SUCCESS;
}
CUresult CUDAAPI granularity_of(std::size_t* bytes, CUmemAllocationProp const* memory,
                                CUmemAllocationGranularity_flags)
{
    BEGIN_DRIVER_CALL("cuMemGetAllocationGranularity");
    if (!is_memory_of_device(*memory)) return misuse_of_driver("a granularity is not of the current device");
    return *bytes = runtime().how.granularity, CUDA_SUCCESS;
}
CUresult CUDAAPI reserve_addresses(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                                   CUdeviceptr, unsigned long long)
{
    BEGIN_DRIVER_CALL("cuMemAddressReserve");
    if (!is_whole(bytes)) return misuse_of_driver("reserved addresses are no multiple of the granularity");
    std::size_t const wanted = std::max(alignment, runtime().how.granularity), room = bytes + wanted;
    address_range made;
    made.room = {.room = std::make_unique<std::max_align_t[]>((room + 256) / sizeof(std::max_align_t) + 1),
                 .bytes = bytes};
    made.padding = (wanted - reinterpret_cast<std::uintptr_t>(made.room.first()) % wanted) % wanted;
    made.room.bytes += made.padding;
    runtime().ranges.push_back(std::move(made));
    *address = reinterpret_cast<CUdeviceptr>(runtime().ranges.back().first());
    return CUDA_SUCCESS;
}
CUresult CUDAAPI free_addresses(CUdeviceptr address, std::size_t bytes)
{
    cudaError_t const code = runtime().begin_call("cuMemAddressFree");
    if (runtime().is_lost()) return as_driver(code);
    address_range* const its = runtime().range_of(address, bytes);
    if (its == nullptr || its->bytes() != bytes)
        return misuse_of_driver("addresses are freed that are not reserved");
    if (!its->mapped.empty()) return misuse_of_driver("addresses are freed while memory is mapped there");
    runtime().ranges.remove_if([&](address_range const& each) { return &each == its; });
    return as_driver(code);
}
CUresult CUDAAPI create_part(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                             CUmemAllocationProp const* memory, unsigned long long)
{
    BEGIN_DRIVER_CALL("cuMemCreate");
    if (!is_whole(bytes)) return misuse_of_driver("memory is no multiple of the granularity");
    if (!is_memory_of_device(*memory)) return misuse_of_driver("memory is not of the current device");
    std::size_t used = runtime().bytes_of_parts();
    for (auto const& pool : runtime().pools) used += pool.used;
    if (bytes > runtime().how.capacity || used > runtime().how.capacity - bytes)
        return as_driver(runtime().set_error(cudaErrorMemoryAllocation));
    *handle = ++runtime().last_part;
    runtime().parts[*handle] = {.device = runtime().current, .bytes = bytes};
    return CUDA_SUCCESS;
}
CUresult CUDAAPI release_part(CUmemGenericAllocationHandle handle)
{
    cudaError_t const code = runtime().begin_call("cuMemRelease");
    if (runtime().is_lost()) return as_driver(code);
    auto const found = runtime().parts.find(handle);
    if (found == runtime().parts.end() || found->second.is_released)
        return misuse_of_driver("memory is released that does not exist");
    found->second.is_released = true;
    if (!found->second.is_mapped) runtime().parts.erase(found);
    return as_driver(code);
}
CUresult CUDAAPI map_part(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long)
{
    BEGIN_DRIVER_CALL("cuMemMap");
    address_range* const its = runtime().range_of(address, bytes);
    auto const found = runtime().parts.find(handle);
    if (its == nullptr || found == runtime().parts.end() || offset != 0 || found->second.bytes != bytes ||
        found->second.is_mapped || found->second.device != runtime().current)
        return misuse_of_driver("a part of memory is mapped that cannot be");
    auto const at = static_cast<std::size_t>(reinterpret_cast<unsigned char*>(address) - its->first());
    for (auto const& [from, other] : its->mapped)
        if (at < from + other.bytes && from < at + bytes)
            return misuse_of_driver("addresses are mapped twice");
    found->second.is_mapped = true;
    its->mapped[at] = {.bytes = bytes, .memory = handle};
    return CUDA_SUCCESS;
}
CUresult CUDAAPI unmap_part(CUdeviceptr address, std::size_t bytes)
{
    cudaError_t const code = runtime().begin_call("cuMemUnmap");
    if (runtime().is_lost()) return as_driver(code);
    address_range* const its = runtime().range_of(address, bytes);
    if (its == nullptr) return misuse_of_driver("addresses are unmapped that are not reserved");
    auto const at = static_cast<std::size_t>(reinterpret_cast<unsigned char*>(address) - its->first());
    auto const found = its->mapped.find(at);
    if (found == its->mapped.end() || found->second.bytes != bytes)
        return misuse_of_driver("addresses are unmapped that are not those of a mapping");
    std::memset(its->first() + at, 0xCD, bytes);
    auto const memory = runtime().parts.find(found->second.memory);
    memory->second.is_mapped = false;
    if (memory->second.is_released) runtime().parts.erase(memory);
    its->mapped.erase(found);
    return as_driver(code);
}
CUresult CUDAAPI set_access(CUdeviceptr address, std::size_t bytes, CUmemAccessDesc const* access,
                            std::size_t count)
{
    BEGIN_DRIVER_CALL("cuMemSetAccess");
    address_range* const its = runtime().range_of(address, bytes);
    if (its == nullptr || count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
        access->location.type != CU_MEM_LOCATION_TYPE_DEVICE || access->location.id != runtime().current)
        return misuse_of_driver("access is set that the fake does not support");
    auto const at = static_cast<std::size_t>(reinterpret_cast<unsigned char*>(address) - its->first());
    auto const found = its->mapped.find(at);
    if (found == its->mapped.end() || found->second.bytes != bytes)
        return misuse_of_driver("access is set to addresses without memory");
    found->second.is_accessible = true;
    std::memset(its->first() + at, 0xCD, bytes);
    return CUDA_SUCCESS;
}

template <class Function>
void* address_of(Function* function)
{
    return reinterpret_cast<void*>(function);
}
cudaError_t find_entry(char const* name, void** function)
{
    if (cudaError_t const code = runtime().begin_call("cudaGetDriverEntryPoint")) return code;
    *function = nullptr;
    if (!runtime().how.has_driver_entries) return cudaSuccess;
    std::map<std::string, void*> const all{{"cuDeviceGet", address_of(device_of)},
                                           {"cuDeviceGetAttribute", address_of(attribute_of)},
                                           {"cuMemGetAllocationGranularity", address_of(granularity_of)},
                                           {"cuMemAddressReserve", address_of(reserve_addresses)},
                                           {"cuMemAddressFree", address_of(free_addresses)},
                                           {"cuMemCreate", address_of(create_part)},
                                           {"cuMemRelease", address_of(release_part)},
                                           {"cuMemMap", address_of(map_part)},
                                           {"cuMemUnmap", address_of(unmap_part)},
                                           {"cuMemSetAccess", address_of(set_access)}};
    auto const found = all.find(name);
    if (found == all.end()) return runtime().misuse("the fake does not have a function of the driver");
    return *function = found->second, cudaSuccess;
}

} // namespace

extern "C" {

#if CUDART_VERSION >= 12050
cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(char const* name, void** function, unsigned,
                                                       unsigned long long,
                                                       cudaDriverEntryPointQueryResult* how)
{
    cudaError_t const code = find_entry(name, function);
    *how = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    return code;
}
#elif CUDART_VERSION >= 12000
cudaError_t CUDARTAPI cudaGetDriverEntryPoint(char const* name, void** function, unsigned long long,
                                              cudaDriverEntryPointQueryResult*)
{
    return find_entry(name, function);
}
#else
cudaError_t CUDARTAPI cudaGetDriverEntryPoint(char const* name, void** function, unsigned long long)
{
    return find_entry(name, function);
}
#endif

// --- graphs ----------------------------------------------------------------------------------------------

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    BEGIN_CALL("cudaStreamBeginCapture");
    if (!runtime().is_usable(stream)) return cudaErrorInvalidResourceHandle;
    if (mode == cudaStreamCaptureModeGlobal) runtime().misuse("a capture forbids calls of other threads");
    if (stream->in != nullptr) return runtime().misuse("a captured stream is captured");
    stream->in = std::make_shared<capture>();
    stream->in->origin = stream;
    stream->in->clocks[stream] = {};
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph)
{
    cudaError_t code = runtime().begin_call("cudaStreamEndCapture");
    *graph = nullptr;
    if (runtime().lost[static_cast<std::size_t>(runtime().current)] != cudaSuccess) return code;
    if (!runtime_state::has(runtime().streams, stream))
        return runtime().misuse("a stream is ended that does not exist");
    auto const ended = stream->in;
    if (ended == nullptr) return runtime().set_error(cudaErrorIllegalState);
    if (ended->origin != stream) return runtime().misuse("a capture is ended on another stream than begun");
    for (auto& [other, its] : ended->clocks) {
        bool const is_joined = ended->clocks[stream][other] >= its[other];
        if (code == cudaSuccess && !ended->is_invalid && !is_joined)
            code = runtime().set_error(cudaErrorStreamCaptureUnjoined);
        other->in = nullptr;
    }
    ended->origin = nullptr;
    if (ended->is_invalid && code == cudaSuccess)
        code = runtime().set_error(cudaErrorStreamCaptureInvalidated);
    if (code != cudaSuccess) return code;
    runtime().graphs.push_back({runtime().current, ended});
    return *graph = &runtime().graphs.back(), cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph,
                                                    unsigned long long flags)
{
    BEGIN_CALL("cudaGraphInstantiateWithFlags");
    if (flags != cudaGraphInstantiateFlagAutoFreeOnLaunch)
        runtime().misuse("a graph is instantiated without automatic free on launch");
    if (!runtime_state::has(runtime().graphs, graph))
        return runtime().misuse("a graph is made executable that does not exist");
    if (std::exchange(graph->is_instantiated, true))
        return runtime().misuse("a graph is made executable twice");
    runtime().edges = graph->what->edges;
    runtime().executables.push_back({runtime().current, graph->what});
    return *made = &runtime().executables.back(), cudaSuccess;
}
/// Refused if nodes or edges differ; memory of a graph cannot be updated.
cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
#if CUDART_VERSION >= 12000
                                          cudaGraphExecUpdateResultInfo* details)
#else
                                          cudaGraphNode_t*, cudaGraphExecUpdateResult* details)
#endif
{
    BEGIN_CALL("cudaGraphExecUpdate");
    if (!runtime_state::has(runtime().executables, made) || !runtime_state::has(runtime().graphs, graph))
        return runtime().misuse("a graph is updated that does not exist");
    if (made->device != graph->device)
        return runtime().misuse("a graph is updated with one of another device");
    capture const &old = *made->what, &now = *graph->what;
    bool const is_same =
        std::equal(old.kinds.begin(), old.kinds.end(), now.kinds.begin(), now.kinds.end(),
                   [](std::string const& one, std::string const& other) { return one == other; }) &&
        old.edges == now.edges;
    auto const result = !is_same             ? cudaGraphExecUpdateErrorTopologyChanged
                        : now.blocks.empty() ? cudaGraphExecUpdateSuccess
                                             : cudaGraphExecUpdateErrorNotSupported;
#if CUDART_VERSION >= 12000
    details->result = result;
#else
    *details = result;
#endif
    if (result != cudaGraphExecUpdateSuccess) return runtime().set_error(cudaErrorGraphExecUpdateFailure);
    runtime().edges = now.edges;
    return made->what = graph->what, cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t const code = runtime().begin_call("cudaGraphDestroy");
    if (runtime().lost[static_cast<std::size_t>(runtime().current)] != cudaSuccess) return code;
    return runtime().destroy(runtime().graphs, graph, code);
}
cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t made)
{
    cudaError_t const code = runtime().begin_call("cudaGraphExecDestroy");
    if (runtime().lost[static_cast<std::size_t>(runtime().current)] != cudaSuccess) return code;
    return runtime().destroy(runtime().executables, made, code);
}
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream)
{
    BEGIN_CALL("cudaGraphLaunch");
    if (!runtime().is_usable(stream)) return cudaErrorInvalidResourceHandle;
    if (!runtime_state::has(runtime().executables, made))
        return runtime().misuse("a graph is launched that does not exist");
    if (stream->in != nullptr) return runtime().misuse("a graph is launched into a capture");
    auto& high = runtime().graph_high[static_cast<std::size_t>(made->device)];
    high = std::max(high, runtime().graph_bytes(made->device));
    for (auto const& node : made->what->nodes) node();
    return cudaSuccess;
}
/// A node is its number, plus one.
cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count)
{
    BEGIN_CALL("cudaGraphGetNodes");
    if (nodes != nullptr)
        for (std::size_t i = 0; i != *count; ++i) nodes[i] = reinterpret_cast<cudaGraphNode_t>(i + 1);
    return *count = graph->what->nodes.size(), cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
#if CUDART_VERSION >= 13000
                                        cudaGraphEdgeData*,
#endif
                                        std::size_t* count)
{
    BEGIN_CALL("cudaGraphGetEdges");
    auto const& edges = graph->what->edges;
    if (from != nullptr)
        for (std::size_t i = 0; i != *count; ++i) {
            from[i] = reinterpret_cast<cudaGraphNode_t>(edges[i].first + 1);
            to[i] = reinterpret_cast<cudaGraphNode_t>(edges[i].second + 1);
        }
    return *count = edges.size(), cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t graph, cudaGraphNode_t const* from,
                                                  cudaGraphNode_t const* to,
#if CUDART_VERSION >= 13000
                                                  cudaGraphEdgeData const*,
#endif
                                                  std::size_t count)
{
    BEGIN_CALL("cudaGraphRemoveDependencies");
    if (!graph->what->blocks.empty()) return runtime().set_error(cudaErrorNotSupported);
    if (graph->is_instantiated)
        return runtime().misuse("edges of a graph are removed that is executable already");
    for (std::size_t i = 0; i != count; ++i) {
        auto const edge = std::pair(reinterpret_cast<std::uintptr_t>(from[i]) - 1,
                                    reinterpret_cast<std::uintptr_t>(to[i]) - 1);
        auto& edges = graph->what->edges;
        auto const found = std::find(edges.begin(), edges.end(), edge);
        if (found == edges.end()) return runtime().misuse("an edge is removed that does not exist");
        edges.erase(found);
    }
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType what, void* value)
{
    BEGIN_CALL("cudaDeviceGetGraphMemAttribute");
    bool const is_high = what == cudaGraphMemAttrUsedMemHigh || what == cudaGraphMemAttrReservedMemHigh;
    std::uint64_t const bytes =
        is_high ? runtime().graph_high[static_cast<std::size_t>(device)] : runtime().graph_bytes(device);
    std::memcpy(value, &bytes, sizeof bytes);
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType, void*)
{
    BEGIN_CALL("cudaDeviceSetGraphMemAttribute");
    return runtime().graph_high[static_cast<std::size_t>(device)] = 0, cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceGraphMemTrim(int)
{
    BEGIN_CALL("cudaDeviceGraphMemTrim");
    return cudaSuccess;
}

} // extern "C"

// Sums in tree order, and exact sums, of floats and doubles in device memory.
//
// Compiled to kernels.ptx by ../../kernels.py, with NVRTC. Additions round to nearest and keep subnormal numbers, and nothing is
// multiplied, so no operations can be fused: the bits are those of the processor's loops.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u32 WHOLE_WARP = 0xFFFFFFFF;
constexpr u32 WARP = 32;
constexpr u32 THREADS = 256;
constexpr u32 WARPS = THREADS / WARP;

/// Whether this is the last block of the launch to call this function. That block sees what all others have written before their
/// calls. `arrived` is 0 before the launch and after it.
__device__ inline bool is_last_block(u32 *arrived) {
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    __threadfence();
    return is_last;
}

// ---- Sums in tree order ----

/// The number of 16-byte loads that a thread issues at once.
constexpr u32 LOADS = 8;

/// The most runs that fit into a kernel's argument.
constexpr u32 NEAR_RUNS = 64;

/// Runs of items, each summed separately. Run r has the items `starts[r]` to `starts[r + 1]`. They are summed by the blocks
/// `blocks[r]` to `blocks[r + 1]`. Each block sums 2^level items, except the last one, which may sum fewer.
struct Runs {
    u32 count;
    u32 level;
    /// Tables in device memory, which replace `near_starts` and `near_blocks` if there are more runs; otherwise null.
    const u64 *starts;
    const u64 *blocks;
    u64 near_starts[NEAR_RUNS + 1];
    u64 near_blocks[NEAR_RUNS + 1];

    __device__ u64 start(u32 run) const { return starts ? starts[run] : near_starts[run]; }
    __device__ u64 block(u32 run) const { return blocks ? blocks[run] : near_blocks[run]; }

    /// The run of a block.
    __device__ u32 run_of(u64 wanted) const {
        u32 low = 0;
        u32 high = count;
        while (high - low > 1) {
            u32 middle = (low + high) / 2;
            if (block(middle) <= wanted) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }
};

__device__ inline float plus(float left, float right) { return __fadd_rn(left, right); }
__device__ inline double plus(double left, double right) { return __dadd_rn(left, right); }

/// -0.0, which replaces missing items: adding it changes no value, not even -0.0.
template <typename T> __device__ inline T nothing() { return -T(0); }

template <typename T> struct Vector;
template <> struct Vector<float> {
    static constexpr u32 ITEMS = 4;
    typedef float4 Loaded;
    static __device__ float fold(float4 v) { return plus(plus(v.x, v.y), plus(v.z, v.w)); }
};
template <> struct Vector<double> {
    static constexpr u32 ITEMS = 2;
    typedef double2 Loaded;
    static __device__ double fold(double2 v) { return plus(v.x, v.y); }
};

/// The sum of N values in tree order. N is a power of two.
template <u32 N, typename T> __device__ inline T fold(T (&values)[N]) {
#pragma unroll
    for (u32 length = N; length > 1; length /= 2) {
#pragma unroll
        for (u32 i = 0; i < length / 2; i++) {
            values[i] = plus(values[2 * i], values[2 * i + 1]);
        }
    }
    return values[0];
}

/// The sum of the values of `lanes` lanes in tree order: neighbours first. `lanes` is a power of two. All lanes get the sum.
template <typename T> __device__ inline T fold_lanes(T value, u32 lanes = WARP) {
    for (u32 distance = 1; distance < lanes; distance *= 2) {
        value = plus(value, __shfl_xor_sync(WHOLE_WARP, value, distance));
    }
    return value;
}

/// The sum of a warp's tile: LOADS rows of a vector for each lane, in memory order. All lanes get the sum.
///
/// `values` are the sums of the vectors. Each of the first three steps passes half of a lane's rows to its neighbour, so that lanes add
/// different rows.
template <typename T> __device__ inline T fold_tile(T (&values)[LOADS]) {
    u32 lane = threadIdx.x % WARP;
#pragma unroll
    for (u32 kept = LOADS / 2, distance = 1; kept > 0; kept /= 2, distance *= 2) {
        bool upper = lane & distance;
#pragma unroll
        for (u32 i = 0; i < kept; i++) {
            T given = upper ? values[i] : values[i + kept];
            T own = upper ? values[i + kept] : values[i];
            values[i] = plus(own, __shfl_xor_sync(WHOLE_WARP, given, distance));
        }
    }
    T value = values[0];
    value = plus(value, __shfl_xor_sync(WHOLE_WARP, value, 8));
    value = plus(value, __shfl_xor_sync(WHOLE_WARP, value, 16));
    // Adds rows, neighbours first: lanes that differ only in bit 2 have neighbouring rows.
    value = plus(value, __shfl_xor_sync(WHOLE_WARP, value, 4));
    value = plus(value, __shfl_xor_sync(WHOLE_WARP, value, 2));
    return plus(value, __shfl_xor_sync(WHOLE_WARP, value, 1));
}

/// The sum, in tree order, of the first 8 * PARTS of `length` values. If there are fewer, `nothing` replaces the missing values.
template <u32 PARTS, typename T> __device__ inline T fold_far(const T *values, u64 length) {
    T parts[PARTS];
#pragma unroll
    for (u32 part = 0; part < PARTS; part++) {
        T eight[8];
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            u32 index = 8 * part + i;
            // Other blocks have written these values, so they must not come from this multiprocessor's own cache.
            eight[i] = index < length ? __ldcg(values + index) : nothing<T>();
        }
        parts[part] = fold(eight);
    }
    return fold(parts);
}

/// The sum of the values of a block's warps. Thread 0 gets the sum.
template <typename T> __device__ inline T fold_warps(T value) {
    __shared__ T sums[WARPS];
    u32 warp = threadIdx.x / WARP;
    if (threadIdx.x % WARP == 0) {
        sums[warp] = value;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        T all[WARPS];
#pragma unroll
        for (u32 i = 0; i < WARPS; i++) {
            all[i] = sums[i];
        }
        value = fold(all);
    }
    __syncthreads();
    return value;
}

template <typename T> __device__ inline T fold_far_by_warp(const T *values, u64 length) {
    u64 first = 8 * (threadIdx.x % WARP);
    return fold_lanes(fold_far<1>(values + first, length > first ? length - first : 0));
}

template <u32 PARTS, typename T> __device__ inline T fold_far_by_block(const T *values, u64 length) {
    u64 first = 8 * PARTS * threadIdx.x;
    T value = fold_far<PARTS>(values + first, length > first ? length - first : 0);
    return fold_warps(fold_lanes(value));
}

/// The numbers of partial sums that a warp and a block fold at once.
constexpr u64 WARP_PARTIALS = 8 * WARP;
constexpr u64 BLOCK_PARTIALS = 8 * THREADS;

/// Sums each run of items into `results`. `partials` has room for a value for each block. `arrived` is 0 before and after.
template <typename T>
__device__ void sum_runs(const T *items, const Runs &runs, T *partials, u32 *arrived, T *results) {
    typedef Vector<T> V;
    constexpr u32 ROW = WARP * V::ITEMS;
    constexpr u32 TILE = LOADS * ROW;
    u32 lane = threadIdx.x % WARP;
    u32 warp = threadIdx.x / WARP;
    u64 block = blockIdx.x;
    u32 run = runs.run_of(block);
    u64 run_end = runs.start(run + 1);
    // Each warp has 2^level / WARPS contiguous items.
    u64 first = runs.start(run) + ((block - runs.block(run)) << runs.level);
    u64 share = (u64(1) << runs.level) / WARPS;
    first += warp * share;
    u64 end = min(first + share, run_end);
    u32 tiles = share / TILE;
    bool is_aligned = reinterpret_cast<u64>(items + first) % 16 == 0;

    T sum = nothing<T>();
    for (u32 tile = 0; tile < tiles; tile++, first += TILE) {
        if (first >= end) {
            break;
        }
        T values[LOADS];
        if (is_aligned && end - first >= TILE) {
            const typename V::Loaded *from = reinterpret_cast<const typename V::Loaded *>(items + first) + lane;
            typename V::Loaded loaded[LOADS];
#pragma unroll
            for (u32 i = 0; i < LOADS; i++) {
                loaded[i] = __ldcs(from + i * WARP);
            }
#pragma unroll
            for (u32 i = 0; i < LOADS; i++) {
                values[i] = V::fold(loaded[i]);
            }
        } else {
#pragma unroll
            for (u32 i = 0; i < LOADS; i++) {
                T parts[V::ITEMS];
#pragma unroll
                for (u32 j = 0; j < V::ITEMS; j++) {
                    u64 index = first + i * ROW + lane * V::ITEMS + j;
                    parts[j] = index < end ? items[index] : nothing<T>();
                }
                values[i] = fold(parts);
            }
        }
        // Lane i keeps the sum of tile i.
        T value = fold_tile(values);
        sum = lane == tile ? value : sum;
    }
    T value = fold_warps(fold_lanes(sum));

    if (threadIdx.x == 0) {
        partials[block] = value;
    }
    if (!is_last_block(arrived)) {
        return;
    }
    for (u32 run = threadIdx.x; run < runs.count; run += THREADS) {
        u64 start = runs.block(run);
        if (runs.block(run + 1) - start == 1) {
            results[run] = __ldcg(partials + start);
        }
    }
    for (u32 run = warp; run < runs.count; run += WARPS) {
        u64 start = runs.block(run);
        u64 length = runs.block(run + 1) - start;
        if (length > 1 && length <= WARP_PARTIALS) {
            T value = fold_far_by_warp(partials + start, length);
            if (lane == 0) {
                results[run] = value;
            }
        }
    }
    for (u32 run = 0; run < runs.count; run++) {
        u64 start = runs.block(run);
        u64 length = runs.block(run + 1) - start;
        if (length <= WARP_PARTIALS) {
            continue;
        }
        // There are more partial sums than a block folds at once: each pass replaces the first ones with the sums of pieces.
        while (length > 4 * BLOCK_PARTIALS) {
            u64 pieces = (length + BLOCK_PARTIALS - 1) / BLOCK_PARTIALS;
            for (u64 piece = 0; piece < pieces; piece++) {
                u64 from = piece * BLOCK_PARTIALS;
                T value = fold_far_by_block<1>(partials + start + from, min(length - from, BLOCK_PARTIALS));
                if (threadIdx.x == 0) {
                    partials[start + piece] = value;
                }
                __threadfence();
                __syncthreads();
            }
            length = pieces;
        }
        T value = length <= BLOCK_PARTIALS ? fold_far_by_block<1>(partials + start, length)
                                           : fold_far_by_block<4>(partials + start, length);
        if (threadIdx.x == 0) {
            results[run] = value;
        }
    }
}

// ---- Rows ----

/// The number of rows that a thread adds.
constexpr u32 THREAD_ROWS = 64;

/// Sums runs of rows of `width` items column by column: every 2^level rows of a run become one. Further launches sum the results.
///
/// A block sums 2^level = THREAD_ROWS * THREADS / columns rows in `columns` columns, a power of two up to 32.
template <typename T>
__device__ void sum_row_runs(const T *items, const Runs &runs, u64 width, u32 columns, T *results) {
    u64 tiles = (width + columns - 1) / columns;
    u64 block = blockIdx.x / tiles;
    u32 within = threadIdx.x % columns;
    u64 column = blockIdx.x % tiles * columns + within;
    u32 run = runs.run_of(block);
    u64 first = runs.start(run) + ((block - runs.block(run)) << runs.level);
    u64 end = runs.start(run + 1);
    first += threadIdx.x / columns * THREAD_ROWS;

    T parts[THREAD_ROWS / 8];
#pragma unroll
    for (u32 part = 0; part < THREAD_ROWS / 8; part++) {
        T eight[8];
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            u64 row = first + 8 * part + i;
            eight[i] = row < end && column < width ? items[row * width + column] : nothing<T>();
        }
        parts[part] = fold(eight);
    }
    __shared__ T sums[THREADS];
    T value = fold(parts);
    for (u32 rest = THREADS; rest > columns; rest /= 2) {
        if (threadIdx.x < rest) {
            sums[threadIdx.x] = value;
        }
        __syncthreads();
        if (threadIdx.x < rest / 2) {
            u32 left = threadIdx.x / columns * 2 * columns + within;
            value = plus(sums[left], sums[left + columns]);
        }
        __syncthreads();
    }
    if (threadIdx.x < columns && column < width) {
        results[block * width + column] = value;
    }
}

// ---- Exact sums ----

/// The number of 16-byte vectors that a thread loads at once.
constexpr u32 EXACT_LOADS = 4;

/// An accumulator adds numbers below 2^scale. It starts at 1.5 * 2^(scale + SPARE), and has units of 2^(scale + SPARE - 52). As long as
/// it stays between 2^(scale + SPARE) and 2^(scale + SPARE + 1), all its additions are of whole units, and exact.
constexpr int SPARE = 13;
constexpr int LEVEL_BITS = 52 - SPARE;
/// The difference between the scales of successive accumulators: the rest of a number is at most half a unit.
constexpr int NEXT_LEVEL = LEVEL_BITS + 1;
/// The number of additions that an accumulator has room for.
constexpr u32 MOST_ADDITIONS = 1 << (SPARE - 1);
/// The number of binary places that a scale leaves for larger numbers.
constexpr int SLACK = 4;

/// The maximum number of a tile's numbers that a warp adds one by one. If there are more, the warp chooses another scale.
constexpr u32 FEW = 32;

/// The integer of an exact sum: limb i counts units of 2^(LOWEST + 32 i), as in crate exact-sum. LEVELS is the number of accumulators. Each
/// adds 40 more bits of a number; the rest is added to the limbs directly. Four suffice for nearly all floats that can occur in one sum.
template <typename T> struct Window;
template <> struct Window<double> {
    static constexpr int LOWEST = -1074;
    static constexpr u32 LIMBS = 69;
    static constexpr int LEVELS = 3;
};
template <> struct Window<float> {
    static constexpr int LOWEST = -149;
    static constexpr u32 LIMBS = 12;
    static constexpr int LEVELS = 4;
};
constexpr u32 NEGATIVE_ZEROS = 0;
constexpr u32 NANS = 1;
constexpr u32 INFINITIES = 2;
constexpr u32 NEGATIVE_INFINITIES = 3;
constexpr u32 COUNTERS = 4;

/// Adds to an integer that other threads also add to. Integers may be added in any order.
__device__ inline void add_to(i64 *integer, i64 value) { atomicAdd(reinterpret_cast<u64 *>(integer), u64(value)); }

/// Adds value * 2^unit. Each limb changes by less than 2^32, so that there is room for 2^30 additions.
template <typename T> __device__ void add_integer(i64 *limbs, i64 value, int unit) {
    int position = unit - Window<T>::LOWEST;
    if (position < 0) {
        // The bits below the window are zero.
        value = position > -64 ? value >> -position : 0;
        position = 0;
    }
    u32 shift = position % 32;
    i64 *at = limbs + position / 32;
    i64 rest = value >> (32 - shift);
    add_to(at, (u64(value) << shift) & 0xFFFFFFFF);
    add_to(at + 1, rest & 0xFFFFFFFF);
    if (rest >> 32 != 0) {
        add_to(at + 2, rest >> 32);
    }
}

/// Adds a finite number.
template <typename T> __device__ void add_number(i64 *limbs, double number) {
    i64 bits = __double_as_longlong(number);
    int biased = int(bits >> 52) & 0x7FF;
    i64 significand = (bits & ((i64(1) << 52) - 1)) | (i64(biased != 0) << 52);
    i64 sign = bits >> 63;
    if (significand != 0) {
        add_integer<T>(limbs, (significand ^ sign) - sign, max(biased, 1) - 1075);
    }
}

/// The upper half of the bits of a number, without its sign: larger for larger numbers.
__device__ inline u32 magnitude(double number) { return u32(__double2hiint(number)) & 0x7FFFFFFF; }
constexpr u32 NOT_FINITE = 0x7FF00000;

template <typename T> struct Accumulators {
    static constexpr int LEVELS = Window<T>::LEVELS;
    double level[LEVELS];
    /// Numbers are below 2^scale.
    int scale;
    /// The number of additions of each lane since `begin`.
    u32 additions;

    __device__ static double beginning(int scale, int level) {
        u64 exponent = scale - level * NEXT_LEVEL + SPARE + 1023;
        return __longlong_as_double(exponent << 52 | u64(1) << 51);
    }

    __device__ void begin(int wanted) {
        // Units must be doubles, and so must the accumulators.
        constexpr int LEAST = -1022 + LEVELS * NEXT_LEVEL;
        scale = min(max(wanted, LEAST), 1023 - SPARE - 1);
        additions = 0;
#pragma unroll
        for (int i = 0; i < LEVELS; i++) {
            level[i] = beginning(scale, i);
        }
    }

    /// Numbers of at least this magnitude are too large.
    __device__ u32 limit() const { return u32(scale + 1023) << 20; }

    /// Adds a number, and returns its rest.
    __device__ inline double add(double number) {
#pragma unroll
        for (int i = 0; i < LEVELS; i++) {
            double next = __dadd_rn(level[i], number);
            number = __dsub_rn(number, __dsub_rn(next, level[i]));
            level[i] = next;
        }
        return number;
    }

    /// Adds the accumulators of the warp's lanes to the limbs.
    __device__ void flush(i64 *limbs) {
#pragma unroll
        for (int i = 0; i < LEVELS; i++) {
            // The exponent has not changed, so the difference of the bits is the number of units.
            i64 units = __double_as_longlong(level[i]) - __double_as_longlong(beginning(scale, i));
            for (u32 distance = 1; distance < WARP; distance *= 2) {
                units += __shfl_xor_sync(WHOLE_WARP, units, distance);
            }
            if (threadIdx.x % WARP == 0 && units != 0) {
                add_integer<T>(limbs, units, scale - i * NEXT_LEVEL + SPARE - 52);
            }
        }
    }
};

/// Writes a vector's items to `numbers`, and returns how many of them are -0.0.
__device__ inline u32 spread(float4 v, double *numbers) {
    numbers[0] = v.x;
    numbers[1] = v.y;
    numbers[2] = v.z;
    numbers[3] = v.w;
    constexpr u32 SIGN = 0x80000000;
    return (__float_as_uint(v.x) == SIGN) + (__float_as_uint(v.y) == SIGN) + (__float_as_uint(v.z) == SIGN) +
           (__float_as_uint(v.w) == SIGN);
}
__device__ inline u32 spread(double number) {
    return (u32(__double2loint(number)) | (u32(__double2hiint(number)) ^ 0x80000000)) == 0;
}
__device__ inline u32 spread(double2 v, double *numbers) {
    numbers[0] = v.x;
    numbers[1] = v.y;
    return spread(v.x) + spread(v.y);
}

__device__ inline u32 greatest_of_warp(u32 value) {
    for (u32 distance = 1; distance < WARP; distance *= 2) {
        value = max(value, __shfl_xor_sync(WHOLE_WARP, value, distance));
    }
    return value;
}

__device__ inline u32 sum_of_warp(u32 value) {
    for (u32 distance = 1; distance < WARP; distance *= 2) {
        value += __shfl_xor_sync(WHOLE_WARP, value, distance);
    }
    return value;
}

/// A scale at which numbers of this magnitude, and slightly larger ones, can be added.
__device__ inline int scale_of(u32 magnitude) { return int(magnitude >> 20) - 1022 + SLACK; }

/// Writes the exact sum of the items to `result`: limbs, then counters. These are integers, which may be added in any order. `sum` is 0
/// before and after.
template <typename T> __device__ void exact_sum(const T *items, u64 length, i64 *sum, u32 *arrived, i64 *result) {
    typedef Vector<T> V;
    constexpr u32 NUMBERS = EXACT_LOADS * V::ITEMS;
    constexpr u32 LIMBS = Window<T>::LIMBS;
    __shared__ i64 local[LIMBS + COUNTERS];
    for (u32 i = threadIdx.x; i < LIMBS + COUNTERS; i += THREADS) {
        local[i] = 0;
    }
    __syncthreads();
    u32 lane = threadIdx.x % WARP;
    u64 warps = u64(gridDim.x) * WARPS;
    u64 warp = u64(blockIdx.x) * WARPS + threadIdx.x / WARP;

    // The first warp adds the items before the first whole vector and after the last one, one by one.
    u64 misplaced = reinterpret_cast<u64>(items) % 16 / sizeof(T);
    u64 before = min(misplaced == 0 ? 0 : V::ITEMS - misplaced, length);
    u64 vectors = (length - before) / V::ITEMS;
    u64 behind = before + vectors * V::ITEMS;
    const typename V::Loaded *from = reinterpret_cast<const typename V::Loaded *>(items + before);

    Accumulators<T> accumulators;
    accumulators.begin(0);
    u32 negative_zeros = 0;
    bool has_scale = false;

    /// Counts numbers that are not finite, and replaces them with 0.
    auto take_specials = [&](double &number) {
        if (magnitude(number) >= NOT_FINITE) {
            bool is_nan = number != number;
            u32 counter = is_nan ? NANS : number > 0 ? INFINITIES : NEGATIVE_INFINITIES;
            add_to(local + LIMBS + counter, 1);
            number = 0;
        }
    };

    constexpr u64 TILE = WARP * EXACT_LOADS;
    u64 tiles = (vectors + TILE - 1) / TILE;
    for (u64 tile = warp; tile < tiles; tile += warps) {
        double numbers[NUMBERS];
        u64 first = tile * TILE + lane;
        if (first - lane + TILE <= vectors) {
            typename V::Loaded loaded[EXACT_LOADS];
#pragma unroll
            for (u32 i = 0; i < EXACT_LOADS; i++) {
                loaded[i] = __ldcs(from + first + i * WARP);
            }
#pragma unroll
            for (u32 i = 0; i < EXACT_LOADS; i++) {
                negative_zeros += spread(loaded[i], numbers + i * V::ITEMS);
            }
        } else {
#pragma unroll
            for (u32 i = 0; i < EXACT_LOADS; i++) {
                u64 index = first + i * WARP;
                if (index < vectors) {
                    negative_zeros += spread(from[index], numbers + i * V::ITEMS);
                } else {
#pragma unroll
                    for (u32 j = 0; j < V::ITEMS; j++) {
                        numbers[i * V::ITEMS + j] = 0;
                    }
                }
            }
        }
        u32 greatest = 0;
#pragma unroll
        for (u32 i = 0; i < NUMBERS; i++) {
            greatest = max(greatest, magnitude(numbers[i]));
        }
        if (__any_sync(WHOLE_WARP, greatest >= accumulators.limit())) {
            u32 too_large = 0;
            greatest = 0;
#pragma unroll
            for (u32 i = 0; i < NUMBERS; i++) {
                take_specials(numbers[i]);
                too_large += magnitude(numbers[i]) >= accumulators.limit();
                greatest = max(greatest, magnitude(numbers[i]));
            }
            if (!has_scale || sum_of_warp(too_large) > FEW) {
                accumulators.flush(local);
                accumulators.begin(scale_of(greatest_of_warp(greatest)));
                has_scale = true;
            }
            // Adds the numbers that are still too large to the limbs.
#pragma unroll
            for (u32 i = 0; i < NUMBERS; i++) {
                if (magnitude(numbers[i]) >= accumulators.limit()) {
                    add_number<T>(local, numbers[i]);
                    numbers[i] = 0;
                }
            }
        }
        bool is_rest = false;
#pragma unroll
        for (u32 i = 0; i < NUMBERS; i++) {
            numbers[i] = accumulators.add(numbers[i]);
            is_rest |= numbers[i] != 0;
        }
        accumulators.additions += NUMBERS;
        bool is_full = accumulators.additions > MOST_ADDITIONS - NUMBERS;
        if (__any_sync(WHOLE_WARP, is_rest)) {
            u32 rests = 0;
#pragma unroll
            for (u32 i = 0; i < NUMBERS; i++) {
                if (numbers[i] != 0) {
                    add_number<T>(local, numbers[i]);
                    rests++;
                }
            }
            if (sum_of_warp(rests) > FEW) {
                accumulators.flush(local);
                accumulators.begin(scale_of(greatest_of_warp(greatest)));
                is_full = false;
            }
        }
        if (is_full) {
            accumulators.flush(local);
            accumulators.begin(accumulators.scale);
        }
    }
    accumulators.flush(local);

    if (warp == 0) {
        u64 edges = before + (length - behind);
        if (lane < edges) {
            double number = items[lane < before ? lane : behind + (lane - before)];
            negative_zeros += spread(number);
            take_specials(number);
            add_number<T>(local, number);
        }
    }
    negative_zeros = sum_of_warp(negative_zeros);
    if (negative_zeros != 0 && lane == 0) {
        add_to(local + LIMBS + NEGATIVE_ZEROS, negative_zeros);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < LIMBS + COUNTERS; i += THREADS) {
        if (local[i] != 0) {
            add_to(sum + i, local[i]);
        }
    }
    if (is_last_block(arrived)) {
        for (u32 i = threadIdx.x; i < LIMBS + COUNTERS; i += THREADS) {
            result[i] = __ldcg(sum + i);
            sum[i] = 0;
        }
    }
}

#define KERNELS(T, name)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
        sum_runs_##name(const T *items, const __grid_constant__ Runs runs, T *partials, u32 *arrived, T *results) {      \
        sum_runs(items, runs, partials, arrived, results);                                                                \
    }                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
        sum_row_runs_##name(const T *items, const __grid_constant__ Runs runs, u64 width, u32 columns, T *results) {     \
        sum_row_runs(items, runs, width, columns, results);                                                               \
    }                                                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                \
        exact_sum_##name(const T *items, u64 length, i64 *sum, u32 *arrived, i64 *result) {                              \
        exact_sum(items, length, sum, arrived, result);                                                                   \
    }

KERNELS(float, f32)
KERNELS(double, f64)

/*
 * The C part of the Fortran modules treefold and treefold_mpi. It reads the descriptors of Fortran arrays of any type, rank and stride,
 * checks the arrays, and passes them to the functions of treefold.h. treefold_f_reduce, treefold_f_exact and treefold_f_change read arrays
 * with gaps between their elements block by block; the other functions copy such arrays first. Module treefold_mpi itself calls the
 * functions of treefold_mpi.h, with the addresses and lengths that treefold_f_take finds.
 *
 * The layout of a descriptor depends on the compiler. So compile this file together with the modules, with the C compiler of the same
 * family (gcc with gfortran, icx with ifx), which finds its own ISO_Fortran_binding.h:
 *
 *     gcc -c -I<prefix>/include treefold_descriptor.c
 *
 * The names of functions that the modules call begin with treefold_view_ or treefold_f_. An argument that is absent in Fortran is NULL.
 */
#include <ISO_Fortran_binding.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "treefold.h"

enum { TREEFOLD_VIEW_FINE = 0, TREEFOLD_VIEW_ASSUMED_SIZE = 1, TREEFOLD_VIEW_ABSENT = 2 };

/* The description of an array or a scalar. A scalar has rank 0 and one element. */
typedef struct {
    void *address;         /* the address of the first element */
    int64_t elements;      /* the number of elements; 0 unless the state is 0 */
    int64_t bytes;         /* the size of one element */
    int32_t type;          /* one of TREEFOLD_F32 to TREEFOLD_I64, or 0 */
    int32_t rank;
    int32_t is_contiguous; /* whether the elements follow each other in memory, in array element order */
    int32_t state;         /* 0: fine; 1: of assumed size; 2: not allocated, or a null pointer */
} treefold_view;

/* The type of an array's elements. Integers are identified by size, since some compilers have several codes for kinds of the same size. */
static treefold_type type_of(const CFI_cdesc_t *array) {
    static const CFI_type_t integers[] = {CFI_type_int8_t, CFI_type_int16_t, CFI_type_int32_t, CFI_type_int64_t,    CFI_type_signed_char,
                                          CFI_type_short,  CFI_type_int,     CFI_type_long,    CFI_type_long_long};
    if (array->type == CFI_type_float) return TREEFOLD_F32;
    if (array->type == CFI_type_double) return TREEFOLD_F64;
    if (array->type == CFI_type_float_Complex) return TREEFOLD_C32;
    if (array->type == CFI_type_double_Complex) return TREEFOLD_C64;
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        if (array->type != integers[i]) continue;
        switch (array->elem_len) {
        case 1: return TREEFOLD_I8;
        case 2: return TREEFOLD_I16;
        case 4: return TREEFOLD_I32;
        case 8: return TREEFOLD_I64;
        }
    }
    return 0;
}

void treefold_view_of(const CFI_cdesc_t *array, treefold_view *view) {
    *view = (treefold_view){.address = array->base_addr, .bytes = (int64_t)array->elem_len, .type = type_of(array), .rank = array->rank,
                            .is_contiguous = 1};
    /* A null pointer may mean an array without elements: gfortran passes one for an empty array constructor. */
    int is_empty = 0;
    for (int i = 0; i < array->rank; i++) is_empty |= array->dim[i].extent == 0;
    if (is_empty) return;
    if (array->base_addr == NULL) {
        view->state = TREEFOLD_VIEW_ABSENT;
        return;
    }
    int64_t elements = 1, gap = (int64_t)array->elem_len;
    for (int i = 0; i < array->rank; i++) {
        const CFI_dim_t *dim = &array->dim[i];
        if (dim->extent < 0) {
            view->state = TREEFOLD_VIEW_ASSUMED_SIZE;
            return;
        }
        if (dim->extent != 1 && dim->sm != gap) view->is_contiguous = 0;
        gap *= dim->extent;
        elements *= dim->extent;
    }
    view->elements = elements;
    if (elements <= 1) view->is_contiguous = 1;
}

/* Copies `count` elements between an array and memory, starting at element `begin`, counted from 0. The inner loop walks the first
   dimension, with a constant element length, so that the compiler emits loads and stores. */
static void copy(const CFI_cdesc_t *array, int64_t begin, int64_t count, char *memory, int is_write) {
    int64_t index[CFI_MAX_RANK] = {0}, rest = begin, length = (int64_t)array->elem_len;
    for (int i = 0; i < array->rank; i++) {
        if (array->dim[i].extent == 0) return;
        index[i] = rest % array->dim[i].extent;
        rest /= array->dim[i].extent;
    }
    while (count > 0) {
        char *element = array->base_addr;
        int64_t stride = array->rank > 0 ? array->dim[0].sm : 0, run = array->rank > 0 ? array->dim[0].extent - index[0] : 1;
        for (int i = 0; i < array->rank; i++) element += index[i] * array->dim[i].sm;
        if (run > count) run = count;
        count -= run;
#define TREEFOLD_COPY(bytes)                                                                                                           \
    for (int64_t i = 0; i < run; i++, element += stride, memory += (bytes))                                                            \
    is_write ? memcpy(element, memory, (size_t)(bytes)) : memcpy(memory, element, (size_t)(bytes))
        switch (length) {
        case 4: TREEFOLD_COPY(4); break;
        case 8: TREEFOLD_COPY(8); break;
        case 16: TREEFOLD_COPY(16); break;
        default: TREEFOLD_COPY(length);
        }
        /* Continues with the first element of the next column. */
        index[0] = 0;
        for (int i = 1; i < array->rank && ++index[i] == array->dim[i].extent; i++) index[i] = 0;
    }
}

/* Copies the elements begin to begin + count - 1 to memory, in array element order. */
void treefold_view_read(const CFI_cdesc_t *array, int64_t begin, int64_t count, void *into) { copy(array, begin, count, into, 0); }

/* Writes all elements of an array from memory. */
void treefold_view_write(const CFI_cdesc_t *array, const void *from) {
    treefold_view view;
    treefold_view_of(array, &view);
    copy(array, 0, view.elements, (char *)(uintptr_t)from, 1);
}

/* ---- Arguments ---- */

/* An array argument and, if it has gaps, a contiguous copy of some of its elements. */
typedef struct {
    treefold_view is;
    const CFI_cdesc_t *of; /* the descriptor; NULL if the argument is absent */
    char *copy;
} argument;

/* The arguments of a call, and the first error found in them. */
typedef struct {
    argument x, y, keys, result;
    treefold_status wrong;
    char text[1024];
} arguments;

static void refuse(arguments *all, treefold_status status, const char *format, ...) {
    if (all->wrong != TREEFOLD_OK) return;
    all->wrong = status;
    va_list values;
    va_start(values, format);
    vsnprintf(all->text, sizeof all->text, format, values);
    va_end(values);
}

/* Ends a call: writes the copy of a result back, or reports the error. */
static treefold_status end(arguments *all, treefold_status status) {
    if (all->wrong != TREEFOLD_OK) status = treefold_report(all->wrong, all->text);
    if (status == TREEFOLD_OK && all->result.copy != NULL) treefold_view_write(all->result.of, all->result.copy);
    free(all->x.copy);
    free(all->y.copy);
    free(all->keys.copy);
    free(all->result.copy);
    return status;
}

/* Makes a call to treefold.h, unless an error was found before, and ends the Fortran call. */
#define TREEFOLD_END(call) end(&all, all.wrong == TREEFOLD_OK ? (call) : TREEFOLD_OK)

static const char *type_name(treefold_type type) {
    static const char *const names[] = {"of another type", "real(real32)",   "real(real64)",   "complex(real32)", "complex(real64)",
                                        "integer(int8)",   "integer(int16)", "integer(int32)", "integer(int64)"};
    return names[type >= TREEFOLD_F32 && type <= TREEFOLD_I64 ? type : 0];
}

static void check_length(arguments *all, const char *name, int64_t length, int64_t expected) {
    if (length == expected) return;
    refuse(all, TREEFOLD_LENGTH, "`%s` has %lld elements instead of %lld", name, (long long)length, (long long)expected);
}

/* Rejects negative numbers, which C would read as huge unsigned numbers. */
static void check_number(arguments *all, const char *name, int64_t number) {
    if (number < 0) refuse(all, TREEFOLD_ARGUMENT, "`%s` must not be negative: it is %lld", name, (long long)number);
}

/* Describes an array and checks it. `type` is the required type of its elements: 0 for any type that treefold reduces, -1 for any type.
   `length` -1 allows any length. An absent array has no elements. */
static void look(arguments *all, argument *found, const char *name, const CFI_cdesc_t *array, treefold_type type, int64_t length) {
    *found = (argument){.of = array};
    if (array == NULL) return;
    treefold_view_of(array, &found->is);
    if (found->is.state == TREEFOLD_VIEW_ASSUMED_SIZE)
        refuse(all, TREEFOLD_ARGUMENT, "`%s` is an array of assumed size: pass a section of it, such as %s(:n)", name, name);
    else if (found->is.state == TREEFOLD_VIEW_ABSENT)
        refuse(all, TREEFOLD_NULL, "`%s` is not allocated, or is a pointer without a target", name);
    else if (type >= 0 && found->is.type == 0)
        refuse(all, TREEFOLD_ARGUMENT, "`%s` has elements of an unsupported type: pass integers of 1, 2, 4 or 8 bytes, or real or "
                                       "complex numbers of kind real32 or real64", name);
    else if (type > 0 && found->is.type != type)
        refuse(all, TREEFOLD_ARGUMENT, "`%s` is %s instead of %s", name, type_name(found->is.type), type_name(type));
    else if (length >= 0)
        check_length(all, name, found->is.elements, length);
}

/* Whether an array must be copied before C can read it. */
static int has_gaps(const argument *array) { return array->of != NULL && !array->is.is_contiguous; }

static int have_gaps(const arguments *all) { return has_gaps(&all->x) || has_gaps(&all->y) || has_gaps(&all->keys); }

static int64_t extent(const argument *array, int dimension) {
    return array->of != NULL && dimension < array->is.rank ? array->of->dim[dimension].extent : 1;
}

/* Allocates `bytes` bytes, at least one, all 0. */
static char *reserve(arguments *all, int64_t bytes) {
    char *memory = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
    if (memory == NULL) refuse(all, TREEFOLD_MEMORY, "there is no memory for %lld bytes", (long long)bytes);
    return memory;
}

/* Returns `count` contiguous elements from element `begin` on, in the array itself or in a copy. The first call allocates the copy, so no
   later call may need more elements than the first. */
static void *part(arguments *all, argument *array, int64_t begin, int64_t count) {
    if (all->wrong != TREEFOLD_OK || array->of == NULL) return NULL;
    if (!has_gaps(array)) return begin == 0 ? array->is.address : (char *)array->is.address + begin * array->is.bytes;
    if (array->copy == NULL) array->copy = reserve(all, count * array->is.bytes);
    if (array->copy != NULL) copy(array->of, begin, count, array->copy, 0);
    return array->copy;
}

static void *whole(arguments *all, argument *array) { return part(all, array, 0, array->is.elements); }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

static double number_or_zero(const double *number) { return number != NULL ? *number : 0; }

static void *pointer_or_null(void *const *pointer) { return pointer != NULL ? *pointer : NULL; }

/* ---- Over ranks, for module treefold_mpi ---- */

/* Which argument of a call an array is. The result of a start is written after the call returns, so its array cannot be a copy. */
enum { TREEFOLD_AS_X = 0, TREEFOLD_AS_Y = 1, TREEFOLD_AS_KEYS = 2, TREEFOLD_AS_RESULT = 3, TREEFOLD_AS_RESULT_OF_START = 4 };

/* Takes an array of elements of `type` (-1 for any integers), or of items of item_bytes bytes. The array's address and its length in items
   become the arguments of the C call. An array that is not contiguous is copied. */
void treefold_f_take(arguments *all, int as, const char *name, const CFI_cdesc_t *array, treefold_type type, int64_t item_bytes) {
    static int64_t nothing;
    argument *const places[] = {&all->x, &all->y, &all->keys, &all->result, &all->result}, *taken = places[as];
    look(all, taken, name, array, -1, -1);
    int64_t bytes = taken->is.elements * taken->is.bytes, count = item_bytes > 0 ? bytes / item_bytes : taken->is.elements;
    if (type >= TREEFOLD_U8) type -= TREEFOLD_U8 - TREEFOLD_I8;
    if (count * item_bytes != bytes && item_bytes > 0)
        refuse(all, TREEFOLD_LENGTH, "`%s` has %lld bytes, but the size of an item is %lld", name, (long long)bytes,
               (long long)item_bytes);
    if (type < 0 && taken->is.type < TREEFOLD_I8)
        refuse(all, TREEFOLD_ARGUMENT, "`%s` must be integers, not %s", name, type_name(taken->is.type));
    if (item_bytes == 0 && type > 0 && taken->is.type != type)
        refuse(all, TREEFOLD_ARGUMENT, "`%s` is %s, but the plan is for %s", name, type_name(taken->is.type), type_name(type));
    if (as == TREEFOLD_AS_RESULT_OF_START && has_gaps(taken))
        refuse(all, TREEFOLD_ARGUMENT, "`%s` is not contiguous: pass it to the wait instead", name);
    taken->is.address = whole(all, taken);
    taken->is.elements = count;
    if (all->wrong == TREEFOLD_OK) return;
    /* With this invalid length, the C call reads and writes nothing. The call fails on this rank, and no other rank waits for this rank. */
    taken->is.address = &nothing;
    taken->is.elements = -1;
}

/* Records an error that Fortran has found. */
void treefold_f_note(arguments *all, treefold_status status, const char *text) { refuse(all, status, "%s", text); }

/* Ends a call after C has returned. If C reports a wrong length, the recorded error replaces C's error, because C did not see the caller's
   lengths. */
treefold_status treefold_f_end(arguments *all, treefold_status status, const CFI_cdesc_t *result) {
    if (status != TREEFOLD_OK && status != TREEFOLD_LENGTH) all->wrong = TREEFOLD_OK;
    all->result.of = result;
    return end(all, status);
}

/* ---- In tree order ---- */

/* In place of an operator, this number means the dot product of two arrays. */
enum { TREEFOLD_DOT_OF_TWO = -1 };

/* Flags that describe a call. Without TREEFOLD_BY_KEY, the argument `keys` is a placeholder. */
enum { TREEFOLD_BY_ROWS = 1, TREEFOLD_BY_KEY = 2 };

/* How many elements of an array with gaps are copied at a time, for one thread and for several threads. Both are powers of 2. */
static const int64_t block_elements = 1 << 13, block_of_threads = 1 << 20;

typedef struct {
    treefold_op op;
    treefold_type type;
    int by_rows;
    size_t width;
    treefold_team team; /* NULL for treefold's own threads */
    void *context;
} reduction;

/* Reduces n contiguous elements. */
static treefold_status fold(const reduction *how, const void *x, size_t n, const void *y, void *result) {
    int is_dot = how->op == TREEFOLD_DOT_OF_TWO;
    if (is_dot && how->team != NULL) return treefold_dot_on(how->type, x, n, y, n, how->team, how->context, result);
    if (is_dot) return treefold_dot(how->type, x, n, y, n, result);
    if (how->team != NULL) return treefold_fold_on(how->type, how->op, x, n, how->team, how->context, result);
    if (how->by_rows) return treefold_fold_rows(how->type, how->op, x, n, how->width, result, how->width);
    return treefold_fold(how->type, how->op, x, n, result);
}

/* Combines the top two values of a stack, which has room for one more value above them. */
static treefold_status join(const reduction *how, char **top, size_t row_bytes) {
    char *left = *top - 2 * row_bytes;
    treefold_op op = how->op == TREEFOLD_DOT_OF_TWO ? TREEFOLD_SUM : how->op;
    treefold_status status = treefold_fold_rows(how->type, op, left, 2 * how->width, how->width, *top, how->width);
    memcpy(left, *top, row_bytes);
    *top -= row_bytes;
    return status;
}

/* Reduces elements with gaps between them: copies and reduces blocks of 2^k rows. Since every block but the last is a complete subtree, a
   binary counter combines the values of the blocks, and the remaining values are combined from right to left. */
static treefold_status fold_by_blocks(arguments *all, const reduction *how, void *result) {
    int64_t limit = how->team != NULL || treefold_thread_count() != 1 ? block_of_threads : block_elements;
    int64_t width = (int64_t)how->width, rows = all->x.is.elements / width, block = 1, levels = 3;
    while (2 * block * width <= limit && block < rows) block *= 2;
    for (int64_t blocks = rows / block; blocks > 0; blocks /= 2) levels++;
    size_t row_bytes = (size_t)(width * all->x.is.bytes);
    char *values = reserve(all, levels * (int64_t)row_bytes), *top = values;
    treefold_status status = all->wrong;
    for (int64_t begin = 0; begin < rows && status == TREEFOLD_OK; begin += block) {
        int64_t count = least(block, rows - begin) * width;
        const void *x = part(all, &all->x, begin * width, count), *y = part(all, &all->y, begin, count);
        status = all->wrong == TREEFOLD_OK ? fold(how, x, (size_t)count, y, top) : all->wrong;
        top += row_bytes;
        for (int64_t number = begin / block + 1; number % 2 == 0 && status == TREEFOLD_OK; number /= 2)
            status = join(how, &top, row_bytes);
    }
    while (status == TREEFOLD_OK && top > values + row_bytes) status = join(how, &top, row_bytes);
    if (status == TREEFOLD_OK) memcpy(result, values, row_bytes);
    free(values);
    return status;
}

/* Reduces all elements of x, the rows of x or, for TREEFOLD_DOT_OF_TWO, the products of x and y. Uses the threads of `team`, if any. */
treefold_status treefold_f_reduce(treefold_op op, int by_rows, const CFI_cdesc_t *x, const CFI_cdesc_t *result, const CFI_cdesc_t *y,
                                  treefold_team team, void *const *context) {
    arguments all = {0};
    look(&all, &all.x, "x", x, 0, -1);
    int64_t width = by_rows ? extent(&all.x, 0) : 1;
    look(&all, &all.result, "result", result, all.x.is.type, width);
    if (op == TREEFOLD_DOT_OF_TWO) look(&all, &all.y, "y", y, all.x.is.type, all.x.is.elements);
    reduction how = {op, all.x.is.type, by_rows, (size_t)width, team, pointer_or_null(context)};
    void *place = whole(&all, &all.result);
    if (have_gaps(&all)) return TREEFOLD_END(fold_by_blocks(&all, &how, place));
    return TREEFOLD_END(fold(&how, all.x.is.address, (size_t)all.x.is.elements, all.y.is.address, place));
}

/* Checks that the elements of an array have the type and size of the elements of `items`. */
static void check_alike(arguments *all, const char *name, const argument *array) {
    if (array->is.type == all->x.is.type && array->is.bytes == all->x.is.bytes) return;
    refuse(all, TREEFOLD_ARGUMENT, "the elements of `%s` do not have the type of the elements of `items`", name);
}

/* Reduces items with a user-defined operator. `result` is one item, and so is `empty`, which may be absent. */
treefold_status treefold_f_fold_user(const CFI_cdesc_t *items, treefold_combine combine, const CFI_cdesc_t *result,
                                     void *const *context, const CFI_cdesc_t *empty) {
    arguments all = {0};
    char name[40];
    look(&all, &all.x, "items", items, -1, -1);
    look(&all, &all.result, "result", result, -1, -1);
    int64_t elements = all.result.is.elements;
    check_alike(&all, "result", &all.result);
    for (int i = 0; i < all.result.is.rank; i++) {
        snprintf(name, sizeof name, "dimension %d of result", i + 1);
        check_length(&all, name, extent(&all.result, i), extent(&all.x, i));
    }
    look(&all, &all.y, "empty", empty, -1, -1);
    if (empty != NULL) {
        check_alike(&all, "empty", &all.y);
        check_length(&all, "empty", all.y.is.elements, elements);
    }
    const void *given = whole(&all, &all.x), *nothing = whole(&all, &all.y);
    void *place = whole(&all, &all.result);
    return TREEFOLD_END(treefold_fold_user(given, (size_t)(all.x.is.elements / greatest(1, elements)),
                                           (size_t)(elements * all.result.is.bytes), combine, pointer_or_null(context), nothing, place));
}

treefold_status treefold_f_sum_lanes(const CFI_cdesc_t *x, int64_t lanes, const CFI_cdesc_t *result) {
    arguments all = {0};
    look(&all, &all.x, "x", x, 0, -1);
    look(&all, &all.result, "result", result, all.x.is.type, 1);
    check_number(&all, "lanes", lanes);
    const void *items = whole(&all, &all.x);
    return TREEFOLD_END(treefold_sum_lanes(all.x.is.type, items, (size_t)all.x.is.elements, (size_t)lanes, all.result.is.address));
}

treefold_status treefold_f_sum_and_absolute_sum(const CFI_cdesc_t *x, const CFI_cdesc_t *sum, const CFI_cdesc_t *absolute_sum) {
    arguments all = {0};
    look(&all, &all.x, "x", x, 0, -1);
    look(&all, &all.result, "sum", sum, all.x.is.type, 1);
    look(&all, &all.y, "absolute_sum", absolute_sum, all.x.is.type, 1);
    const void *items = whole(&all, &all.x);
    return TREEFOLD_END(treefold_sum_and_absolute_sum(all.x.is.type, items, (size_t)all.x.is.elements, all.result.is.address,
                                                      all.y.is.address));
}

/* ---- Exact ---- */

/* The contents of a Fortran state, which is an accumulator or a keyed state. */
typedef struct {
    union {
        treefold_accumulator *sum;
        treefold_keyed *keyed;
        void *any;
    } handle;
    treefold_type element; /* the type of the items */
    int32_t is_keyed;
    int64_t width; /* the number of items per row */
} treefold_state;

treefold_status treefold_f_destroy(treefold_state *state) {
    return state->is_keyed ? treefold_keyed_destroy(&state->handle.keyed) : treefold_accumulator_destroy(&state->handle.sum);
}

static void check_state(arguments *all, const char *name, const treefold_state *state) {
    if (state->handle.any == NULL) refuse(all, TREEFOLD_NULL, "`%s` was not created, or was destroyed", name);
}

/* Makes `to` a copy of `from`. After an error `to` is unchanged. */
treefold_status treefold_f_copy(const treefold_state *from, treefold_state *to) {
    arguments all = {0};
    treefold_state made = *from;
    made.handle.any = NULL;
    check_state(&all, "state", from);
    treefold_status status = TREEFOLD_END(from->is_keyed ? treefold_keyed_copy(from->handle.keyed, &made.handle.keyed)
                                                         : treefold_accumulator_copy(from->handle.sum, &made.handle.sum));
    if (status != TREEFOLD_OK) return status;
    treefold_f_destroy(to);
    *to = made;
    return TREEFOLD_OK;
}

/* Assigns a state. Assigning a state that was never created destroys `to`. */
treefold_status treefold_f_assign(const treefold_state *from, treefold_state *to) {
    return from->handle.any != NULL ? treefold_f_copy(from, to) : treefold_f_destroy(to);
}

/* Replaces a state with an empty state: an accumulator, or a keyed state of `keys` keys, with rows if `width` is given. */
treefold_status treefold_f_create(treefold_state *state, treefold_type type, treefold_statistic statistic, const int *keys,
                                  const int *width) {
    arguments all = {0};
    treefold_f_destroy(state);
    if (keys != NULL) check_number(&all, "keys", *keys);
    if (width != NULL) check_number(&all, "width", *width);
    if (width != NULL && keys == NULL) refuse(&all, TREEFOLD_ARGUMENT, "`width`: only states with keys have rows");
    size_t groups = keys != NULL ? (size_t)*keys : 0, columns = width != NULL ? (size_t)*width : 1;
    *state = (treefold_state){.element = type, .is_keyed = keys != NULL, .width = (int64_t)columns};
    return TREEFOLD_END(state->is_keyed ? treefold_keyed_create_rows(type, statistic, groups, columns, &state->handle.keyed)
                                        : treefold_accumulator_create(type, statistic, &state->handle.sum));
}

treefold_status treefold_f_create_hashed(treefold_state *state, treefold_type type) {
    treefold_f_destroy(state);
    *state = (treefold_state){.element = type, .is_keyed = 1, .width = 1};
    return treefold_keyed_create_hashed(type, TREEFOLD_I64, &state->handle.keyed);
}


/* Checks that two states exist, and that both or neither have keys. */
static void check_states(arguments *all, const treefold_state *state, const treefold_state *other) {
    check_state(all, "state", state);
    check_state(all, "other", other);
    if (state->is_keyed != other->is_keyed) refuse(all, TREEFOLD_ARGUMENT, "`other`: only one of the two states has keys");
}

/* Checks a state that must have keys. */
static void check_keyed(arguments *all, const treefold_state *state) {
    check_state(all, "state", state);
    if (!state->is_keyed) refuse(all, TREEFOLD_UNSUPPORTED, "`state` has no keys");
}

treefold_status treefold_f_clear(treefold_state *state) {
    arguments all = {0};
    check_state(&all, "state", state);
    return TREEFOLD_END(state->is_keyed ? treefold_keyed_clear(state->handle.keyed) : treefold_accumulator_clear(state->handle.sum));
}

treefold_status treefold_f_merge(const treefold_state *state, int is_removal, const treefold_state *other) {
    arguments all = {0};
    check_states(&all, state, other);
    if (state->is_keyed)
        return TREEFOLD_END((is_removal ? treefold_keyed_unmerge : treefold_keyed_merge)(state->handle.keyed, other->handle.keyed));
    return TREEFOLD_END((is_removal ? treefold_accumulator_unmerge : treefold_accumulator_merge)(state->handle.sum, other->handle.sum));
}

treefold_status treefold_f_equal(const treefold_state *state, const treefold_state *other, int *result) {
    arguments all = {0};
    check_states(&all, state, other);
    return TREEFOLD_END(state->is_keyed ? treefold_keyed_equal(state->handle.keyed, other->handle.keyed, result)
                                        : treefold_accumulator_equal(state->handle.sum, other->handle.sum, result));
}

/* The type of a statistic's result, for items of type `element`. */
static treefold_type type_of_result(treefold_statistic statistic, treefold_type element) {
    int is_spread = statistic == TREEFOLD_EXACT_VARIANCE || statistic == TREEFOLD_EXACT_STD;
    if (statistic == TREEFOLD_EXACT_COUNT) return TREEFOLD_I64;
    if (is_spread && element == TREEFOLD_C32) return TREEFOLD_F32;
    if (is_spread && element == TREEFOLD_C64) return TREEFOLD_F64;
    if (element >= TREEFOLD_I8) return statistic == TREEFOLD_EXACT_SUM ? TREEFOLD_I64 : TREEFOLD_F64;
    return element;
}

/* Checks the items of a statistic, which are rows if the width is not 1. A width of -1 becomes the length of a row of x. */
static void look_at_items(arguments *all, const CFI_cdesc_t *keys, const CFI_cdesc_t *x, const CFI_cdesc_t *y, treefold_type type,
                          int64_t *width) {
    look(all, &all->x, "x", x, type, -1);
    if (*width < 0) *width = extent(&all->x, 0);
    if (*width > 1 && all->x.is.rank > 1) check_length(all, "a row of x", extent(&all->x, 0), *width);
    look(all, &all->y, "y", y, all->x.is.type, all->x.is.elements);
    look(all, &all->keys, "keys", keys, 0, -1);
    if (keys == NULL) return;
    if (all->keys.is.type < TREEFOLD_I8)
        refuse(all, TREEFOLD_ARGUMENT, "`keys` must be integers, not %s", type_name(all->keys.is.type));
    check_length(all, "x", all->x.is.elements, all->keys.is.elements * *width);
}

/* Adds items to a state, or removes them, in blocks of rows, or in one block if no array has gaps. If a later block fails, the earlier
   blocks remain in the state. Without keys, all rows of a keyed state have key 0. */
static treefold_status add(const treefold_state *state, int is_removal, arguments *all) {
    treefold_keyed *keyed = state->handle.keyed;
    treefold_accumulator *sum = state->handle.sum;
    int64_t width = state->width, rows = all->x.is.elements / greatest(1, width), begin = 0;
    int64_t block = have_gaps(all) ? greatest(1, block_elements / greatest(1, width)) : greatest(1, rows);
    treefold_type key_type = all->keys.of != NULL ? all->keys.is.type : TREEFOLD_I8;
    char *zeros = state->is_keyed && all->keys.of == NULL ? reserve(all, least(block, rows)) : NULL;
    treefold_status status;
    do {
        int64_t count = least(block, rows - begin), elements = rows == 0 ? all->x.is.elements : count * width;
        const void *x = part(all, &all->x, begin * width, elements), *y = part(all, &all->y, begin * width, elements);
        const void *keys = all->keys.of != NULL ? part(all, &all->keys, begin, count) : zeros;
        size_t k = (size_t)count, n = (size_t)elements;
        if (all->wrong != TREEFOLD_OK)
            status = all->wrong;
        else if (state->is_keyed && all->y.of != NULL)
            status = (is_removal ? treefold_keyed_remove_pairs : treefold_keyed_add_pairs)(keyed, key_type, keys, k, x, n, y, n);
        else if (state->is_keyed)
            status = (is_removal ? treefold_keyed_remove : treefold_keyed_add)(keyed, key_type, keys, k, x, n);
        else if (all->y.of != NULL)
            status = (is_removal ? treefold_accumulator_remove_pairs : treefold_accumulator_add_pairs)(sum, x, n, y, n);
        else
            status = (is_removal ? treefold_accumulator_remove : treefold_accumulator_add)(sum, x, n);
        if (status != TREEFOLD_OK && begin > 0)
            refuse(all, status, "counted from item %lld: %s", (long long)begin, treefold_last_error());
        begin += block;
    } while (begin < rows && status == TREEFOLD_OK);
    free(zeros);
    return status;
}

/* Computes a statistic by adding blocks to a state: an accumulator, or a keyed state if accumulators lack the statistic. */
static treefold_status exact_by_blocks(arguments *all, treefold_statistic statistic, int by_rows, int64_t width, double ddof,
                                       void *result) {
    const int of_accumulators = 1 << TREEFOLD_EXACT_COUNT | 1 << TREEFOLD_EXACT_SUM | 1 << TREEFOLD_EXACT_MEAN |
                                1 << TREEFOLD_EXACT_VARIANCE | 1 << TREEFOLD_EXACT_STD | 1 << TREEFOLD_EXACT_NORM |
                                1 << TREEFOLD_EXACT_DOT | 1 << TREEFOLD_EXACT_VDOT;
    treefold_type type = all->x.is.type;
    size_t m = (size_t)all->result.is.elements, row = (size_t)width;
    int has_accumulator = statistic >= 0 && statistic <= TREEFOLD_EXACT_VDOT && (of_accumulators >> statistic & 1);
    treefold_state state = {.element = type, .is_keyed = by_rows || all->keys.of != NULL || !has_accumulator, .width = width};
    treefold_keyed **keyed = &state.handle.keyed;
    treefold_status status = !state.is_keyed ? treefold_accumulator_create(type, statistic, &state.handle.sum)
                             : by_rows       ? treefold_keyed_create_rows(type, statistic, m / (row > 0 ? row : 1), row, keyed)
                                             : treefold_keyed_create(type, statistic, m, keyed);
    if (state.is_keyed && statistic == TREEFOLD_EXACT_NORM) all->y = all->x;
    if (status == TREEFOLD_OK) status = add(&state, 0, all);
    if (status == TREEFOLD_OK)
        status = state.is_keyed ? treefold_keyed_values(*keyed, statistic, ddof, result, m)
                                : treefold_accumulator_value(state.handle.sum, statistic, ddof, result);
    treefold_f_destroy(&state);
    return status;
}

/* Computes a statistic of all items, for each key, or of columns. */
treefold_status treefold_f_exact(treefold_statistic statistic, int parts, const CFI_cdesc_t *x, const CFI_cdesc_t *result,
                                 const CFI_cdesc_t *keys, const CFI_cdesc_t *y, const double *ddof) {
    arguments all = {0};
    int by_rows = parts & TREEFOLD_BY_ROWS;
    int64_t width = by_rows ? -1 : 1;
    if (!(parts & TREEFOLD_BY_KEY)) keys = NULL;
    look_at_items(&all, keys, x, y, 0, &width);
    look(&all, &all.result, "result", result, type_of_result(statistic, all.x.is.type), keys == NULL ? width : -1);
    if (by_rows && all.result.is.rank > 1) check_length(&all, "a row of result", extent(&all.result, 0), width);
    treefold_view of_x = all.x.is, of_y = all.y.is, of_keys = all.keys.is;
    size_t n = (size_t)of_x.elements, l = (size_t)of_y.elements, k = (size_t)of_keys.elements, m = (size_t)all.result.is.elements;
    double degrees = number_or_zero(ddof);
    if (keys == NULL) of_keys.type = TREEFOLD_I8;
    void *place = whole(&all, &all.result);
    if (have_gaps(&all)) return TREEFOLD_END(exact_by_blocks(&all, statistic, by_rows, width, degrees, place));
    if (by_rows)
        return TREEFOLD_END(treefold_by_key_rows(of_x.type, statistic, degrees, (size_t)width, of_keys.type, of_keys.address, k,
                                                 of_x.address, n, place, m));
    if (keys != NULL)
        return TREEFOLD_END(treefold_by_key(of_x.type, statistic, degrees, of_keys.type, of_keys.address, k, of_x.address, n,
                                            of_y.address, l, place, m));
    return TREEFOLD_END(treefold_exact(of_x.type, statistic, degrees, of_x.address, n, of_y.address, l, place));
}

/* Adds items to the caller's state, or removes them. If there are several blocks, changes a copy of the state first, because a failed call
   must change nothing. */
treefold_status treefold_f_change(treefold_state *state, int is_removal, const CFI_cdesc_t *x, const CFI_cdesc_t *y,
                                  const CFI_cdesc_t *keys) {
    arguments all = {0};
    treefold_state changed = *state;
    changed.handle.any = NULL;
    check_state(&all, "state", state);
    if (state->is_keyed && keys == NULL) refuse(&all, TREEFOLD_NULL, "`keys` is absent, or not allocated");
    if (!state->is_keyed && keys != NULL) refuse(&all, TREEFOLD_ARGUMENT, "`keys` was passed, but the state has no keys");
    look_at_items(&all, keys, x, y, state->element, &state->width);
    if (all.x.is.elements <= block_elements || !have_gaps(&all)) return TREEFOLD_END(add(state, is_removal, &all));
    treefold_status status = all.wrong == TREEFOLD_OK ? treefold_f_copy(state, &changed) : all.wrong;
    if (status == TREEFOLD_OK) status = add(&changed, is_removal, &all);
    if (status == TREEFOLD_OK) {
        void *old = state->handle.any;
        state->handle.any = changed.handle.any;
        changed.handle.any = old;
    }
    treefold_f_destroy(&changed);
    return end(&all, status);
}

/* Writes a statistic of all items, or for each key. */
treefold_status treefold_f_values(const treefold_state *state, treefold_statistic statistic, const CFI_cdesc_t *result,
                                  const double *ddof) {
    arguments all = {0};
    check_state(&all, "state", state);
    look(&all, &all.result, "result", result, type_of_result(statistic, state->element), state->is_keyed ? -1 : 1);
    if (state->width > 1 && all.result.is.rank > 1) check_length(&all, "a row of result", extent(&all.result, 0), state->width);
    size_t m = (size_t)all.result.is.elements;
    double degrees = number_or_zero(ddof);
    void *place = whole(&all, &all.result);
    return TREEFOLD_END(state->is_keyed ? treefold_keyed_values(state->handle.keyed, statistic, degrees, place, m)
                                        : treefold_accumulator_value(state->handle.sum, statistic, degrees, place));
}

treefold_status treefold_f_groups(const treefold_state *state, size_t *result) {
    arguments all = {0};
    check_keyed(&all, state);
    return TREEFOLD_END(treefold_keyed_groups(state->handle.keyed, result));
}

treefold_status treefold_f_keys(const treefold_state *state, const CFI_cdesc_t *result) {
    arguments all = {0};
    check_keyed(&all, state);
    look(&all, &all.result, "result", result, TREEFOLD_I64, -1);
    void *place = whole(&all, &all.result);
    return TREEFOLD_END(treefold_keyed_keys(state->handle.keyed, place, (size_t)all.result.is.elements));
}

treefold_status treefold_f_to_bytes(const treefold_state *state, void *bytes, size_t capacity, size_t *needed) {
    arguments all = {0};
    check_state(&all, "state", state);
    return TREEFOLD_END(state->is_keyed ? treefold_keyed_to_bytes(state->handle.keyed, bytes, capacity, needed)
                                        : treefold_accumulator_to_bytes(state->handle.sum, bytes, capacity, needed));
}

treefold_status treefold_f_of_bytes(const treefold_state *state, const CFI_cdesc_t *bytes) {
    arguments all = {0};
    check_state(&all, "state", state);
    look(&all, &all.x, "bytes", bytes, TREEFOLD_I8, -1);
    size_t n = (size_t)all.x.is.elements;
    const void *items = whole(&all, &all.x);
    return TREEFOLD_END(state->is_keyed ? treefold_keyed_of_bytes(state->handle.keyed, items, n)
                                        : treefold_accumulator_of_bytes(state->handle.sum, items, n));
}

/* ---- Moving windows ---- */

treefold_status treefold_f_rolling(treefold_statistic statistic, int64_t items, int placement, int64_t least_items, int skip_nan,
                                   const CFI_cdesc_t *x, const CFI_cdesc_t *result, const CFI_cdesc_t *y, const double *ddof,
                                   const CFI_cdesc_t *index, const CFI_cdesc_t *width) {
    arguments all = {0};
    argument of_width;
    look(&all, &all.x, "x", x, 0, -1);
    look(&all, &all.result, "result", result, all.x.is.type, -1);
    look(&all, &all.y, "y", y, all.x.is.type, -1);
    check_number(&all, "window%items", items);
    check_number(&all, "window%least_items", least_items);
    look(&all, &all.keys, "index", index, 0, all.x.is.elements);
    look(&all, &of_width, "width", width, all.keys.is.type, 1);
    treefold_window window = {(size_t)items, whole(&all, &all.keys), of_width.is.address, all.keys.is.type, placement,
                              (size_t)least_items, skip_nan};
    const void *left = whole(&all, &all.x), *right = whole(&all, &all.y);
    void *place = whole(&all, &all.result);
    return TREEFOLD_END(treefold_rolling(all.x.is.type, statistic, number_or_zero(ddof), &window, left, (size_t)all.x.is.elements, right,
                                         (size_t)all.y.is.elements, place, (size_t)all.result.is.elements));
}

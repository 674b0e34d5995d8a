/*
 * What an array of Fortran is: the modules treefold and treefold_mpi take arrays of any type, rank and stride, and ask this file for their
 * addresses, types and elements. The layout of a descriptor belongs to the compiler, so this file is compiled beside the modules, by the C
 * compiler of the same kind (gcc with gfortran, icx with ifx), which finds its own ISO_Fortran_binding.h:
 *
 *     gcc -c -I<prefix>/include treefold_descriptor.c
 */
#include <ISO_Fortran_binding.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "treefold.h"

enum { TREEFOLD_VIEW_FINE = 0, TREEFOLD_VIEW_ASSUMED_SIZE = 1, TREEFOLD_VIEW_ABSENT = 2 };

/* An array, or a scalar, which has rank 0 and 1 element. */
typedef struct {
    void *address;         /* of the first element */
    int64_t elements;      /* 0 unless the state is 0 */
    int64_t bytes;         /* of one element */
    int32_t type;          /* one of TREEFOLD_F32 to TREEFOLD_I64, or 0 */
    int32_t rank;
    int32_t is_contiguous; /* the elements follow each other in memory, in array element order */
    int32_t state;         /* 0: fine; 1: of assumed size; 2: not allocated, or a null pointer */
} treefold_view;

/* Integers by their length, as compilers have one code or several for the kinds of one length. */
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

void treefold_view_of(const CFI_cdesc_t *array, treefold_view *view);
void treefold_view_read(const CFI_cdesc_t *array, int64_t begin, int64_t count, void *into);
void treefold_view_write(const CFI_cdesc_t *array, const void *from);
size_t treefold_view_extent(const CFI_cdesc_t *array, int dimension);

void treefold_view_of(const CFI_cdesc_t *array, treefold_view *view) {
    *view = (treefold_view){.address = array->base_addr, .bytes = (int64_t)array->elem_len, .type = type_of(array), .rank = array->rank,
                            .is_contiguous = 1};
    /* Of an array constructor without elements, gfortran makes a null pointer, too. */
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

/* The extent of a dimension, from 1 on; 1 if the array has no such dimension. */
size_t treefold_view_extent(const CFI_cdesc_t *array, int dimension) {
    return dimension >= 1 && dimension <= array->rank ? (size_t)array->dim[dimension - 1].extent : 1;
}

/* Copies `count` elements from element `begin` on, which counts from 0, between an array and memory. The first dimension is walked by one
   inner loop of a constant length of elements, which the compiler turns into loads and stores. */
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
        /* The next column: its first element. */
        index[0] = 0;
        for (int i = 1; i < array->rank && ++index[i] == array->dim[i].extent; i++) index[i] = 0;
    }
}

/* Copies elements begin to begin + count - 1, in array element order. */
void treefold_view_read(const CFI_cdesc_t *array, int64_t begin, int64_t count, void *into) { copy(array, begin, count, into, 0); }

/* Writes all elements. */
void treefold_view_write(const CFI_cdesc_t *array, const void *from) {
    treefold_view view;
    treefold_view_of(array, &view);
    copy(array, 0, view.elements, (char *)(uintptr_t)from, 1);
}

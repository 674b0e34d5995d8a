/* The constants of mpi.h, which are macros, as functions. */

#include <mpi.h>
#include <stddef.h>

/* The datatypes that mean one or two floating-point numbers, by index from 0 on, the most frequent first. Says how many numbers; 0 at the
   end. Those that the library lacks are MPI_DATATYPE_NULL. */
int treefold_pmpi_type(size_t index, MPI_Datatype *type)
{
    static const struct {
        MPI_Datatype type;
        int parts;
    } types[] = {
        {MPI_DOUBLE, 1},
        {MPI_FLOAT, 1},
        {MPI_DOUBLE_PRECISION, 1},
        {MPI_REAL, 1},
        {MPI_C_DOUBLE_COMPLEX, 2},
        {MPI_C_FLOAT_COMPLEX, 2},
        {MPI_C_COMPLEX, 2},
        {MPI_DOUBLE_COMPLEX, 2},
        {MPI_COMPLEX, 2},
#ifdef MPI_REAL4
        {MPI_REAL4, 1},
#endif
#ifdef MPI_REAL8
        {MPI_REAL8, 1},
#endif
#ifdef MPI_COMPLEX8
        {MPI_COMPLEX8, 2},
#endif
#ifdef MPI_COMPLEX16
        {MPI_COMPLEX16, 2},
#endif
#ifdef MPI_CXX_FLOAT_COMPLEX
        {MPI_CXX_FLOAT_COMPLEX, 2},
#endif
#ifdef MPI_CXX_DOUBLE_COMPLEX
        {MPI_CXX_DOUBLE_COMPLEX, 2},
#endif
    };
    if (index >= sizeof types / sizeof *types)
        return 0;
    *type = types[index].type;
    return types[index].parts;
}

/* How many numbers an element has, and its bytes, of a datatype that MPI_Type_create_f90_real or MPI_Type_create_f90_complex has made: such a
   datatype is predefined, and its handle another one for each precision and range (MPI 4.1, 19.1.5). 0 for other datatypes. */
int treefold_pmpi_f90_type(MPI_Datatype type, int *bytes)
{
    int integers, addresses, types, combiner, parts;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
        return 0;
    parts = combiner == MPI_COMBINER_F90_REAL ? 1 : combiner == MPI_COMBINER_F90_COMPLEX ? 2 : 0;
    return parts != 0 && PMPI_Type_size(type, bytes) == MPI_SUCCESS ? parts : 0;
}

/* The bytes of an element of a datatype, and its name, which has room for MPI_MAX_OBJECT_NAME characters: empty of one that the program has
   made. 0 if the library does not know them. */
int treefold_pmpi_describe_type(MPI_Datatype type, char *name)
{
    int integers, addresses, types, combiner, length, bytes;
    name[0] = '\0';
    if (type == MPI_DATATYPE_NULL || PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS
        || PMPI_Type_size(type, &bytes) != MPI_SUCCESS)
        return 0;
    if (combiner == MPI_COMBINER_NAMED && PMPI_Type_get_name(type, name, &length) != MPI_SUCCESS)
        name[0] = '\0';
    return bytes > 0 ? bytes : 0;
}

/* Sum, product, minimum and maximum, by index from 0 on. */
MPI_Op treefold_pmpi_op(size_t index)
{
    switch (index) {
    case 0:
        return MPI_SUM;
    case 1:
        return MPI_PROD;
    case 2:
        return MPI_MIN;
    default:
        return MPI_MAX;
    }
}

const void *treefold_pmpi_in_place(void)
{
    return MPI_IN_PLACE;
}

#ifdef OPEN_MPI
extern int mpi_fortran_in_place_;
extern int mpi_fortran_bottom_;

/* Whether an address is that of MPI_IN_PLACE in Fortran. */
int treefold_pmpi_is_fortran_in_place(const void *address)
{
    return address == (const void *) &mpi_fortran_in_place_;
}

/* Whether an address is that of MPI_BOTTOM in Fortran. */
int treefold_pmpi_is_fortran_bottom(const void *address)
{
    return address == (const void *) &mpi_fortran_bottom_;
}
#endif

/* Defines the tables from which the preprocessor generates the C functions, and the script that declares these functions in SQL. */

/*
 * The kinds of states: KIND(kind, columns, a statistic that needs this kind). Columns are X, XY or YX. In YX, the dependent column y is
 * first, as in SQL. States of KINDS can be written as bytes. States of KINDS_WITHOUT_BYTES cannot.
 */
#define KINDS(KIND)                                                                                                                    \
    KIND(sum, X, SUM)                                                                                                                  \
    KIND(dot, XY, DOT)                                                                                                                 \
    KIND(moments, X, VARIANCE)                                                                                                         \
    KIND(powers, X, KURTOSIS)                                                                                                          \
    KIND(comoments, YX, COVARIANCE)
#define KINDS_WITHOUT_BYTES(KIND) KIND(weights, XY, WEIGHTED_MEAN)

/* The aggregates: AGGREGATE(name, kind, columns, statistic, ddof, description). */
#define AGGREGATES(AGGREGATE)                                                                                                          \
    AGGREGATE(exact_sum, sum, X, SUM, 0, 'exact sum, rounded once')                                                                    \
    AGGREGATE(exact_avg, sum, X, MEAN, 0, 'exact average, rounded once')                                                               \
    AGGREGATE(exact_dot, dot, XY, DOT, 0, 'exact sum of x * y, rounded once')                                                          \
    AGGREGATE(exact_var_pop, moments, X, VARIANCE, 0, 'exact population variance, rounded once')                                       \
    AGGREGATE(exact_var_samp, moments, X, VARIANCE, 1, 'exact sample variance, rounded once')                                          \
    AGGREGATE(exact_variance, moments, X, VARIANCE, 1, 'another name for exact_var_samp')                                              \
    AGGREGATE(exact_stddev_pop, moments, X, STD, 0, 'exact population standard deviation, rounded once')                               \
    AGGREGATE(exact_stddev_samp, moments, X, STD, 1, 'exact sample standard deviation, rounded once')                                  \
    AGGREGATE(exact_stddev, moments, X, STD, 1, 'another name for exact_stddev_samp')                                                  \
    AGGREGATE(exact_skewness, powers, X, SKEWNESS, 1, 'exact sample skewness without bias, rounded once')                              \
    AGGREGATE(exact_kurtosis, powers, X, KURTOSIS, 1, 'exact sample excess kurtosis without bias, rounded once')                       \
    AGGREGATE(exact_kurtosis_pop, powers, X, KURTOSIS, 0, 'exact population excess kurtosis, rounded once')                            \
    AGGREGATE(exact_covar_pop, comoments, YX, COVARIANCE, 0, 'exact population covariance, rounded once')                              \
    AGGREGATE(exact_covar_samp, comoments, YX, COVARIANCE, 1, 'exact sample covariance, rounded once')                                 \
    AGGREGATE(exact_corr, comoments, YX, CORRELATION, 0, 'exact correlation, rounded once')                                            \
    AGGREGATE(exact_regr_slope, comoments, YX, SLOPE, 0, 'slope of the regression line of y on x, rounded once')                       \
    AGGREGATE(exact_regr_intercept, comoments, YX, INTERCEPT, 0, 'value of the regression line of y on x at x = 0, rounded once')
#define AGGREGATES_WITHOUT_BYTES(AGGREGATE)                                                                                            \
    AGGREGATE(exact_weighted_avg, weights, XY, WEIGHTED_MEAN, 0, 'average of x with the weights y, rounded once')

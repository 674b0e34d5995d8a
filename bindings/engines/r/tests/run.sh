#!/bin/sh
# Checks the package with the libtreefold that pkg-config finds: R CMD build and R CMD check, in a temporary folder, must give no errors or
# warnings. Also checks that man/ and NAMESPACE are the output of roxygen2. Needs Debian's packages r-base-dev, r-cran-testthat,
# r-cran-roxygen2, r-cran-knitr, r-cran-rmarkdown (with pandoc), r-cran-data.table, r-cran-dplyr.
#
#     PKG_CONFIG_PATH=PREFIX/lib/pkgconfig LD_LIBRARY_PATH=PREFIX/lib sh bindings/engines/r/tests/run.sh
set -eu
package=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/treefold" "$folder/library"
cp -R "$package/." "$folder/treefold"
cd "$folder"

# These flags are added to R's own, so that warnings of gcc are errors. With the site's profile, R CMD check would contact CRAN's server.
printf 'CFLAGS += -Wall -Wextra -Werror\n' > Makevars
export R_MAKEVARS_USER="$folder/Makevars" R_LIBS="$folder/library" _R_CHECK_FORCE_SUGGESTS_=false R_PROFILE=/dev/null

R CMD build treefold
R CMD check --no-manual treefold_*.tar.gz || true
log=treefold.Rcheck/00check.log
if ! grep -q '^Status: ' $log || grep -E '^Status: .*(ERROR|WARNING)' $log; then
    cat treefold.Rcheck/00install.out treefold.Rcheck/tests/*.fail 2> /dev/null || true
    echo "R CMD check failed; its output is above" >&2
    exit 1
fi

Rscript -e 'roxygen2::roxygenise("treefold", load_code = "source")' > /dev/null
diff -r "$package/man" treefold/man
diff "$package/NAMESPACE" treefold/NAMESPACE
diff "$package/DESCRIPTION" treefold/DESCRIPTION

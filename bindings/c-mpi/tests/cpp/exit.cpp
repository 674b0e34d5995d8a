// Destroys objects of every kind after main has returned, that is, after MPI_Finalize and after the destruction of thread-local variables.
// The destructors must print nothing and must not end the program.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include <unistd.h>

#include <treefold_mpi.hpp>

namespace {

// This object is constructed first, so it is destroyed last. Its destructor fails if other destructors have printed anything.
class silence {
public:
    silence() = default;
    silence(const silence &) = delete;
    silence &operator=(const silence &) = delete;
    ~silence()
    {
        std::fflush(stderr);
        const auto length = ::lseek(STDERR_FILENO, 0, SEEK_END);
        if (length == 0)
            return;
        std::vector<char> text(length > 0 ? static_cast<std::size_t>(length) : 0);
        const auto read = ::pread(STDERR_FILENO, text.data(), text.size(), 0);
        std::printf("after main: %.*s\n", static_cast<int>(read), text.data());
        std::fflush(stdout);
        ::_exit(1);
    }

    // Redirects standard error to a file.
    void begin()
    {
        file_ = std::tmpfile();
        if (file_ == nullptr || ::dup2(::fileno(file_), STDERR_FILENO) < 0)
            ::_exit(2);
    }

private:
    std::FILE *file_ = nullptr;
};

silence checked;

struct affine {
    double scale, shift;
};

treefold::comm world;
treefold::plan<double> sum, spare;
treefold::plan<affine> compose;
treefold::plan<float> exact;
treefold::plan<double> dots;
treefold::run<double> run;
treefold::run<affine> composing;
treefold::run<double, std::vector<double>> scanning;
treefold::run<double, bool> placed;
std::vector<double> place(1);
treefold::hashed_plan<std::int64_t, double> hashed;
treefold::accumulator<double> total(treefold::statistic::sum);
treefold::keyed<double> keyed(treefold::statistic::variance, 3);
std::optional<treefold::plan_builder<double>> builder;
thread_local treefold::comm of_thread;
thread_local treefold::plan<double> plan_of_thread;

// C handles. end_handles, which is registered with atexit, destroys them.
treefold_comm *c_comm;
treefold_builder *c_builder;
treefold_plan *c_plan;
treefold_run *c_run;

void end_handles()
{
    int number = 0;
    double value = 0;
    // Only calls that destroy a handle succeed here. All other calls return an error, and print nothing.
    if (treefold_comm_rank(c_comm, &number) == TREEFOLD_OK || treefold_allreduce(c_plan, &value, 1, &value, 1) == TREEFOLD_OK ||
        treefold_test(c_run, &number) == TREEFOLD_OK || treefold_builder_items(c_builder, 1) == TREEFOLD_OK)
        std::fprintf(stderr, "a handle outlives its thread\n");
    const bool are_ended = treefold_cancel(&c_run) == TREEFOLD_OK && treefold_plan_destroy(&c_plan) == TREEFOLD_OK &&
                           treefold_builder_destroy(&c_builder) == TREEFOLD_OK && treefold_comm_destroy(&c_comm) == TREEFOLD_OK;
    if (!are_ended || c_run != nullptr || c_plan != nullptr || c_builder != nullptr || c_comm != nullptr)
        std::fprintf(stderr, "a handle does not end: %s\n", treefold_last_error());
}

// A static object that is constructed on first use.
treefold::plan<double> &late()
{
    static auto plan = treefold::plan_builder<double>(world).local_items(1).build();
    return plan;
}

void make()
{
    const std::vector<double> x = {1.0};
    const std::vector<affine> maps = {{1.0, 2.0}};
    world = treefold::comm(MPI_COMM_WORLD);
    of_thread = treefold::comm(MPI_COMM_WORLD);
    plan_of_thread = treefold::plan_builder<double>(of_thread).local_items(1).build();
    builder.emplace(world);
    builder->local_items(1);
    sum = builder->build();
    spare = builder->build();
    const auto after = [](const affine &left, const affine &right) {
        return affine{left.scale * right.scale, right.scale * left.shift + right.shift};
    };
    compose = treefold::plan_builder<affine>(world, "affine", after).local_items(1).build();
    exact = treefold::plan_builder<float>(world, treefold::statistic::sum).build();
    dots = treefold::plan_builder<double>(world, treefold::statistic::dot).build();
    hashed = treefold::hashed_plan<std::int64_t, double>(world);
    total.add(x);
    keyed.add(std::vector<int>{1}, x);
    static_cast<void>(late().allreduce(x));

    // Starts runs that the program never waits for.
    run = sum.start_allreduce(x);
    composing = compose.start_allreduce(maps);
    scanning = spare.start_scan(x);
    placed = dots.start_into(treefold::operation::allreduce, x, x, place);

    if (treefold_comm_duplicate(MPI_COMM_WORLD, &c_comm) != TREEFOLD_OK ||
        treefold_builder_create(c_comm, TREEFOLD_F64, TREEFOLD_SUM, &c_builder) != TREEFOLD_OK ||
        treefold_builder_local_items(c_builder, 1) != TREEFOLD_OK || treefold_plan_build(c_builder, &c_plan) != TREEFOLD_OK ||
        treefold_start(c_plan, TREEFOLD_ALLREDUCE, x.data(), 1, nullptr, 0, &c_run) != TREEFOLD_OK)
        std::fprintf(stderr, "%s\n", treefold_last_error());
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    make();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    checked.begin();
    return std::atexit(end_handles);
}

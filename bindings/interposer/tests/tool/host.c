/* A program without MPI that loads a module with RTLD_LOCAL, as Python does. Usage: host FILE. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*run)(void);
    if (module == NULL) {
        fprintf(stderr, "host: %s\n", argc == 2 ? dlerror() : "usage: host FILE");
        return 1;
    }
    *(void **)&run = dlsym(module, "module_main");
    if (run == NULL) {
        fprintf(stderr, "host: %s\n", dlerror());
        return 1;
    }
    run();
    return 0;
}

"""Published microbenchmarks predicted by the same functions that predict workloads."""

"""The sum over tasks by MPI: buckets that set off while backpropagation goes on."""

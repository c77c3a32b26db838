/* A program of several ranks in two files, each of which includes the header. */
void gather(int rank);

/* A program of several ranks in two files, one of them a library, each of which includes the header. */
void gather(int rank);

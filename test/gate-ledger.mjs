/** The words of the ledger that the threads of one test share. */

/** Calls under way, and the most that ever were. */
export const INSIDE = 0;
export const MOST_INSIDE = 1;
/** Threads that are about to begin. */
export const READY = 2;
/** 1: the threads inside may leave. */
export const RELEASED = 3;
/** Times that spare memory was taken for good, and 1 when it was seen below 0. */
export const TAKEN = 4;
export const NEGATIVE = 5;
/** The turns in the order in which they were had, behind their number. */
export const LOG = 8;

export const LEDGER_WORDS = 1024;

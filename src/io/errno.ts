/** The operating system's name for what went wrong, such as ENOENT; empty for other errors. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Whether a disk, or what a user may have of it, is used up. */
export function isFull(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOSPC' || errno === 'EDQUOT';
}

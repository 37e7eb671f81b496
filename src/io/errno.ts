/** The operating system's name for what went wrong, such as ENOENT; empty for other errors. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** What the thread begins with that keeps a memory pool: beside this file, also when both are bundled. */
export const memoryKeeperUrl = new URL('memory-keeper.cjs', import.meta.url);

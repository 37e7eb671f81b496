/** They lie beside this file, both in the compiled tree and in the bundle. */
export const taskThreadUrl = () => new URL('task-thread.cjs', import.meta.url);
export const memoryKeeperUrl = () => new URL('memory-keeper.cjs', import.meta.url);

/** The files that threads start with. They lie beside this one, in the compiled tree and in the bundle alike. */
export const taskThreadUrl = new URL('task-thread.cjs', import.meta.url);
export const memoryKeeperUrl = new URL('memory-keeper.cjs', import.meta.url);

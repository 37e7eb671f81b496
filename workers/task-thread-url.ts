/** What worker threads begin with: beside this file, also when both are bundled. */
export const taskThreadUrl = new URL('task-thread.cjs', import.meta.url);

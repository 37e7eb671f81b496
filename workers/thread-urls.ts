/** They lie beside this file, both in the compiled tree and in the bundle. */
export const taskThreadUrl = () => new URL('task-thread.cjs', import.meta.url);
export const poolOwnerUrl = () => new URL('pool-owner.cjs', import.meta.url);

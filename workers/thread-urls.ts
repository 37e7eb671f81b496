/** They lie beside this file, both in the compiled tree and in the bundle. */
import { shippedFile } from '../src/io/shipped-files.js';

export const taskThreadUrl = () => shippedFile('task-thread.cjs', import.meta.url);
export const memoryKeeperUrl = () => shippedFile('memory-keeper.cjs', import.meta.url);

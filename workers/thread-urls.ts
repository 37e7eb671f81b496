/** The files with which threads start. They lie beside this one, both in the compiled tree and in the bundle. */
import { shippedFile } from '../src/io/shipped-file.js';

/** @throws SystemError ERR_BUNDLED */
export const taskThreadUrl = () => shippedFile('task-thread.cjs', import.meta.url);
/** @throws SystemError ERR_BUNDLED */
export const memoryKeeperUrl = () => shippedFile('memory-keeper.cjs', import.meta.url);

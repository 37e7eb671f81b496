/** Each byte of what a job goes on with changed. */
import { testDamagedStore } from './damaged-store.js';

testDamagedStore(1, 1);

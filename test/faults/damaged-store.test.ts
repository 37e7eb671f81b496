/** Some bytes of what a job goes on with changed; `*.slow.ts` has all of them. */
import { testDamagedStore } from './damaged-store.js';

testDamagedStore(53, 131);

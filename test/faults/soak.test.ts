/** A hundred random jobs one after the other; `*.slow.ts` has a thousand. */
import { testSoak } from './soak.js';

testSoak(100);

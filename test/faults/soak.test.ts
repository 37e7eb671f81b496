/** Seventy random jobs one after the other; `*.slow.ts` has a thousand. */
import { testSoak } from './soak.js';

testSoak(70, 600 * 1024);

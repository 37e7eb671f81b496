/** The N-th call failing: with some faults every fourth N, with others every twentieth; `*.slow.ts` has all. */
import { testEveryCallFails } from './every-call-fails.js';

testEveryCallFails(20);

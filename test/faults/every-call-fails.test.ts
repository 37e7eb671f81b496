/** The N-th call failing: with some faults every third N, with others every fifteenth; `*.slow.ts` has all. */
import { testEveryCallFails } from './every-call-fails.js';

testEveryCallFails(15);

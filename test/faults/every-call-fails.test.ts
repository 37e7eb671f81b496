/** The N-th call failing: with some faults every eighth N, with others every fortieth; `*.slow.ts` has all. */
import { testEveryCallFails } from './every-call-fails.js';

testEveryCallFails(40);

/** The N-th call failing: with some faults every sixteenth N, with others every eightieth; `*.slow.ts` has all. */
import { testEveryCallFails } from './every-call-fails.js';

testEveryCallFails(80);

/** A real process killed at every thirtieth of its file calls; `*.slow.ts` has all of them. */
import { testKillAtCall } from './kill-at-call.js';

testKillAtCall(30);

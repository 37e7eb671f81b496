/** A real process killed at every sixtieth of its file calls; `*.slow.ts` has all of them. */
import { testKillAtCall } from './kill-at-call.js';

testKillAtCall(60);

/** Killed at every seventh file call; `*.slow.ts` has all of them. */
import { testKilled } from './killed.js';

testKilled(7);

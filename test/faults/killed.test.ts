/** Killed at every 25th file call; `*.slow.ts` has all of them. */
import { testKilled } from './killed.js';

testKilled(25);

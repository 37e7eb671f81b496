/** Killed at every third file call; `*.slow.ts` has all of them. */
import { testKilled } from './killed.js';

testKilled(3);

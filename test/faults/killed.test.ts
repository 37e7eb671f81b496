/** Killed at every fifteenth file call; `*.slow.ts` has all of them. */
import { testKilled } from './killed.js';

testKilled(15);

/** Killed at every file call. */
import { testKilled } from './killed.js';

testKilled(1);

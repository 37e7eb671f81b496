/** Killed after every third step; `*.slow.ts` has all of them. */
import { testResumeCommit } from './resume-commit.js';

testResumeCommit(3);

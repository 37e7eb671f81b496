/** Killed after every step. */
import { testResumeCommit } from './resume-commit.js';

testResumeCommit(1);

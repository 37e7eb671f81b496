/** Every seventh call of a job that writes into a pipe failing; `*.slow.ts` has all of them. */
import { testStreamCallsFail } from './stream-calls-fail.js';

testStreamCallsFail(7);

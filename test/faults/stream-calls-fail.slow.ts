/** Every call of a job that writes into a pipe failing. */
import { testStreamCallsFail } from './stream-calls-fail.js';

testStreamCallsFail(1);

/** The laws of same-bytes.ts over thousands of jobs. */
import { testSameBytes } from './same-bytes.js';

testSameBytes(20);

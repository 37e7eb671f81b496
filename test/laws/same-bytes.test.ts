/** The laws of same-bytes.ts over some hundred jobs; over thousands in same-bytes.slow.ts. */
import { testSameBytes } from './same-bytes.js';

testSameBytes(1);

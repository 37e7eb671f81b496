/** A call of append-faults.ts now and then; all of them in append-faults.slow.ts. */
import { testAppendFaults } from './append-faults.js';

testAppendFaults(5);

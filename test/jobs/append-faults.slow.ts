/** Every call of append-faults.ts. */
import { testAppendFaults } from './append-faults.js';

testAppendFaults(1);

/** The N-th call failing, for every N and every fault. */
import { testEveryCallFails } from './every-call-fails.js';

testEveryCallFails(1);

/** The power fails after every fourth change; `*.slow.ts` has all. */
import { testPowerLoss } from './power-loss.js';

testPowerLoss(4, 1);

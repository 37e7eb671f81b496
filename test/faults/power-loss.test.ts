/** The power fails after every change, in a few ways; `*.slow.ts` has more of them. */
import { testPowerLoss } from './power-loss.js';

testPowerLoss(2);

/** The power fails after every second change, in a few ways; `*.slow.ts` has more of them. */
import { testPowerLoss } from './power-loss.js';

testPowerLoss({ mixtures: 1, endings: 1, step: 9, stride: 2 });

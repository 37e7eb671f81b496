/** The power fails after every change, in many ways. */
import { testPowerLoss } from './power-loss.js';

testPowerLoss({ mixtures: 40, endings: 2, step: 1, stride: 1 });

/** The power fails after every change, in many ways. */
import { testPowerLoss } from './power-loss.js';

testPowerLoss(40);

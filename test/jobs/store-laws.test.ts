/** The laws of stores, with as many cases as take seconds. */
import { testStoreLaws } from './store-laws.js';

testStoreLaws(1);

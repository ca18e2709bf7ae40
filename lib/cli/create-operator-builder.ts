/*
 * The program of the package `create-operator-builder`, which `npm create operator-builder` runs.
 */
import { exitCodes } from './command-context.js';
import { runProcess } from './run-process.js';

const load = async () => (await import('./program.js')).runCreator;
runProcess({ load, failure: exitCodes.failure });

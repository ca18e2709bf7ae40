#!/usr/bin/env node
/*
 * The program `kubectl-operator_plan`, which kubectl runs as `kubectl operator-plan`.
 */
import { runProcess } from './run-process.js';

const load = async () => (await import('./commands/kubectl-plan.js')).runKubectlPlan;
runProcess({ load, failure: 2 });

#!/usr/bin/env node
/*
 * The program `operator-builder`.
 *
 *   main.ts ──► run-process.ts ──► program.ts ──► commands/ (options and help) ──► a folder for each task
 *
 * Read `run-process.ts`, the only module of lib/cli that uses the process directly, `program.ts`,
 * `command-context.ts` (the parts of the process that a command gets) and one file of `commands/`. The tasks:
 * `scaffold/` writes and upgrades projects, `run/` runs operators, `manifests/` generates CRDs, roles and webhooks,
 * `package/` makes an installer or a chart, `plan/` shows what a change would do, `upgrade/` compares two releases of
 * an operator, and `declarative/` runs operators in YAML.
 * `load-operator.ts` bundles and loads the operator of a project.
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { exitCodes } from './command-context.js';
import { projectProgram } from './project-program.js';
import { runProcess } from './run-process.js';

const ofProject = projectProgram(process.cwd(), fileURLToPath(new URL('../../', import.meta.url)));
if (ofProject === undefined) {
  // Imported only here: a project with its own version of this package runs that version's program instead.
  const load = async () => (await import('./program.js')).runCli;
  runProcess({ load, failure: exitCodes.failure });
} else {
  process.argv[1] = ofProject;
  void import(pathToFileURL(ofProject).href);
}

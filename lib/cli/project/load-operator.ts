import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OperatorDefinition } from '../../manager/index.js';
import { asError } from '../../system/as-error.js';
import { OperatorError } from '../../system/operator-error.js';
import { systemRandom } from '../../system/random.js';
import { fileError } from '../file-error.js';
import { bundleFile, bundleOperator, operatorFile } from './bundle-operator.js';
import { checkedDefinition } from './checked-definition.js';
import { findProject } from './find-project.js';

/** An operator loaded from its sources. */
export interface LoadedProject {
  /** Root of the project, absolute. */
  readonly root: string;
  readonly operator: OperatorDefinition;
  /** The project's source files of the operator, absolute. */
  readonly files: readonly string[];
}

/**
 * Loads the operator of a project from its present sources. Each call loads new modules, which Node keeps
 * until the process ends.
 * @param directory - in the project, absolute
 * @throws OperatorError `InvalidConfig`: not a project, or the operator does not compile, load, or export a
 * definition; the message names the remedy
 */
export async function loadOperator(directory: string): Promise<LoadedProject> {
  const root = await findProject(resolve(directory));
  const { code, files } = await bundleOperator(root);
  const module = await loadedModule(root, code);
  return { root, files, operator: checkedDefinition(module, operatorFile) };
}

/** Writes the module into the project while it loads, since Node looks for packages from there. */
async function loadedModule(root: string, code: string): Promise<object> {
  const folder = dirname(join(root, bundleFile));
  // Node loads each path once; a unique name gives the operator fresh state.
  const file = join(folder, `operator-${systemRandom.uuid()}.mjs`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(file, code);
  } catch (error) {
    throw fileError(file, 'written', error);
  }
  try {
    return (await import(pathToFileURL(file).href)) as object;
  } catch (thrown) {
    const error = asError(thrown);
    const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    const remedy = isMissing ? 'npm install may help' : '(OPERATOR_BUILDER_DEBUG=1 shows where)';
    const message = `${operatorFile} of ${root} can't be loaded: ${error.message}\n${remedy}`;
    throw new OperatorError('InvalidConfig', message, { cause: error });
  } finally {
    await rm(file, { force: true });
  }
}

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '../client/index.js';
import type { ConnectedClient } from '../client/index.js';
import type { OperatorDefinition } from '../manager/index.js';
import { isJsonObject, dns1123LabelProblem } from '../object/index.js';
import { asError, OperatorError, systemRandom } from '../system/index.js';
import { exists, fileError, statIfExists } from './files.js';

/** An operator loaded from its sources. */
export interface LoadedProject {
  /** Absolute path of the project's root. */
  readonly root: string;
  readonly operator: OperatorDefinition;
  /** Absolute paths of the operator's source files in the project. */
  readonly files: readonly string[];
}

/**
 * Loads the operator of a project from its current sources. Each call loads new modules, which Node keeps until the
 * process ends.
 * @param directory - the absolute path of a directory in the project
 * @throws OperatorError `InvalidConfig`: not a project, or the operator does not compile, load, or export a definition;
 * the message names the remedy
 */
export async function loadOperator(directory: string): Promise<LoadedProject> {
  const root = await findProject(resolve(directory));
  const { code, files } = await bundleOperator(root);
  const module = await loadedModule(root, code);
  return { root, files, operator: checkedDefinition(module, operatorFile) };
}

/**
 * Returns a client without a cluster, for an operator that is set up and never runs. It resolves the built-in kinds.
 * @param name - the name of the operator, for the error of a request
 */
export function unreachableClient(name: string): ConnectedClient {
  return createClient({
    transport: {
      request: ({ method, path }) => {
        const what = `setup of the operator ${name} sends a request (${method} ${path})`;
        const remedy =
          'send it from a runnable of the manager: tools set operators up without a cluster';
        throw new OperatorError('InvalidConfig', `${what}; ${remedy}`);
      },
      close: () => Promise.resolve(),
    },
  });
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
    const remedy = isMissing ? 'run npm install' : '(OPERATOR_BUILDER_DEBUG=1 prints the stack)';
    const message = `${operatorFile} of ${root} can't be loaded: ${error.message}\n${remedy}`;
    throw new OperatorError('InvalidConfig', message, { cause: error });
  } finally {
    await rm(file, { force: true });
  }
}

/**
 * Returns the operator that a module exports.
 * @param file - the module, for messages
 * @throws OperatorError `InvalidConfig`: it exports no operator, or another value
 */
export function checkedDefinition(module: object, file: string): OperatorDefinition {
  const { operator } = module as { readonly operator?: unknown };
  if (operator === undefined) {
    const others = Object.keys(module).join(', ');
    const found = others === '' ? 'no exports' : others;
    const remedy = 'add: export const operator: OperatorDefinition = { name, resources, setup }';
    throw new OperatorError(
      'InvalidConfig',
      `${file}: no export named operator, got ${found}; ${remedy}`,
    );
  }
  const problems = problemsOf(operator);
  if (problems.length > 0) {
    const list = problems.map((problem) => `  ${problem}`).join('\n');
    const message = `${file} exports an invalid OperatorDefinition:\n${list}`;
    throw new OperatorError('InvalidConfig', message);
  }
  return operator as OperatorDefinition;
}

function problemsOf(operator: unknown): readonly string[] {
  if (!isJsonObject(operator)) return [`want an object, got ${typeof operator}`];
  const { name, resources = [], webhooks = [], setup } = operator;
  return [
    ...nameProblems(name),
    ...(typeof setup === 'function' ? [] : [`setup: want a function, got ${typeof setup}`]),
    ...listProblems('resources', resources, ['crd', 'plural'], 'a result of defineResource'),
    ...listProblems(
      'webhooks',
      webhooks,
      ['path', 'type'],
      'a result of validatingWebhook, mutatingWebhook or conversionWebhook',
    ),
  ];
}

function nameProblems(name: unknown): readonly string[] {
  if (typeof name !== 'string') return [`name: want a string, got ${typeof name}`];
  const problem = dns1123LabelProblem(name);
  return problem === undefined ? [] : [`name: ${problem}`];
}

/** @param members - members of each item; an item may be a class instance */
function listProblems(
  name: string,
  list: unknown,
  members: readonly string[],
  wanted: string,
): readonly string[] {
  if (!Array.isArray(list)) return [`${name}: want an array, got ${typeof list}`];
  return list.flatMap((one: unknown, index) => {
    const isOne =
      typeof one === 'object' && one !== null && members.every((member) => member in one);
    return isOne ? [] : [`${name}[${index}]: want ${wanted}`];
  });
}

/** Path of the operator in a project. */
export const operatorFile = 'src/operator.ts';

/** Path from which bundles are loaded; source paths in messages are relative to it. */
export const bundleFile = 'node_modules/.cache/operator-builder/operator.mjs';

/** The part of esbuild's API in use; the project's own esbuild may have any version. */
interface Esbuild {
  build(options: object): Promise<{
    readonly outputFiles: readonly { readonly text: string }[];
    readonly metafile: { readonly inputs: Readonly<Record<string, unknown>> };
  }>;
  formatMessages(messages: readonly object[], options: object): Promise<readonly string[]>;
}

/**
 * Bundles a project's operator with the project's esbuild.
 * @param root - the absolute path of the project
 * @returns an ES module that imports packages instead of including them, and its source files in the project, absolute
 * @throws OperatorError `InvalidConfig`: the operator or esbuild is missing, or the code does not compile
 */
export async function bundleOperator(root: string) {
  if (!(await exists(join(root, operatorFile)))) {
    const remedy = 'create it, and export an OperatorDefinition named operator';
    throw new OperatorError('InvalidConfig', `${root} has no ${operatorFile}; ${remedy}`);
  }
  const esbuild = await esbuildOf(root);
  try {
    const { outputFiles, metafile } = await esbuild.build({
      ...{ absWorkingDir: root, entryPoints: [operatorFile], outfile: bundleFile },
      ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'node20' },
      ...{ write: false, metafile: true, sourcemap: 'inline', logLevel: 'silent' },
      define: placeOf(join(root, operatorFile)),
    });
    const files = Object.keys(metafile.inputs).map((file) => resolve(root, file));
    return { code: outputFiles[0]?.text ?? '', files };
  } catch (error) {
    const messages = await messagesOf(error, esbuild);
    const what = `${operatorFile} of ${root} does not compile:\n${messages}`;
    throw new OperatorError('InvalidConfig', what, { cause: error });
  }
}

/**
 * Replaces `import.meta` by the path that the bundle has when it is deployed: beside the sources, so that paths
 * relative to it stay valid.
 */
function placeOf(file: string): Readonly<Record<string, string>> {
  return {
    'import.meta.url': JSON.stringify(pathToFileURL(file).href),
    'import.meta.filename': JSON.stringify(file),
    'import.meta.dirname': JSON.stringify(dirname(file)),
  };
}

async function esbuildOf(root: string): Promise<Esbuild> {
  let path: string;
  try {
    path = createRequire(join(root, 'package.json')).resolve('esbuild');
  } catch (error) {
    const remedy = 'run npm install, or npm install --save-dev esbuild if package.json lacks it';
    throw new OperatorError('InvalidConfig', `${root} has no esbuild; ${remedy}`, { cause: error });
  }
  const loaded = (await import(pathToFileURL(path).href)) as Esbuild & {
    readonly default?: Esbuild;
  };
  // Node does not find the names of all exports of a CommonJS module, but `default` has all of them.
  return loaded.default ?? loaded;
}

async function messagesOf(thrown: unknown, esbuild: Esbuild): Promise<string> {
  const { errors } = thrown as { readonly errors?: unknown };
  if (!Array.isArray(errors) || errors.length === 0) return asError(thrown).message;
  const texts = await esbuild.formatMessages(errors as object[], { kind: 'error', color: false });
  return texts.map((text) => text.trimEnd()).join('\n');
}

const marks = ['PROJECT', 'package.json'];

/**
 * Finds the root of a directory's project: the nearest directory upwards with a `PROJECT` or `package.json`.
 * @param directory - an absolute path
 * @throws OperatorError `InvalidConfig`: no directory, or not in a project
 */
export async function findProject(directory: string): Promise<string> {
  refuseMissing(directory);
  for (let each = resolve(directory); ; each = dirname(each)) {
    for (const mark of marks) if (await exists(join(each, mark))) return each;
    if (each !== dirname(each)) continue;
    const remedy = 'pass the directory of a project, or create one with operator-builder init';
    throw new OperatorError(
      'InvalidConfig',
      `${directory} is not inside a project: no PROJECT or package.json found; ${remedy}`,
    );
  }
}

/** A misspelled directory must not select the project around it. */
function refuseMissing(directory: string): void {
  const found = statIfExists(directory);
  if (found?.isDirectory() === true) return;
  const problem = found === undefined ? 'there is no such directory' : 'it is not a directory';
  const remedy = 'pass the directory of a project';
  throw new OperatorError('InvalidConfig', `${directory}: ${problem}; ${remedy}`);
}

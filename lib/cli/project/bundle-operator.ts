import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { asError } from '../../system/as-error.js';
import { OperatorError } from '../../system/operator-error.js';
import { exists } from './find-project.js';

/** Path of the operator in a project. */
export const operatorFile = 'src/operator.ts';

/** Path from which bundles are loaded; source paths in messages are relative to it. */
export const bundleFile = 'node_modules/.cache/operator-builder/operator.mjs';

/** A project's operator as one module. */
export interface OperatorBundle {
  /** An ES module that imports packages instead of including them. */
  readonly code: string;
  /** The project's source files in the bundle, absolute. */
  readonly files: readonly string[];
}

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
 * @param root - of the project, absolute
 * @throws OperatorError `InvalidConfig`: the operator or esbuild is missing, or the code does not compile
 */
export async function bundleOperator(root: string): Promise<OperatorBundle> {
  if (!(await exists(join(root, operatorFile)))) {
    const remedy = 'it is to export an OperatorDefinition as operator';
    throw new OperatorError('InvalidConfig', `${root} has no ${operatorFile}: ${remedy}`);
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

/** Defines the code's own location as in the deployed bundle, which is also beside the sources. */
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
    const remedy = 'npm install, or npm install --save-dev esbuild where package.json lacks it';
    throw new OperatorError('InvalidConfig', `${root} has no esbuild: ${remedy}`, { cause: error });
  }
  const loaded = (await import(pathToFileURL(path).href)) as Esbuild & {
    readonly default?: Esbuild;
  };
  // Not every export of a CommonJS module has a name.
  return loaded.default ?? loaded;
}

async function messagesOf(thrown: unknown, esbuild: Esbuild): Promise<string> {
  const { errors } = thrown as { readonly errors?: unknown };
  if (!Array.isArray(errors) || errors.length === 0) return asError(thrown).message;
  const texts = await esbuild.formatMessages(errors as object[], { kind: 'error', color: false });
  return texts.map((text) => text.trimEnd()).join('\n');
}

import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { OperatorError } from '../../system/operator-error.js';
import { contentError, fileError, whileWriting } from '../file-error.js';
import { parseDocuments, parseObjects } from '../object-texts.js';
import { exists } from '../project/find-project.js';

/** An object to apply to a cluster. */
export type BuiltObject = UnstructuredObject;

/** Overrides for a kustomization. */
export interface BuildOptions {
  /** Namespace of all objects. @defaultValue the kustomization's */
  readonly namespace?: string | undefined;
  /** Further entries of the `resources` of this kustomization. @defaultValue none */
  readonly resources?: readonly string[] | undefined;
  /** Further entries of its `components`. @defaultValue none */
  readonly components?: readonly string[] | undefined;
}

/**
 * Builds the kustomization of a folder with `kubectl kustomize`.
 * @param folder - absolute
 * @throws OperatorError `InvalidConfig`: kubectl is missing, or it refuses the kustomization
 */
export async function buildKustomization(
  folder: string,
  { namespace, resources = [], components = [] }: BuildOptions = {},
): Promise<readonly BuiltObject[]> {
  if (namespace === undefined && resources.length === 0 && components.length === 0) {
    return kustomize(folder);
  }
  // A copy beside the original, so that the paths in it lead to the same files.
  const copy = await whileWriting(dirname(folder), () =>
    mkdtemp(join(dirname(folder), `.${basename(folder)}-`)),
  );
  try {
    await cp(folder, copy, { recursive: true });
    const file = await kustomizationIn(copy, folder);
    const content = await contentOf(file);
    const changed = {
      ...content,
      ...(namespace !== undefined && { namespace }),
      resources: [...textsOf(content['resources']), ...resources],
      components: [...textsOf(content['components']), ...components],
    };
    await writeFile(file, JSON.stringify(changed));
    return await kustomize(copy, folder);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function kustomizationIn(copy: string, folder: string): Promise<string> {
  for (const name of ['kustomization.yaml', 'kustomization.yml', 'Kustomization']) {
    if (await exists(join(copy, name))) return join(copy, name);
  }
  throw contentError(folder, 'there is no kustomization.yaml');
}

async function contentOf(file: string): Promise<Readonly<Record<string, unknown>>> {
  const [content = {}] = parseDocuments(await readFile(file, 'utf8'), file);
  return isJsonObject(content) ? content : {};
}

function textsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** @param said - the folder that messages name */
async function kustomize(folder: string, said = folder): Promise<readonly BuiltObject[]> {
  if (!(await exists(folder))) {
    throw fileError(folder, 'read', Object.assign(new Error(), { code: 'ENOENT' }));
  }
  const text = await new Promise<string>((resolve, reject) => {
    const options = { maxBuffer: 256_000_000 };
    execFile('kubectl', ['kustomize', folder], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(kubectlError(said, error, stderr.replaceAll(folder, said)));
    });
  });
  return parseObjects(text, said) as unknown as readonly BuiltObject[];
}

function kubectlError(folder: string, error: Error, stderr: string): OperatorError {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    const remedy = 'install kubectl, which builds kustomizations';
    return contentError(
      folder,
      `kubectl kustomize: there is no kubectl on the PATH; ${remedy}`,
      error,
    );
  }
  const problem = stderr.trim().replace(/^(?:error: |.* err=)/, '') || error.message;
  return contentError(folder, `kubectl kustomize: ${problem}`, error);
}

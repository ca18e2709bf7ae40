import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { EmbeddedCluster } from '../../embedded/index.js';
import { isJsonObject } from '../../object/json.js';
import { OperatorError } from '../../system/operator-error.js';
import { whileWriting } from '../file-error.js';
import { textIfExists } from '../scaffold/plan-files.js';

/**
 * Writes the kubeconfig of a listening embedded cluster.
 * @param file - absolute
 * @returns a function that removes it
 * @throws OperatorError `InvalidConfig`: the file belongs to another cluster, or can't be written
 */
export async function writeKubeConfigFile(
  cluster: EmbeddedCluster,
  file: string,
): Promise<() => Promise<void>> {
  await refuseOthers(file);
  await whileWriting(file, async () => {
    await mkdir(dirname(file), { recursive: true });
    await cluster.writeKubeConfig(file);
  });
  return async () => {
    // Another process may have replaced it.
    if ((await textIfExists(file)) === cluster.kubeConfig()) await rm(file, { force: true });
  };
}

/** Protects a kubeconfig with the user's clusters from being overwritten. */
async function refuseOthers(file: string): Promise<void> {
  const text = await textIfExists(file);
  if (text === undefined || text.trim() === '') return;
  const [{ parse }, { checkYamlDepth }] = await Promise.all([
    import('yaml'),
    import('../../object/yaml-documents.js'),
  ]);
  let content: unknown;
  try {
    content = parse(checkYamlDepth(text, file));
  } catch {
    // Invalid YAML: not a file of this program.
  }
  const { contexts } = isJsonObject(content) ? content : {};
  const [only, ...others] = Array.isArray(contexts) ? (contexts as readonly unknown[]) : [];
  if (others.length === 0 && isJsonObject(only) && only['name'] === 'embedded') return;
  const remedy = 'name another file, or remove it';
  throw new OperatorError(
    'InvalidConfig',
    `${file} is there, and is no kubeconfig of an embedded cluster: ${remedy}`,
  );
}

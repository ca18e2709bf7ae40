import { resolve } from 'node:path';
import { isJsonObject } from '../../object/json.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { checkDepth } from '../../object/depth.js';
import { OperatorError } from '../../system/operator-error.js';
import type { CommandContext } from '../command-context.js';
import { readText } from '../files.js';

/**
 * Reads the objects of YAML or JSON files, including the items of a `List`; skips kustomizations.
 * @param files - paths; `-` is the standard input
 * @throws OperatorError `InvalidConfig`: a file can't be read or holds another value
 */
export async function readResources(
  files: readonly string[],
  context: CommandContext,
): Promise<readonly UnstructuredObject[]> {
  const { parseYamlDocuments } = await import('../../object/yaml-documents.js');
  const all: UnstructuredObject[] = [];
  for (const file of files) {
    const text =
      file === '-' ? await context.readStdin() : await readText(resolve(context.cwd, file));
    for (const document of parseYamlDocuments(text, file)) {
      const [error] = document.errors;
      if (error !== undefined)
        throw new OperatorError('InvalidConfig', `${file}: ${error.message}`);
      all.push(...objectsIn(checkDepth(document.toJS(), file), file));
    }
  }
  if (all.length > 0) return all;
  throw new OperatorError('InvalidConfig', `${files.join(', ')}: there is no object in it`);
}

function objectsIn(value: unknown, file: string): readonly UnstructuredObject[] {
  if (value === null || value === undefined) return [];
  if (isJsonObject(value) && value['kind'] === 'List' && Array.isArray(value['items'])) {
    return value['items'].flatMap((item) => objectsIn(item, file));
  }
  const { apiVersion, kind, metadata } = isJsonObject(value) ? value : {};
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  // Kustomizations lie beside the objects of a folder; servers do not know the kind.
  if (typeof apiVersion === 'string' && apiVersion.startsWith('kustomize.config.k8s.io/'))
    return [];
  const isObject = [apiVersion, kind, name].every((text) => typeof text === 'string');
  if (isObject) return [value as unknown as UnstructuredObject];
  const message = `${file}: want objects with an apiVersion, a kind and a metadata.name`;
  throw new OperatorError('InvalidConfig', message);
}

import { isJsonObject } from '../../object/json.js';
import type { KustomizationFile } from './kustomization-file.js';
import { kustomizationError, unsupportedField } from './kustomization-error.js';
import { noSpecs } from './transform-specs.js';
import type { TransformSpecs } from './transform-specs.js';
import { parseDocuments } from './yaml-documents.js';

/** The sections to which a configuration can add fields. */
const supported = ['nameReference', 'namespace', 'images', 'replicas'] as const;
/** Fields for variables, which are not supported; harmless without variables. */
const idle = ['varReference'];

/**
 * Reads a file of `configurations`: the fields of custom resources that name other objects.
 * @throws OperatorError `InvalidConfig`: an unsupported or invalid entry
 */
export function parseConfiguration(
  text: string,
  path: string,
  { folder }: KustomizationFile,
): TransformSpecs {
  const [content = {}] = parseDocuments(text, path);
  if (!isJsonObject(content)) throw kustomizationError(path, 'want a configuration of fields');
  const names: readonly string[] = [...supported, ...idle];
  for (const [name, value] of Object.entries(content)) {
    if (!names.includes(name)) throw unsupportedField(folder, path, name);
    if (!Array.isArray(value)) throw kustomizationError(path, `${name}: want a list`);
  }
  const known = Object.entries(content).filter(([name]) => !idle.includes(name));
  return { ...noSpecs, ...(Object.fromEntries(known) as unknown as Partial<TransformSpecs>) };
}

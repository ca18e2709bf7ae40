import { isMap, isSeq, parseDocument } from 'yaml';
import type { YAMLMap, YAMLSeq } from 'yaml';
import { checkYamlDepth } from '../../object/yaml-documents.js';
import { OperatorError } from '../../system/operator-error.js';

/**
 * Adds a further version with the schema of the first to a CustomResourceDefinition's text; unchanged if it
 * has the version. Keeps the rest.
 * @throws OperatorError `InvalidConfig`: not a definition, or without the first version
 */
export function withCrdVersion(text: string, first: string, version: string): string {
  const document = parseDocument(checkYamlDepth(text, 'CustomResourceDefinition'));
  const versions = versionsOf(document.get('spec'));
  if (find(versions, version) !== undefined) return text;
  const added = find(versions, first)?.clone() as YAMLMap | undefined;
  if (added === undefined) throw noVersions();
  added.set('name', version);
  added.set('storage', false);
  versions.add(added);
  return document.toString({ lineWidth: 0 });
}

function versionsOf(spec: unknown): YAMLSeq {
  const versions = isMap(spec) ? spec.get('versions') : undefined;
  if (!isSeq(versions)) throw noVersions();
  return versions;
}

function find({ items }: YAMLSeq, name: string): YAMLMap | undefined {
  return items.filter((item) => isMap(item)).find((item) => item.get('name') === name);
}

function noVersions(): OperatorError {
  const remedy = 'give it back its versions, or delete it and start again';
  return new OperatorError('InvalidConfig', `a file below config/crd has no versions: ${remedy}`);
}

import { isMap, isSeq, parseDocument } from 'yaml';
import type { YAMLMap, YAMLSeq } from 'yaml';
import { checkYamlDepth } from '../../object/yaml-depth.js';
import { OperatorError } from '../../system/operator-error.js';

/**
 * The text of a CustomResourceDefinition with a version that another one has; as it was, where it has
 * the version already. Whatever else stands in it, stays.
 * @throws OperatorError `InvalidConfig`: one of them is none.
 */
export function withCrdVersion(text: string, from: string, version: string): string {
  const document = parseDocument(checkYamlDepth(text, 'CustomResourceDefinition'));
  const versions = versionsOf(document.get('spec'));
  if (find(versions, version) !== undefined) return text;
  const added = find(
    versionsOf(parseDocument(checkYamlDepth(from, 'CustomResourceDefinition')).get('spec')),
    version,
  );
  if (added === undefined) throw noVersions();
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
  const remedy = 'give it back its versions, or delete it and begin anew';
  return new OperatorError('InvalidConfig', `a file below config/crd has no versions: ${remedy}`);
}

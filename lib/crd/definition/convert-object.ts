import { deepEqual } from '../../object/deep-equal.js';
import { describeObject } from '../../object/describe-object.js';
import { withoutMember } from '../../object/json.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { groupOf, versionOf } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import type { ResolvedDefinition } from './resolve-definition.js';
import { errorMessage } from '../../system/as-error.js';

/** Converts an object to another version, by way of the hub. @throws OperatorError `InvalidObject` */
export function convertObject(
  definition: ResolvedDefinition,
  object: UnstructuredObject,
  desiredApiVersion: string,
): UnstructuredObject {
  const { group, kind, versions, conversion } = definition;
  const names = versions.map(({ name }) => name);
  for (const apiVersion of [object.apiVersion, desiredApiVersion]) {
    if (groupOf(apiVersion) === group && names.includes(versionOf(apiVersion))) continue;
    const known = names.map((name) => `${group}/${name}`).join(', ');
    throw invalid(object, `${apiVersion} is no version of ${kind}: it has ${known}`);
  }
  if (object.kind !== kind) throw invalid(object, `is no ${kind}`);
  if (object.apiVersion === desiredApiVersion) return structuredClone(object);
  if (conversion === undefined)
    return { ...structuredClone(object), apiVersion: desiredApiVersion };
  const [from, to] = [versionOf(object.apiVersion), versionOf(desiredApiVersion)];
  const { hub, spokes } = conversion;
  const step = (name: string, way: 'toHub' | 'fromHub', given: KubernetesObject) => {
    if (name === hub) return given;
    const convert = spokes[name]?.[way];
    if (convert === undefined) throw invalid(object, `version ${name} has no ${way}`);
    const next = way === 'toHub' ? hub : name;
    return { ...attempt(object, name, () => convert(given)), apiVersion: `${group}/${next}`, kind };
  };
  const atHub = step(from, 'toHub', structuredClone(object));
  const converted = step(to, 'fromHub', atHub) as UnstructuredObject;
  checkMetadata(object, converted);
  return { ...converted, apiVersion: desiredApiVersion, kind };
}

function attempt<T>(object: KubernetesObject, version: string, convert: () => T): T {
  try {
    return convert();
  } catch (cause) {
    const why = errorMessage(cause);
    throw invalid(object, `its conversion of ${version} failed: ${why}`, cause);
  }
}

/** The API server refuses a conversion that changes more of the metadata than this. */
function checkMetadata(before: KubernetesObject, after: KubernetesObject): void {
  const fixed = ({ metadata }: KubernetesObject): object =>
    withoutMember(withoutMember({ ...metadata }, 'labels'), 'annotations');
  if (deepEqual(fixed(before), fixed(after))) return;
  throw invalid(
    before,
    'its conversion changed the metadata: leave all but labels and annotations',
  );
}

function invalid(object: KubernetesObject, why: string, cause?: unknown): OperatorError {
  return new OperatorError('InvalidObject', `${describeObject(object)}: ${why}`, { cause });
}

import type { Lenient } from '../../apply/index.js';
import { describeObject } from '../../object/describe-object.js';
import { jsonCopy } from '../../object/json-copy.js';
import { Service } from '../../object/kinds.js';
import type { KubernetesObject, ObjectMeta } from '../../object/kubernetes-object.js';
import {
  dns1123LabelProblem,
  dns1123SubdomainProblem,
  labelsProblem,
  pathSegmentProblem,
  qualifiedNameProblem,
} from '../../object/names.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import type { NamespacedObjectOptions, TextMap } from './object-options.js';

/**
 * An object of `type`: metadata of `options`, with `labels`, and the rest of `body`. It shares nothing
 * with what it was made of; what is undefined in there is left out.
 * @throws OperatorError `InvalidObject`: a name, label or annotation that the server would refuse.
 */
export function newObject<T extends KubernetesObject>(
  type: ResourceType<T>,
  { name, namespace, annotations }: NamespacedObjectOptions,
  content: { readonly labels: TextMap; readonly body?: object },
): T {
  const { labels, body } = content;
  const metadata = {
    name,
    namespace,
    ...(Object.keys(labels).length > 0 && { labels }),
    annotations,
  };
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...body };
  const made = plain<KubernetesObject>(object) as T;
  const problem = nameProblem(type, name) ?? metadataProblem(made.metadata);
  if (problem !== undefined) refuse(describeObject(made), problem);
  return made;
}

/** A copy by JSON's rules: nothing is shared, members that are undefined are left out. */
export function plain<T extends object>(value: Lenient<T>): T {
  const { kind = 'object', metadata } = value as Partial<KubernetesObject>;
  return jsonCopy(value as T, describeObject({ kind, name: metadata?.name ?? '' }));
}

/** @throws OperatorError `InvalidObject`: always; names `what`, and says what is wrong with it. */
export function refuse(what: string, problem: string): never {
  throw new OperatorError('InvalidObject', `${what} can't be built: ${problem}`);
}

function nameProblem(type: ResourceType<KubernetesObject>, name: string): string | undefined {
  const problem = ruleOfNames(type)(name);
  return problem === undefined ? undefined : `name ${problem}`;
}

function ruleOfNames(type: ResourceType<KubernetesObject>): (name: string) => string | undefined {
  // A label that begins with a digit is fine for newer servers only: they say so themselves.
  if (type.kind === Service.kind) return dns1123LabelProblem;
  return type.group === 'rbac.authorization.k8s.io' ? pathSegmentProblem : dns1123SubdomainProblem;
}

function metadataProblem({ namespace, labels = {}, annotations = {} }: ObjectMeta) {
  const badNamespace = namespace === undefined ? undefined : dns1123LabelProblem(namespace);
  if (badNamespace !== undefined) return `namespace ${badNamespace}`;
  const badLabel = labelsProblem(labels);
  if (badLabel !== undefined) return badLabel;
  for (const key of Object.keys(annotations)) {
    // Of annotations, the server looks at the key in lower case.
    const badKey = qualifiedNameProblem(key.toLowerCase());
    if (badKey !== undefined) return `annotation key ${JSON.stringify(key)}: ${badKey}`;
  }
  return undefined;
}

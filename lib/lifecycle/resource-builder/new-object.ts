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
 * Makes an object of `type` from the metadata in `options`, `labels`, and `body`. The result is a copy;
 * undefined members are left out.
 * @throws OperatorError `InvalidObject`: the server would reject a name, label or annotation.
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

/** Makes a copy by JSON's rules: shares nothing, leaves out undefined members. */
export function plain<T extends object>(value: Lenient<T>): T {
  const { kind = 'object', metadata } = value as Partial<KubernetesObject>;
  return jsonCopy(value as T, describeObject({ kind, name: metadata?.name ?? '' }));
}

/** @throws OperatorError `InvalidObject`: always; names `what` and the problem. */
export function refuse(what: string, problem: string): never {
  throw new OperatorError('InvalidObject', `${what} can't be built: ${problem}`);
}

function nameProblem(type: ResourceType<KubernetesObject>, name: string): string | undefined {
  const problem = ruleOfNames(type)(name);
  return problem === undefined ? undefined : `name ${problem}`;
}

function ruleOfNames(type: ResourceType<KubernetesObject>): (name: string) => string | undefined {
  // Only newer servers accept a label that begins with a digit; the others return the error.
  if (type.kind === Service.kind) return dns1123LabelProblem;
  return type.group === 'rbac.authorization.k8s.io' ? pathSegmentProblem : dns1123SubdomainProblem;
}

function metadataProblem({ namespace, labels = {}, annotations = {} }: ObjectMeta) {
  const badNamespace = namespace === undefined ? undefined : dns1123LabelProblem(namespace);
  if (badNamespace !== undefined) return `namespace ${badNamespace}`;
  const badLabel = labelsProblem(labels);
  if (badLabel !== undefined) return badLabel;
  for (const key of Object.keys(annotations)) {
    // The server validates the keys of annotations in lower case.
    const badKey = qualifiedNameProblem(key.toLowerCase());
    if (badKey !== undefined) return `annotation key ${JSON.stringify(key)}: ${badKey}`;
  }
  return undefined;
}

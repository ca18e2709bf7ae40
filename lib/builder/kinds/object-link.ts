import { immutablePolicies, isKind } from '../../apply/index.js';
import type { ClaimOptions } from '../../apply/index.js';
import {
  describeObject,
  jsonText,
  PersistentVolumeClaim,
  apiVersionOf,
} from '../../object/index.js';
import type { KubernetesObject, ResourceType } from '../../object/index.js';
import { refuseOtherThan, refuseUnknownOptions, OperatorError } from '../../system/index.js';
import type { OptionNames } from '../../system/index.js';
import type { ChainedLink, ObjectOptions } from '../link.js';

const objectOptionNames: OptionNames<ObjectOptions> = {
  ...{ name: true, namespace: true, labels: true, annotations: true },
  ...{ onImmutable: true, prune: true, adopt: true },
};

const claimOptionNames: OptionNames<ClaimOptions> = {
  ...{ onImmutable: true, prune: true, adopt: true, whenOwnerDeleted: true },
};

/**
 * Makes the link of an object of a built-in kind: metadata from `options`, the rest from `body`.
 * @param others - has the options that are neither common to all kinds nor members of `body`.
 * @throws OperatorError `InvalidOption`: an option is unknown. If `replicas` is misspelt, the workload would have 1
 *   replica.
 */
export function objectLink(
  type: ResourceType<KubernetesObject>,
  options: ObjectOptions & ClaimOptions,
  body: Readonly<Record<string, unknown>>,
  others: object = {},
): ChainedLink {
  const { name, namespace, labels, annotations } = options;
  refuseUnknownLinkOptions(type, options, body, others);
  const object = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, namespace, labels, annotations },
    ...body,
  };
  const subject = describeObject({ kind: type.kind, namespace, name });
  return {
    type,
    json: jsonText(object, subject),
    options: linkOptionsOf(options, subject),
    requires: [],
  };
}

/**
 * Refuses options of a link that are neither options of all kinds nor in one of `others`.
 * @throws OperatorError `InvalidOption`
 */
export function refuseUnknownLinkOptions(
  { kind }: { readonly kind: string },
  options: ObjectOptions,
  ...others: readonly object[]
): void {
  const isKnown = (option: string): boolean =>
    [objectOptionNames, ...others].some((names) => Object.hasOwn(names, option));
  if (Object.keys(options).every(isKnown)) return;
  const names = Object.assign({}, objectOptionNames, ...others) as OptionNames<ObjectOptions>;
  refuseUnknownOptions<ObjectOptions>(`${kind} ${options.name}`, options, names);
}

/**
 * Refuses fields of a specification that other options set. The compiler accepts such fields in a variable, but the
 * builder does not use them.
 * @param remedies - what to do instead, by field
 * @throws OperatorError `InvalidOption`
 */
export function refuseFields(
  subject: string,
  given: object | null | undefined,
  remedies: Readonly<Record<string, string>>,
): void {
  const fields = given as Readonly<Record<string, unknown>> | null | undefined;
  for (const [field, remedy] of Object.entries(remedies)) {
    if (fields?.[field] === undefined) continue;
    const problem = `${subject}.${field} can't be set here; ${remedy}`;
    throw new OperatorError('InvalidOption', problem);
  }
}

/** Returns the options that are not part of the object. */
function linkOptionsOf(options: ClaimOptions, subject: string): ClaimOptions {
  const { onImmutable, prune, adopt, whenOwnerDeleted } = options;
  refuseOtherThan(`${subject}: onImmutable`, onImmutable, immutablePolicies);
  refuseOtherThan(`${subject}: whenOwnerDeleted`, whenOwnerDeleted, ['delete', 'retain']);
  refuseOtherThan(`${subject}: prune`, prune, [true, false]);
  refuseOtherThan(`${subject}: adopt`, adopt, [true, false]);
  return {
    ...(onImmutable !== undefined && { onImmutable }),
    ...(prune !== undefined && { prune }),
    ...(adopt !== undefined && { adopt }),
    ...(whenOwnerDeleted !== undefined && { whenOwnerDeleted }),
  };
}

/**
 * Makes the link of an object of any kind.
 * @throws OperatorError `InvalidOption`: an option is unknown, or `whenOwnerDeleted` is set for a kind other than
 * PersistentVolumeClaim.
 */
export function anyObjectLink(object: KubernetesObject, options: ClaimOptions): ChainedLink {
  const { apiVersion, kind } = object;
  const subject = describeObject(object);
  refuseUnknownOptions(subject, options, claimOptionNames);
  if (options.whenOwnerDeleted !== undefined && !isKind(object, PersistentVolumeClaim)) {
    const message = `${subject}: whenOwnerDeleted is for PersistentVolumeClaims only; leave it out`;
    throw new OperatorError('InvalidOption', message);
  }
  return {
    type: { apiVersion, kind },
    json: jsonText(object, subject),
    options: linkOptionsOf(options, subject),
    requires: [],
  };
}

import { expect } from 'chai';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';

/** Context of {@link expectSameObject}. */
export interface SameObjectContext {
  /** Where the comparison takes place, for the messages of failures. */
  readonly where: string;
  /** The object before the step; undefined if `got` may lack all defaults. */
  readonly live: UnstructuredObject | undefined;
  readonly subresource?: string | undefined;
}

/**
 * Expects `got` to equal `want`, the object stored by the real server, except for what the server
 * adds after the merge or patch: defaults, and fields of its controllers.
 */
export function expectSameObject(
  got: UnstructuredObject,
  want: UnstructuredObject,
  { where, live, subresource }: SameObjectContext,
): void {
  const [part, whole] = [ownFields(got, subresource), ownFields(want, subresource)];
  expectPart(part, whole, where);
  if (live !== undefined) expect(missing(part, whole), where).to.deep.equal([]);
}

/** Returns the fields that neither the server nor its controllers write. */
function ownFields(object: UnstructuredObject, subresource: string | undefined): unknown {
  const { metadata, status, ...rest } = object;
  if (subresource === 'status') return status;
  if (object.kind === 'Service') return withoutDefaultPorts(object);
  const { name, labels, annotations, finalizers, ownerReferences } = metadata;
  const own = Object.fromEntries(
    Object.entries(annotations ?? {}).filter(
      ([key]) => !key.startsWith('deployment.kubernetes.io'),
    ),
  );
  return { metadata: { name, labels, annotations: own, finalizers, ownerReferences }, ...rest };
}

// A target port of 0 is unset, and defaults to the port.
function withoutDefaultPorts(service: UnstructuredObject): unknown {
  const spec = service['spec'] as { ports: { port: number; targetPort?: unknown }[] };
  const ports = spec.ports.map(({ targetPort, ...port }) =>
    targetPort === 0 || targetPort === port.port ? port : { ...port, targetPort },
  );
  return { ...spec, ports };
}

// Fields set by defaulting after the merge in these scenarios.
const defaulted = new Set([
  ...['terminationMessagePath', 'terminationMessagePolicy', 'imagePullPolicy', 'defaultMode'],
  ...['scheme', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'],
  ...[
    'apiVersion',
    'type',
    'rollingUpdate',
    'maxUnavailable',
    'protocol',
    'nodePort',
    'resourceVersion',
  ],
]);

/** Returns the paths that only `whole` has, except for defaults. */
function missing(part: unknown, whole: unknown, path = ''): string[] {
  if (whole === undefined || whole === null) return [];
  if (part === undefined || part === null) {
    return defaulted.has(path.slice(path.lastIndexOf('.') + 1)) ? [] : [path];
  }
  if (typeof whole !== 'object') return [];
  return Object.entries(whole).flatMap(([name, value]) =>
    missing((part as Record<string, unknown>)[name], value, `${path}.${name}`),
  );
}

/** Expects `whole` to contain `part`; `whole` may have additional defaults. */
function expectPart(part: unknown, whole: unknown, where: string): void {
  if (part === undefined || part === null || (Array.isArray(part) && part.length === 0)) return;
  if (Array.isArray(part)) {
    expect(whole, where).to.be.an('array').of.length(part.length);
    part.forEach((item, at) => expectPart(item, (whole as unknown[])[at], `${where}[${at}]`));
  } else if (typeof part === 'object') {
    if (Object.keys(part).length === 0) return;
    expect(whole, where).to.be.an('object');
    for (const [name, value] of Object.entries(part)) {
      expectPart(value, (whole as Record<string, unknown>)[name], `${where}.${name}`);
    }
  } else {
    expect(whole, where).to.equal(part);
  }
}

import { expect } from 'chai';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';

/** What {@link expectSameObject} goes by. */
export interface SameObjectContext {
  /** For messages. */
  readonly where: string;
  /** The object before; without one, all defaults are missing. */
  readonly live: UnstructuredObject | undefined;
  readonly subresource?: string | undefined;
}

/**
 * Expects `got` to be what the real server stored, `want`, but for what it fills in after the merge
 * or patch: defaults, and what its controllers write.
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

/** An object without what the server or its controllers write. */
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

// A target port of 0 is none: the port's own is its default.
function withoutDefaultPorts(service: UnstructuredObject): unknown {
  const spec = service['spec'] as { ports: { port: number; targetPort?: unknown }[] };
  const ports = spec.ports.map(({ targetPort, ...port }) =>
    targetPort === 0 || targetPort === port.port ? port : { ...port, targetPort },
  );
  return { ...spec, ports };
}

// What is filled in after the merge, where these scenarios come by it.
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

/** The paths that only `whole` has, defaults left out. */
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

/** `whole` may have more, for it has defaults, but only where `part` has nothing. */
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

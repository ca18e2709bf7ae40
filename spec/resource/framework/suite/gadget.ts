import type { Condition } from '../../../../lib/object/conditions.js';
import type { CustomResourceDefinition } from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import type { TypeMeta } from '../../../../lib/object/kubernetes-object.js';

/** Kind that the specs reconcile. */
export interface Gadget extends KubernetesObject {
  readonly spec?: {
    readonly version?: string;
    readonly size?: string;
    /** Desired ConfigMaps. */
    readonly parts?: readonly string[];
  };
  readonly status?: {
    readonly size?: string;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

export const group = 'frameworks.example.com';

const text = { type: 'string' } as const;
const condition = {
  type: 'object',
  properties: {
    ...{ type: text, status: text, reason: text, message: text },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64' },
  },
} as const;

const observed = { size: text, observedGeneration: { type: 'integer', format: 'int64' } } as const;

/** Kinds: one with conditions, one without conditions in its status, one without a status. */
export const gadgetKinds = {
  Gadget: {
    type: 'object',
    properties: { ...observed, conditions: { type: 'array', items: condition } },
  },
  Plain: { type: 'object', properties: { size: text } },
  Bare: undefined,
} as const;

/** Name of one of the specs' kinds. */
export type GadgetKind = keyof typeof gadgetKinds;

/** Returns apiVersion and kind. */
export function typeOf(kind: GadgetKind): TypeMeta {
  return { apiVersion: `${group}/v1`, kind };
}

/** Returns the definition of a kind. */
export function crdOf(kind: GadgetKind, inGroup = group): CustomResourceDefinition {
  const status = gadgetKinds[kind];
  const plural = `${kind.toLowerCase()}s`;
  const spec = {
    type: 'object',
    properties: { version: text, size: text, parts: { type: 'array', items: text } },
  };
  const properties = { spec, ...(status !== undefined && { status }) };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${inGroup}` },
    spec: {
      group: inGroup,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          ...(status !== undefined && { subresources: { status: {} } }),
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}

import type { ScenarioKind } from './scenario.js';

export const configMap: ScenarioKind = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
};
export const service: ScenarioKind = { apiVersion: 'v1', kind: 'Service', plural: 'services' };
export const podTemplate: ScenarioKind = {
  apiVersion: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
};
export const serviceAccount: ScenarioKind = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
};
export const deployment: ScenarioKind = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
};
export const networkPolicy: ScenarioKind = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
};
export const role: ScenarioKind = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  plural: 'roles',
};

/** A custom resource with every kind of list and map. */
export const widget: ScenarioKind = {
  apiVersion: 'merge.example.com/v1',
  kind: 'Widget',
  plural: 'widgets',
};

/** A custom resource without a structure in its schema. */
export const blob: ScenarioKind = {
  apiVersion: 'merge.example.com/v1',
  kind: 'Blob',
  plural: 'blobs',
};

const text = { type: 'string' };

/** The schemas of the custom resources, without `apiVersion`, `kind` and `metadata`. */
export const customSchemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Widget: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          replicas: { type: 'integer' },
          size: { type: 'integer', default: 3 },
          color: text,
          ratio: { type: 'number' },
          enabled: { type: 'boolean' },
          limit: { 'x-kubernetes-int-or-string': true },
          ports: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port', 'protocol'],
            items: {
              type: 'object',
              required: ['port'],
              properties: {
                port: { type: 'integer' },
                protocol: { type: 'string', default: 'TCP' },
                name: text,
              },
            },
          },
          tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
          steps: { type: 'array', items: text },
          rows: { type: 'array', items: { type: 'object', properties: { a: text, b: text } } },
          settings: { type: 'object', additionalProperties: text },
          selector: {
            type: 'object',
            'x-kubernetes-map-type': 'atomic',
            properties: { app: text, tier: text },
          },
          nested: {
            type: 'object',
            properties: {
              deep: { type: 'object', properties: { a: text, b: text } },
              other: text,
            },
          },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
      status: {
        type: 'object',
        properties: {
          phase: text,
          replicas: { type: 'integer' },
          conditions: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['type'],
            items: {
              type: 'object',
              required: ['type'],
              properties: { type: text, status: text, reason: text },
            },
          },
        },
      },
    },
  },
  Blob: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
};

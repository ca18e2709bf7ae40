import type { CustomResourceDefinition } from 'operator-builder';

const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const textMap = { type: 'object', additionalProperties: text } as const;
const count = { type: 'integer', format: 'int32', minimum: 0 } as const;
/** Built-in types are taken as they are; the API server checks them where the pods are made. */
const builtIn = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
const builtIns = { type: 'array', items: builtIn } as const;

const node = {
  type: 'object',
  required: ['name', 'type', 'kind', 'replicas', 'k8sConfig', 'parseableConfig'],
  properties: {
    name: text,
    type: text,
    // No enum: the operator accepts two spellings and reports any other on the tenant's conditions.
    kind: text,
    replicas: count,
    k8sConfig: text,
    parseableConfig: text,
  },
};

const storageConfig = {
  type: 'object',
  required: ['name', 'mountPath', 'spec'],
  properties: { name: text, mountPath: text, spec: builtIn },
};

const k8sConfig = {
  type: 'object',
  required: ['name', 'image'],
  properties: {
    name: text,
    image: text,
    imagePullPolicy: text,
    serviceAccountName: text,
    env: builtIns,
    tolerations: builtIns,
    nodeSelector: textMap,
    podMetadata: { type: 'object', properties: { annotations: textMap, labels: textMap } },
    volumes: builtIns,
    volumeMount: builtIns,
    storageConfig: { type: 'array', items: storageConfig },
    service: builtIn,
    resources: builtIn,
  },
};

const parseableConfig = {
  type: 'object',
  required: ['name'],
  properties: { name: text, cliArgs: texts, env: textMap },
};

const objectStore = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: { type: 'object', required: ['type', 'data'], properties: { type: text, data: text } },
  },
};

const spec = {
  type: 'object',
  required: ['deploymentOrder', 'nodes', 'k8sConfig', 'parseableConfig'],
  properties: {
    deploymentOrder: texts,
    nodes: { type: 'array', items: node },
    k8sConfig: { type: 'array', items: k8sConfig },
    parseableConfig: { type: 'array', items: parseableConfig },
    external: { type: 'object', properties: { objectStore } },
  },
};

const nodeStatus = {
  type: 'object',
  required: ['name', 'type', 'desiredReplicas', 'readyReplicas', 'updatedReplicas'],
  properties: {
    name: text,
    type: text,
    desiredReplicas: count,
    readyReplicas: count,
    updatedReplicas: count,
    configHash: text,
  },
};

const condition = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: text,
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: text,
    message: text,
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64' },
  },
};

const status = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64' },
    ready: text,
    nodes: {
      type: 'array',
      items: nodeStatus,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    conditions: {
      type: 'array',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  },
};

const conditionColumn = (type: string) => ({
  name: type,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
});

/** The definition that the operator installs at its start. */
export const parseableTenantCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'parseabletenants.parseable.io' },
  spec: {
    group: 'parseable.io',
    scope: 'Namespaced',
    names: {
      kind: 'ParseableTenant',
      listKind: 'ParseableTenantList',
      plural: 'parseabletenants',
      singular: 'parseabletenant',
    },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec, status } },
        },
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Ready', type: 'string', jsonPath: '.status.ready' },
          conditionColumn('Available'),
          conditionColumn('Progressing'),
          conditionColumn('Degraded'),
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
} satisfies CustomResourceDefinition;

import type { CustomResourceDefinition } from 'operator-builder';

const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const textMap = { type: 'object', additionalProperties: text } as const;
const count = { type: 'integer', format: 'int32', minimum: 0 } as const;
/** Built-in types are taken as they are; the API server checks them where the pods are made. */
const builtIn = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
const builtIns = { type: 'array', items: builtIn } as const;

/** `schema` with what `kubectl explain` says about it. */
function described<T extends object>(schema: T, description: string): T & { description: string } {
  return { ...schema, description };
}

const node = {
  type: 'object',
  required: ['name', 'type', 'kind', 'replicas', 'k8sConfig', 'parseableConfig'],
  properties: {
    name: described(text, 'Names the node among those of the tenant.'),
    type: described(text, 'One of deploymentOrder.'),
    // No enum: the operator accepts two spellings and reports any other on the tenant's conditions.
    kind: described(text, 'Deployment or StatefulSet.'),
    replicas: described(count, 'How many pods.'),
    k8sConfig: described(text, 'Names the entry of spec.k8sConfig that says how it runs.'),
    parseableConfig: described(text, 'Names the entry of spec.parseableConfig: what it runs.'),
  },
};

const storageConfig = {
  type: 'object',
  required: ['name', 'mountPath', 'spec'],
  properties: {
    name: text,
    mountPath: described(text, 'Where the pods see it.'),
    spec: described(builtIn, 'A PersistentVolumeClaimSpec.'),
  },
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
    storageConfig: {
      type: 'array',
      description: 'Claims, and where they are mounted.',
      items: storageConfig,
    },
    service: described(builtIn, 'A ServiceSpec; its selector is set by the operator.'),
    resources: described(builtIn, 'The ResourceRequirements of the container.'),
  },
};

const parseableConfig = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text,
    cliArgs: described(texts, 'Arguments after `parseable`.'),
    env: described(textMap, 'The environment: the data of the ConfigMap of each node.'),
  },
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
    deploymentOrder: described(texts, 'Node types, in the order of their rollouts.'),
    nodes: { type: 'array', description: 'Each becomes a workload of its own.', items: node },
    k8sConfig: { type: 'array', description: 'How nodes run, by name.', items: k8sConfig },
    parseableConfig: {
      type: 'array',
      description: 'What nodes run, by name.',
      items: parseableConfig,
    },
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

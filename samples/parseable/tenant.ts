import { defineResource, s } from 'operator-builder/crd';
import type { ObjectOf, ValueOf } from 'operator-builder/crd';

const text = s.string();
const textMap = s.map(text);
const count = s.integer({ format: 'int32', minimum: 0 });

// No enums: the operator accepts two spellings of a kind, and reports all problems at once in the conditions.
const node = s.object({
  name: s.string({ description: 'Names the node among those of the tenant.' }),
  type: s.string({ description: 'One of deploymentOrder.' }),
  kind: s.string({ description: 'Deployment or StatefulSet.' }),
  replicas: s.integer({ format: 'int32', minimum: 0, description: 'How many pods.' }),
  k8sConfig: s.string({ description: 'Names the entry of spec.k8sConfig that says how it runs.' }),
  parseableConfig: s.string({
    description: 'Names the entry of spec.parseableConfig: what it runs.',
  }),
});

// API servers estimate the cost of CEL rules from the limits of the lists and strings that the rules read.
const storageConfig = s.object({
  name: s.string({ maxLength: 253 }),
  mountPath: s.string({ maxLength: 255, description: 'Where the pods see it.' }),
  spec: s.builtIn('PersistentVolumeClaimSpec', { description: 'A PersistentVolumeClaimSpec.' }),
});

const different = (field: 'name' | 'mountPath', remedy: string) => ({
  rule: `self.all(one, self.exists_one(other, other.${field} == one.${field}))`,
  message: `two claims have the same ${field}: ${remedy}`,
});

const k8sConfig = s.object({
  ...{ name: text, image: text, imagePullPolicy: s.optional(text) },
  ...{ serviceAccountName: s.optional(text), nodeSelector: s.optional(textMap) },
  env: s.optional(s.array(s.builtIn('EnvVar'))),
  tolerations: s.optional(s.array(s.builtIn('Toleration'))),
  podMetadata: s.optional(
    s.object({ annotations: s.optional(textMap), labels: s.optional(textMap) }),
  ),
  volumes: s.optional(s.array(s.builtIn('Volume'))),
  volumeMount: s.optional(s.array(s.builtIn('VolumeMount'))),
  storageConfig: s.optional(
    s.array(storageConfig, {
      description: 'Claims, and where they are mounted.',
      maxItems: 16,
      rules: [
        different('name', 'name each differently'),
        different('mountPath', 'mount each elsewhere'),
      ],
    }),
  ),
  service: s.optional(
    s.builtIn('ServiceSpec', { description: 'A ServiceSpec; the operator sets its selector.' }),
  ),
  resources: s.optional(
    s.builtIn('ResourceRequirements', { description: 'ResourceRequirements of the container.' }),
  ),
});

const parseableConfig = s.object({
  name: text,
  cliArgs: s.optional(s.array(text, { description: 'Arguments after `parseable`.' })),
  env: s.optional(s.map(text, { description: 'The environment: the data of the ConfigMap.' })),
});

const typeStays = {
  rule: 'self.type == oldSelf.type',
  message: 'cannot be changed, what is stored would stay behind: make another tenant',
  fieldPath: '.type',
};
const objectStore = s.object({ type: text, data: text }, { rules: [typeStays] });

const onceEach = {
  rule: 'self.all(one, self.exists_one(other, other == one))',
  message: 'a type of node is in it twice: each is rolled out once',
};
const spec = s.object({
  deploymentOrder: s.array(s.string({ maxLength: 63 }), {
    ...{ description: 'Node types, in the order of their rollouts.', maxItems: 32 },
    rules: [onceEach],
  }),
  nodes: s.array(node, { description: 'Each becomes a workload of its own.' }),
  k8sConfig: s.array(k8sConfig, { description: 'How nodes run, by name.', maxItems: 64 }),
  parseableConfig: s.array(parseableConfig, { description: 'What nodes run, by name.' }),
  external: s.optional(s.object({ objectStore: s.optional(s.object({ spec: objectStore })) })),
});

const nodeStatus = s.object({
  ...{
    name: text,
    type: text,
    desiredReplicas: count,
    readyReplicas: count,
    updatedReplicas: count,
  },
  configHash: s.optional(
    s.string({ description: 'Hash of the ConfigMap in the pod template of the workload.' }),
  ),
});

const status = s.status({
  ready: s.optional(s.string({ description: 'Ready nodes of all, for kubectl get: 2/3.' })),
  nodes: s.optional(s.array(nodeStatus, { listType: 'map', listMapKeys: ['name'] })),
});

const conditionColumn = (name: string) => {
  const jsonPath = `.status.conditions[?(@.type=="${name}")].status`;
  return { name, type: 'string', jsonPath } as const;
};

/** A log store: one custom resource, many nodes. */
export const ParseableTenant = defineResource({
  group: 'parseable.io',
  kind: 'ParseableTenant',
  versions: [{ name: 'v1beta1', schema: s.object({ spec }), status }],
  printerColumns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.ready' },
    ...['Available', 'Progressing', 'Degraded'].map(conditionColumn),
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export type ParseableTenant = ObjectOf<typeof ParseableTenant>;
export type TenantSpec = ValueOf<typeof spec>;
/** One node of a tenant: a workload of its own, with its Service, ConfigMap and claims. */
export type NodeSpec = ValueOf<typeof node>;
export type K8sConfig = ValueOf<typeof k8sConfig>;
export type NodeStatus = ValueOf<typeof nodeStatus>;

import type { FieldSpec } from './field-spec.js';
import { builtinNameReferences } from './builtin-name-references.js';
import type { TransformSpecs } from './transform-specs.js';

const replicated: readonly FieldSpec[] = [
  { kind: 'ReplicationController', version: 'v1', path: '' },
  { kind: 'Deployment', path: '' },
  { kind: 'ReplicaSet', path: '' },
  { kind: 'DaemonSet', path: '' },
  { kind: 'StatefulSet', group: 'apps', path: '' },
  { kind: 'Job', group: 'batch', path: '' },
];

const metadataOf = (member: 'labels' | 'annotations'): readonly FieldSpec[] => [
  { path: `metadata/${member}`, create: true },
  ...replicated.map((one) => ({
    ...one,
    path: `spec/template/metadata/${member}`,
    create: true,
  })),
  { kind: 'CronJob', group: 'batch', path: `spec/jobTemplate/metadata/${member}`, create: true },
  {
    kind: 'CronJob',
    group: 'batch',
    path: `spec/jobTemplate/spec/template/metadata/${member}`,
    create: true,
  },
];

const metadataLabels: readonly FieldSpec[] = [
  ...metadataOf('labels'),
  {
    kind: 'StatefulSet',
    group: 'apps',
    path: 'spec/volumeClaimTemplates[]/metadata/labels',
    create: true,
  },
];

const terms = ['podAffinity', 'podAntiAffinity'].flatMap((affinity) => [
  `${affinity}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm`,
  `${affinity}/requiredDuringSchedulingIgnoredDuringExecution`,
]);

const selectors: readonly FieldSpec[] = [
  { kind: 'Service', version: 'v1', path: 'spec/selector', create: true },
  { kind: 'ReplicationController', version: 'v1', path: 'spec/selector', create: true },
  ...['Deployment', 'ReplicaSet', 'DaemonSet'].map((kind) => {
    return { kind, path: 'spec/selector/matchLabels', create: true };
  }),
  { kind: 'StatefulSet', group: 'apps', path: 'spec/selector/matchLabels', create: true },
  ...['Deployment', 'StatefulSet'].flatMap((kind) =>
    [...terms.map((term) => `affinity/${term}`), 'topologySpreadConstraints'].map((path) => {
      const inTemplate = `spec/template/spec/${path}/labelSelector/matchLabels`;
      return { kind, group: 'apps', path: inTemplate };
    }),
  ),
  { kind: 'Job', group: 'batch', path: 'spec/selector/matchLabels' },
  { kind: 'CronJob', group: 'batch', path: 'spec/jobTemplate/spec/selector/matchLabels' },
  { kind: 'PodDisruptionBudget', group: 'policy', path: 'spec/selector/matchLabels' },
  ...['spec', 'spec/ingress/from', 'spec/egress/to'].map((path) => {
    const group = 'networking.k8s.io';
    return { kind: 'NetworkPolicy', group, path: `${path}/podSelector/matchLabels` };
  }),
];

/** The fields that kustomize changes by default. */
export const builtinSpecs: TransformSpecs = {
  namespace: [
    { kind: 'Namespace', path: 'metadata/name', create: true },
    {
      kind: 'APIService',
      group: 'apiregistration.k8s.io',
      path: 'spec/service/namespace',
      create: true,
    },
    {
      kind: 'CustomResourceDefinition',
      group: 'apiextensions.k8s.io',
      path: 'spec/conversion/webhook/clientConfig/service/namespace',
    },
  ],
  commonLabels: [...selectors, ...metadataLabels],
  templateLabels: metadataLabels,
  commonAnnotations: metadataOf('annotations'),
  images: ['spec', 'spec/template/spec'].flatMap((path) => [
    { path: `${path}/containers[]/image` },
    { path: `${path}/initContainers[]/image` },
    { path: `${path}/volumes[]/image/reference` },
  ]),
  replicas: ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) => {
    return { kind, path: 'spec/replicas', create: true };
  }),
  nameReference: builtinNameReferences,
};

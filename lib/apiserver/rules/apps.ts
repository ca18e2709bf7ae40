import type {
  V1ControllerRevision,
  V1DaemonSet,
  V1Deployment,
  V1PodSpec,
  V1PodTemplateSpec,
  V1ReplicaSet,
  V1StatefulSet,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, isJsonObject, withoutMembers } from '../../object/index.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import {
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateStatefulSet,
} from './workloads.js';
import { validateNonnegative } from './field-values.js';
import { specChanged, specOrAnnotationsChanged, typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { defaultPodSpec } from './pod-spec.js';
import { dropDisabledSetFields, templateRules } from './pod.js';
import { defaultClaimSpec } from './volumes.js';

interface WithSelector {
  readonly spec?: { readonly selector?: unknown };
}

function keepSelector(object: WithSelector, old: WithSelector, errors: FieldErrors): void {
  errors.immutable('spec.selector', object.spec?.selector, old.spec?.selector);
}

interface Counts {
  /** The counts of a status, in the order of their checks. */
  readonly names: readonly string[];
  /** Counts of at most `replicas`. */
  readonly limited?: readonly string[];
  /** The name of the ready replicas in messages. */
  readonly ready?: string;
}

const deploymentCounts: Counts = {
  names: [
    ...['observedGeneration', 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'],
    ...['unavailableReplicas', 'terminatingReplicas', 'collisionCount'],
  ],
  limited: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
};

const replicaSetCounts: Counts = {
  names: [
    ...['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
    ...['observedGeneration', 'terminatingReplicas'],
  ],
  limited: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
};

const statefulSetCounts: Counts = {
  names: [
    ...['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    ...['observedGeneration', 'collisionCount'],
  ],
  limited: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  ready: 'status.readyReplicas',
};

const daemonSetCounts: Counts = {
  names: [
    ...['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'],
    ...['observedGeneration', 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'],
    'collisionCount',
  ],
};

/** Returns the check of a status: no count is negative or too large, and the number of collisions does not fall. */
function countsCheck({ names, limited = [], ready = 'readyReplicas' }: Counts) {
  return (object: UnstructuredObject, old: UnstructuredObject, errors: FieldErrors): void => {
    const count = (name: string): number => countOf(object, name) ?? 0;
    for (const name of names) validateNonnegative(count(name), errors.at(`status.${name}`));
    for (const name of limited) {
      if (count(name) <= count('replicas')) continue;
      errors.invalid(`status.${name}`, count(name), 'cannot be greater than status.replicas');
    }
    if (count('availableReplicas') > count('readyReplicas')) {
      const why = `cannot be greater than ${ready}`;
      errors.invalid('status.availableReplicas', count('availableReplicas'), why);
    }
    if (!names.includes('collisionCount')) return;
    const [collisions = -1, before = -1] = [object, old].map((one) =>
      countOf(one, 'collisionCount'),
    );
    if (before >= 0 && collisions < before) {
      errors.invalid('status.collisionCount', count('collisionCount'), 'cannot be decremented');
    }
  };
}

function countOf({ status }: UnstructuredObject, name: string): number | undefined {
  const { [name]: value } = isJsonObject(status) ? status : {};
  return typeof value === 'number' ? value : undefined;
}

interface WithTemplate {
  readonly metadata?: { readonly generation?: number };
  readonly spec?: { readonly template?: { readonly spec?: Wire<V1PodSpec> } };
}

const ofTemplate = templateRules<WithTemplate>(
  'spec.template.spec',
  ({ spec }) => spec?.template?.spec,
);

const deployment = typedRules<Wire<V1Deployment>>({
  ...ofTemplate,
  defaults: defaultDeployment,
  validate: validateDeployment,
  validateUpdate: keepSelector,
  specChanged: specOrAnnotationsChanged,
  resets: { status: ['spec', 'metadata.labels'] },
  validateStatusUpdate: countsCheck(deploymentCounts),
});

const replicaSet = typedRules<Wire<V1ReplicaSet>>({
  ...ofTemplate,
  defaults: defaultReplicaSet,
  validate: validateReplicaSet,
  validateUpdate: keepSelector,
  specChanged,
  initialStatus: () => ({ replicas: 0 }),
  validateStatusUpdate: countsCheck(replicaSetCounts),
});

const mutableInStatefulSet = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];

const negativeHistory =
  'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended';

const statefulSet = typedRules<Wire<V1StatefulSet>>({
  defaults: defaultStatefulSet,
  prepareForCreate: dropDisabledSetFields,
  prepareForUpdate: dropDisabledSetFields,
  warnings: (object, old) => [
    ...ofTemplate.warnings(object, old),
    ...((object.spec?.revisionHistoryLimit ?? 0) < 0 ? [negativeHistory] : []),
  ],
  validateCreate: (object, errors) => validateStatefulSet(object, errors),
  validateUpdate: (object, old, errors) => {
    validateStatefulSet(object, errors, true);
    const fixed = ({ spec = {} }: { readonly spec?: object }): object =>
      withoutMembers(spec, ...mutableInStatefulSet);
    if (deepEqual(fixed(object), fixed(old))) return;
    errors.forbidden(
      'spec',
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    );
  },
  specChanged,
  nameFormat: 'label',
  initialStatus: () => ({ replicas: 0, availableReplicas: 0 }),
  validateStatusUpdate: countsCheck(statefulSetCounts),
});

const templateGeneration = 'deprecated.daemonset.template.generation';

const daemonSet = typedRules<Wire<V1DaemonSet>>({
  // The template generation, which predates revisions, is an annotation that only the server writes.
  defaults: (object) => {
    defaultDaemonSet(object);
    object.metadata.annotations = { [templateGeneration]: '0', ...object.metadata.annotations };
  },
  validate: validateDaemonSet,
  validateUpdate: keepSelector,
  warnings: (object, old) => {
    const isNew = old === undefined || !deepEqual(object.spec?.template, old.spec?.template);
    return isNew ? ofTemplate.warnings(object) : [];
  },
  prepareForCreate: (object) => {
    const { metadata } = object;
    ofTemplate.prepareForCreate(object);
    metadata.annotations = { ...metadata.annotations, [templateGeneration]: '1' };
  },
  prepareForUpdate: (object, old) => {
    const { metadata } = object;
    ofTemplate.prepareForUpdate(object);
    const before = Number(old.metadata.annotations?.[templateGeneration] ?? 0);
    const changed = !deepEqual(object.spec?.template, old.spec?.template);
    const generation = String(changed ? before + 1 : before);
    metadata.annotations = { ...metadata.annotations, [templateGeneration]: generation };
  },
  specChanged,
  validateStatusUpdate: countsCheck(daemonSetCounts),
});

const controllerRevision = typedRules<Wire<V1ControllerRevision>>({
  validate: ({ revision }, errors) => validateNonnegative(revision, errors.at('revision')),
  validateCreate: ({ data }, errors) => {
    if (data === undefined || data === null) errors.required('data', 'data is mandatory');
    else if (!isJsonObject(data)) errors.required('data', 'data must be a valid JSON object');
  },
  validateUpdate: (object, old, errors) => errors.immutable('data', object.data, old.data),
});

export const appsRules: Readonly<Record<string, KindRules>> = {
  'apps/v1/Deployment': deployment,
  'apps/v1/ReplicaSet': replicaSet,
  'apps/v1/StatefulSet': statefulSet,
  'apps/v1/DaemonSet': { ...daemonSet, hiddenAnnotation: templateGeneration },
  'apps/v1/ControllerRevision': controllerRevision,
};

// The decoder always creates the structs `spec` and `template`, as Go does.

function defaultTemplate(template: Wire<V1PodTemplateSpec>): void {
  if (template.spec !== undefined) defaultPodSpec(template.spec);
}

function defaultDeployment({ spec }: Wire<V1Deployment>): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  spec.strategy ??= {};
  const { strategy } = spec;
  strategy.type ??= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {};
    strategy.rollingUpdate.maxUnavailable ??= '25%';
    strategy.rollingUpdate.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  defaultTemplate(spec.template);
}

function defaultReplicaSet({ spec }: Wire<V1ReplicaSet>): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  if (spec.template !== undefined) defaultTemplate(spec.template);
}

function defaultStatefulSet({ spec }: Wire<V1StatefulSet>): void {
  if (spec === undefined) return;
  spec.podManagementPolicy ??= 'OrderedReady';
  spec.updateStrategy ??= {};
  const { updateStrategy } = spec;
  if (updateStrategy.type === undefined) {
    updateStrategy.type = 'RollingUpdate';
    updateStrategy.rollingUpdate ??= {};
  }
  if (updateStrategy.type === 'RollingUpdate' && updateStrategy.rollingUpdate !== undefined) {
    updateStrategy.rollingUpdate.partition ??= 0;
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {};
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= 'Retain';
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultTemplate(spec.template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion ??= 'v1';
    claim.kind ??= 'PersistentVolumeClaim';
    if (claim.spec !== undefined) defaultClaimSpec(claim.spec);
    claim.status ??= {};
    claim.status.phase ??= 'Pending';
  }
}

function defaultDaemonSet({ spec }: Wire<V1DaemonSet>): void {
  if (spec === undefined) return;
  spec.updateStrategy ??= {};
  const { updateStrategy } = spec;
  updateStrategy.type ??= 'RollingUpdate';
  if (updateStrategy.type === 'RollingUpdate') {
    updateStrategy.rollingUpdate ??= {};
    updateStrategy.rollingUpdate.maxUnavailable ??= 1;
  }
  const { rollingUpdate } = updateStrategy;
  if (rollingUpdate !== undefined) {
    rollingUpdate.maxUnavailable ??= 0;
    rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  defaultTemplate(spec.template);
}

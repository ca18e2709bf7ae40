import type {
  V1DaemonSet,
  V1Deployment,
  V1DeploymentStrategy,
  V1LabelSelector,
  V1PodTemplateSpec,
  V1ReplicaSet,
  V1StatefulSet,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';
import { withoutMembers, labelProblems } from '../../object/index.js';
import {
  intOrPercentNumber,
  validateAtMost100Percent,
  validateIntOrPercent,
  validateNonnegative,
} from './field-values.js';
import {
  isEmptySelector,
  refuseTemplateLabels,
  selects,
  validateAnnotations,
  validateLabelSelector,
} from './metadata.js';
import { validatePodTemplate } from './pod-spec.js';
import { validateClaimSpec } from './storage.js';

type Template = Wire<V1PodTemplateSpec>;
type Selector = Wire<V1LabelSelector>;

export function validateDeployment({ spec }: Wire<V1Deployment>, errors: FieldErrors): void {
  if (spec === undefined) return;
  validateNonnegative(spec.replicas, errors.at('spec.replicas'));
  validateSelector(spec.selector, errors, 'deployment');
  validateTemplate(spec.template, { errors, selector: spec.selector, workload: 'ReplicaSet' });
  validateStrategy(spec.strategy ?? {}, errors);
  validateNonnegative(spec.minReadySeconds, errors.at('spec.minReadySeconds'));
  validateNonnegative(spec.revisionHistoryLimit, errors.at('spec.revisionHistoryLimit'));
  const { progressDeadlineSeconds: deadline } = spec;
  if (deadline === undefined) return;
  validateNonnegative(deadline, errors.at('spec.progressDeadlineSeconds'));
  if (deadline <= (spec.minReadySeconds ?? 0)) {
    const why = 'must be greater than minReadySeconds';
    errors.invalid('spec.progressDeadlineSeconds', deadline, why);
  }
}

function validateStrategy(strategy: Wire<V1DeploymentStrategy>, errors: FieldErrors): void {
  const path = 'spec.strategy.rollingUpdate';
  const { type = '', rollingUpdate } = strategy;
  if (type === 'Recreate') {
    if (rollingUpdate === undefined) return;
    errors.forbidden(path, "may not be specified when strategy `type` is 'Recreate'");
    return;
  }
  if (type !== 'RollingUpdate') {
    errors.notSupported('spec.strategy', strategy, ['Recreate', 'RollingUpdate']);
    return;
  }
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
  validateIntOrPercent(maxUnavailable, errors.at(`${path}.maxUnavailable`));
  validateIntOrPercent(maxSurge, errors.at(`${path}.maxSurge`));
  if (intOrPercentNumber(maxUnavailable) === 0 && intOrPercentNumber(maxSurge) === 0) {
    errors.invalid(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  }
  validateAtMost100Percent(maxUnavailable, errors.at(`${path}.maxUnavailable`));
}

export function validateReplicaSet({ spec }: Wire<V1ReplicaSet>, errors: FieldErrors): void {
  if (spec === undefined) return;
  validateNonnegative(spec.replicas, errors.at('spec.replicas'));
  validateNonnegative(spec.minReadySeconds, errors.at('spec.minReadySeconds'));
  // The real server writes `deployment` in the errors of a ReplicaSet too.
  validateSelector(spec.selector, errors, 'deployment');
  const { template, selector } = spec;
  if (template !== undefined) {
    validateTemplate(template, { errors, selector, workload: 'ReplicaSet' });
  }
}

export function validateStatefulSet(
  { spec }: Wire<V1StatefulSet>,
  errors: FieldErrors,
  update = false,
): void {
  if (spec === undefined) return;
  const { podManagementPolicy = '', serviceName, volumeClaimTemplates = [] } = spec;
  if (podManagementPolicy !== 'OrderedReady' && podManagementPolicy !== 'Parallel') {
    const why = "must be 'OrderedReady' or 'Parallel'";
    errors.invalid('spec.podManagementPolicy', podManagementPolicy, why);
  }
  validateSetStrategy(spec, errors);
  validateRetention(spec, errors);
  if (!update) {
    errors.each('spec.volumeClaimTemplates', volumeClaimTemplates, (claim, errors) => {
      validateClaimSpec(claim.spec ?? {}, errors.at('spec'));
    });
  }
  validateNonnegative(spec.replicas, errors.at('spec.replicas'));
  validateNonnegative(spec.minReadySeconds, errors.at('spec.minReadySeconds'));
  validateNonnegative(spec.ordinals?.start, errors.at('spec.ordinals.start'));
  if (!update) errors.optionalText('spec.serviceName', serviceName, labelProblems);
  validateSelector(spec.selector, errors, 'statefulset');
  const template = withClaimVolumes(spec);
  validateTemplate(template, { errors, selector: spec.selector, workload: 'StatefulSet' });
}

type StatefulSetSpec = NonNullable<Wire<V1StatefulSet>['spec']>;

function validateSetStrategy({ updateStrategy = {} }: StatefulSetSpec, errors: FieldErrors): void {
  const { type = '', rollingUpdate } = updateStrategy;
  const field = 'spec.updateStrategy';
  if (type === 'OnDelete') {
    if (rollingUpdate !== undefined) {
      const why = "only allowed for updateStrategy 'RollingUpdate'";
      errors.invalid(`${field}.rollingUpdate`, rollingUpdate, why);
    }
  } else if (type === 'RollingUpdate') {
    validateNonnegative(rollingUpdate?.partition, errors.at(`${field}.rollingUpdate.partition`));
  } else {
    errors.invalid(field, updateStrategy, "must be 'RollingUpdate' or 'OnDelete'");
  }
}

function validateRetention(spec: StatefulSetSpec, errors: FieldErrors): void {
  const field = 'spec.persistentVolumeClaimRetentionPolicy';
  for (const member of ['whenDeleted', 'whenScaled'] as const) {
    const policy = spec.persistentVolumeClaimRetentionPolicy?.[member] ?? 'Retain';
    errors.oneOf(`${field}.${member}`, policy, ['Retain', 'Delete']);
  }
}

/** Returns the template of a StatefulSet's pods with a volume for each claim. */
function withClaimVolumes(spec: StatefulSetSpec): Template {
  const { template, volumeClaimTemplates = [] } = spec;
  if (template.spec === undefined) return template;
  const podSpec = withoutMembers(template.spec, 'subdomain', 'hostname');
  const claims = volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? '');
  const volumes = [
    ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...(podSpec.volumes ?? []).filter(({ name }) => !claims.includes(name)),
  ];
  return { ...template, spec: { ...podSpec, volumes } };
}

export function validateDaemonSet({ spec }: Wire<V1DaemonSet>, errors: FieldErrors): void {
  if (spec === undefined) return;
  const { selector, template, updateStrategy = {} } = spec;
  // For a missing selector, the real server reports only that the template does not match it.
  if ((selector as Selector | null) !== null) validateSelector(selector, errors, 'daemonset');
  validateTemplate(template, { errors, selector, workload: 'DaemonSet' });
  validateNonnegative(spec.minReadySeconds, errors.at('spec.minReadySeconds'));
  const { type = '', rollingUpdate } = updateStrategy;
  if (type === 'RollingUpdate') {
    const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
    const path = 'spec.updateStrategy.rollingUpdate';
    validateIntOrPercent(maxUnavailable, errors.at(`${path}.maxUnavailable`));
    validateIntOrPercent(maxSurge, errors.at(`${path}.maxSurge`));
    const [unavailable, surge] = [intOrPercentNumber(maxUnavailable), intOrPercentNumber(maxSurge)];
    if (unavailable !== 0 && surge !== 0) {
      errors.invalid(
        `${path}.maxSurge`,
        maxSurge,
        'may not be set when maxUnavailable is non-zero',
      );
    } else if (unavailable === 0 && surge === 0) {
      errors.required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0');
    }
    validateAtMost100Percent(maxUnavailable, errors.at(`${path}.maxUnavailable`));
    validateAtMost100Percent(maxSurge, errors.at(`${path}.maxSurge`));
  } else if (type !== 'OnDelete') {
    errors.notSupported('spec.updateStrategy', updateStrategy, ['RollingUpdate', 'OnDelete']);
  }
  validateNonnegative(spec.revisionHistoryLimit, errors.at('spec.revisionHistoryLimit'));
}

function validateSelector(selector: Selector | null, errors: FieldErrors, workload: string): void {
  // The decoder sets a missing selector to null, as Go does.
  if (selector === null) {
    errors.required('spec.selector');
    return;
  }
  validateLabelSelector(selector, errors.at('spec.selector'));
  if (isEmptySelector(selector)) {
    errors.invalid('spec.selector', selector, `empty selector is invalid for ${workload}`);
  }
}

function validateTemplate(
  template: Template,
  {
    errors,
    selector,
    workload,
  }: { errors: FieldErrors; selector: Selector | null; workload: string },
): void {
  const selected = selects(selector ?? undefined, template.metadata?.labels);
  const empty = selector !== null && isEmptySelector(selector);
  if (selected === undefined && workload !== 'DaemonSet') {
    errors.invalid(
      'spec.selector',
      selector,
      workload === 'StatefulSet' ? '' : 'invalid label selector',
    );
    return;
  }
  if (selected === false && !empty) refuseTemplateLabels(template.metadata, errors);
  validatePodTemplate(template, errors.at('spec.template'));
  if (workload === 'StatefulSet') {
    // The real server makes this check twice, so its message occurs twice.
    validateAnnotations(template.metadata?.annotations, errors.at('spec.template.annotations'));
  }
  const { restartPolicy, activeDeadlineSeconds } = template.spec ?? {};
  if (restartPolicy !== 'Always') {
    errors.notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']);
  }
  if (activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${workload} is not Supported`;
    errors.forbidden('spec.template.spec.activeDeadlineSeconds', why);
  }
}

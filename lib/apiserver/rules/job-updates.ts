import type { V1Container, V1Job, V1JobSpec, V1PodSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, isConditionTrue, withoutMembers } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateCompletions } from './job-indexes.js';

type Job = Wire<V1Job>;
type JobSpec = Wire<V1JobSpec>;
type PodSpec = Wire<V1PodSpec>;

export function validateJobUpdate(job: Job, old: Job, errors: FieldErrors): void {
  const { spec } = job;
  const { spec: before } = old;
  if (spec === undefined || before === undefined) return;
  if (spec.completionMode === 'Indexed') validateCompletions(spec, before, errors);
  else immutable('completions');
  immutable('selector');
  if (isTemplateMutable(old)) validateTemplateSpec(spec, before, errors);
  else immutable('template');
  immutable('completionMode');
  immutable('podFailurePolicy');
  immutable('backoffLimitPerIndex');
  immutable('managedBy');
  immutable('successPolicy');

  function immutable(member: keyof JobSpec): void {
    errors.immutable(`spec.${member}`, spec?.[member], before?.[member]);
  }
}

/** Returns whether a Job is suspended and its template is not in use: no pod is active. */
function isTemplateMutable({ spec, status }: Job): boolean {
  const { startTime, active = 0, conditions } = status ?? {};
  const isStopped = startTime === undefined || isConditionTrue(conditions, 'Suspended');
  return spec?.suspend === true && isStopped && active === 0;
}

/** Checks that the {@link immutableParts} of a pod template have not changed. */
function validateTemplateSpec(
  { template: { spec } }: JobSpec,
  { template: { spec: old } }: JobSpec,
  errors: FieldErrors,
): void {
  if (deepEqual(immutableParts(spec), immutableParts(old))) return;
  errors.invalid('spec.template.spec', spec, 'field is immutable');
}

/** Returns a pod spec without its scheduling directives and without the resources of its containers. */
function immutableParts(spec: PodSpec | undefined): unknown {
  if (spec === undefined) return undefined;
  const withoutResources = (container: Wire<V1Container>): unknown =>
    withoutMembers(container, 'resources');
  return {
    ...withoutMembers(spec, 'nodeSelector', 'tolerations', 'schedulingGates'),
    affinity: withoutMembers(spec.affinity ?? {}, 'nodeAffinity'),
    // The decoder sets a missing list to null, as Go does.
    containers: ((spec.containers as PodSpec['containers'] | null) ?? []).map(withoutResources),
    initContainers: (spec.initContainers ?? []).map(withoutResources),
  };
}

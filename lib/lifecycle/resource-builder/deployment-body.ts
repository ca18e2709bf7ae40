import type { Lenient, PodSpec } from '../../apply/index.js';
import type { Deployment } from '../../object/kinds.js';
import { describeObject } from '../../object/describe-object.js';
import { labelsProblem } from '../../object/names.js';
import { refuse } from './new-object.js';
import type { DeploymentOptions, Specified, TextMap } from './object-options.js';

/** A container of a Deployment's Pods. */
export type DeploymentContainer = NonNullable<
  NonNullable<Deployment['spec']>['template']['spec']
>['containers'][number];

/**
 * Returns the `spec` of a Deployment with the labels `labels`, which its Pods get too.
 * @throws OperatorError `InvalidObject`: it would select all Pods, or none of its own.
 */
export function deploymentBody(
  options: DeploymentOptions,
  labels: TextMap,
): Lenient<Specified<Deployment>> {
  const { matchLabels, replicas = 1, podLabels, podAnnotations, spec } = options;
  const problem = selectorProblem(options);
  if (problem !== undefined) {
    refuse(describeObject({ kind: 'Deployment' }, options), problem);
  }
  const metadata = {
    labels: { ...labels, ...podLabels, ...matchLabels },
    annotations: podAnnotations,
  };
  return {
    spec: {
      ...spec,
      replicas,
      selector: { matchLabels },
      template: { metadata, spec: podSpecOf(options) },
    },
  };
}

function selectorProblem({ matchLabels, podLabels = {} }: DeploymentOptions): string | undefined {
  if (Object.keys(matchLabels).length === 0) return 'matchLabels: want at least one';
  const problem = labelsProblem(podLabels);
  return problem === undefined ? undefined : `podLabels: ${problem}`;
}

function podSpecOf({ podSpec, serviceAccount, nodePlacement = {} }: DeploymentOptions): PodSpec {
  const { nodeSelector, affinity, tolerations } = nodePlacement;
  return {
    ...podSpec,
    ...(serviceAccount !== undefined && { serviceAccountName: serviceAccount }),
    ...(nodeSelector !== undefined && { nodeSelector }),
    ...(affinity !== undefined && { affinity }),
    ...(tolerations !== undefined && { tolerations }),
  };
}

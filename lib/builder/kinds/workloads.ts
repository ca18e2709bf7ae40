import type { PodTemplate } from '../../apply/index.js';
import { DaemonSet, Deployment, StatefulSet, labelValueOf } from '../../object/index.js';
import type { KubernetesObject, ResourceType } from '../../object/index.js';
import type { OptionNames } from '../../system/index.js';
import { OperatorError, refuseNonList, refuseOtherThan } from '../../system/index.js';
import type { ChainedName, ChainNames } from '../chain-names.js';
import type { ChainedLink, ObjectOptions, RequiredName, WorkloadSettings } from '../link.js';
import { objectLink, refuseFields } from './object-link.js';
import { podOptionNames, podTemplateOf, templateRemedy } from './pod-template.js';
import type { PodOptions } from './pod-template.js';
import type { SpecOf } from './specified.js';

/** Label on the pods of a workload; also the default selector. */
export const workloadLabel = 'operator-builder.io/workload';

/** Options common to Deployments, StatefulSets and DaemonSets. */
export interface WorkloadOptions<
  Names extends ChainNames,
  Name extends string,
  Ref extends string,
  NodeType extends string,
>
  extends ObjectOptions<Name>, PodOptions<Names> {
  /**
   * Labels that select the workload's pods; also added to the pod template. Immutable after creation.
   * @defaultValue `operator-builder.io/workload: <kind>.<name>`, for example `deployment.web`
   */
  readonly selector?: Readonly<Record<string, string>> | undefined;
  /** ConfigMaps and Secrets whose changes roll the pods, in addition to those that the template refers to. */
  readonly rolloutOn?:
    readonly ChainedName<Names['configMap'] | Names['secret'], Ref>[] | undefined;
  /** ConfigMaps that every container, but no init container, gets as environment variables. */
  readonly envFromConfigMap?: readonly ChainedName<Names['configMap'], Ref>[] | undefined;
  /** Secrets that every container, but no init container, gets as environment variables. */
  readonly envFromSecret?: readonly ChainedName<Names['secret'], Ref>[] | undefined;
  /**
   * Also roll the pods when the template refers to a ConfigMap or Secret outside the chain and it changes.
   * @defaultValue false
   */
  readonly followReferences?: boolean | undefined;
  /** Name of the workload's group in `rolloutOrder`. */
  readonly nodeType?: ChainedName<Names['order'], NodeType> | undefined;
  /** Seconds without progress after which a rollout is reported as stuck. @defaultValue 600 */
  readonly progressDeadlineSeconds?: number | undefined;
}

/** Options of {@link BuilderChain.deployment | Builder.deployment}. */
export interface DeploymentOptions<
  Names extends ChainNames = ChainNames,
  Name extends string = string,
  Ref extends string = string,
  NodeType extends string = string,
> extends WorkloadOptions<Names, Name, Ref, NodeType> {
  /**
   * `'external'`: another field manager, such as an autoscaler, sets the replicas after creation; the builder
   * uses `spec.replicas` only to create the workload.
   * @defaultValue the server's: 1
   */
  readonly replicas?: number | 'external' | undefined;
  readonly strategy?: SpecOf<Deployment>['strategy'] | undefined;
  readonly minReadySeconds?: number | undefined;
  /** Further fields of the Deployment's `spec`, for which there is no other option. */
  readonly spec?: Partial<Omit<SpecOf<Deployment>, 'template' | 'selector'>> | undefined;
}

/** Options of {@link BuilderChain.statefulSet | Builder.statefulSet}. */
export interface StatefulSetOptions<
  Names extends ChainNames = ChainNames,
  Name extends string = string,
  Ref extends string = string,
  NodeType extends string = string,
  ServiceName extends string = string,
> extends WorkloadOptions<Names, Name, Ref, NodeType> {
  /**
   * `'external'`: another field manager, such as an autoscaler, sets the replicas after creation; the builder
   * uses `spec.replicas` only to create the workload.
   * @defaultValue the server's: 1
   */
  readonly replicas?: number | 'external' | undefined;
  /** Name of the chained Service that gives the pods their DNS names. */
  readonly serviceName?: ChainedName<Names['service'], ServiceName> | undefined;
  /** Claim templates; each needs `metadata.name`. The requested storage may grow; all other fields are immutable. */
  readonly volumeClaimTemplates?: readonly VolumeClaimTemplate[] | undefined;
  readonly updateStrategy?: SpecOf<StatefulSet>['updateStrategy'] | undefined;
  readonly podManagementPolicy?: 'OrderedReady' | 'Parallel' | undefined;
  readonly persistentVolumeClaimRetentionPolicy?:
    SpecOf<StatefulSet>['persistentVolumeClaimRetentionPolicy'] | undefined;
  readonly minReadySeconds?: number | undefined;
  /**
   * Delete a pod of a broken revision that was never ready, if it blocks the rollout of a repaired revision.
   * @defaultValue false
   */
  readonly unblock?: boolean | undefined;
  /** Further fields of the StatefulSet's `spec`, for which there is no other option. */
  readonly spec?: Partial<Omit<SpecOf<StatefulSet>, 'template' | 'selector'>> | undefined;
}

/** Options of {@link BuilderChain.daemonSet | Builder.daemonSet}. */
export interface DaemonSetOptions<
  Names extends ChainNames = ChainNames,
  Name extends string = string,
  Ref extends string = string,
  NodeType extends string = string,
> extends WorkloadOptions<Names, Name, Ref, NodeType> {
  readonly updateStrategy?: SpecOf<DaemonSet>['updateStrategy'] | undefined;
  readonly minReadySeconds?: number | undefined;
  /** Further fields of the DaemonSet's `spec`, for which there is no other option. */
  readonly spec?: Partial<Omit<SpecOf<DaemonSet>, 'template' | 'selector'>> | undefined;
}

/** Template of the claims that each pod of a StatefulSet gets. */
export interface VolumeClaimTemplate {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: NonNullable<
    NonNullable<SpecOf<StatefulSet>['volumeClaimTemplates']>[number]['spec']
  >;
}

export function deploymentLink<Names extends ChainNames>(
  options: Unchecked<DeploymentOptions<Names>>,
): ChainedLink {
  const { replicas, strategy, minReadySeconds, progressDeadlineSeconds, spec = {} } = options;
  return workloadLink(Deployment, options, {
    ...spec,
    // The Deployment gets the option too, so that the server and the builder measure progress by the same deadline.
    ...(progressDeadlineSeconds !== undefined && { progressDeadlineSeconds }),
    ...(typeof replicas === 'number' && { replicas }),
    ...(strategy !== undefined && { strategy }),
    ...(minReadySeconds !== undefined && { minReadySeconds }),
  });
}

export function statefulSetLink<Names extends ChainNames>(
  options: Unchecked<StatefulSetOptions<Names>>,
): ChainedLink {
  const { replicas, serviceName, volumeClaimTemplates, updateStrategy, spec = {} } = options;
  const { podManagementPolicy, persistentVolumeClaimRetentionPolicy, minReadySeconds } = options;
  const link = workloadLink(StatefulSet, options, {
    ...spec,
    ...(typeof replicas === 'number' && { replicas }),
    ...(serviceName !== undefined && { serviceName }),
    ...(volumeClaimTemplates !== undefined && { volumeClaimTemplates }),
    ...(updateStrategy !== undefined && { updateStrategy }),
    ...(podManagementPolicy !== undefined && { podManagementPolicy }),
    ...(persistentVolumeClaimRetentionPolicy !== undefined && {
      persistentVolumeClaimRetentionPolicy,
    }),
    ...(minReadySeconds !== undefined && { minReadySeconds }),
  });
  if (serviceName === undefined) return link;
  const service = { kinds: ['Service'], name: serviceName, by: 'serviceName' } as const;
  return { ...link, requires: [...link.requires, service] };
}

export function daemonSetLink<Names extends ChainNames>(
  options: Unchecked<DaemonSetOptions<Names>>,
): ChainedLink {
  const { updateStrategy, minReadySeconds, spec = {} } = options;
  return workloadLink(DaemonSet, options, {
    ...spec,
    ...(updateStrategy !== undefined && { updateStrategy }),
    ...(minReadySeconds !== undefined && { minReadySeconds }),
  });
}

/**
 * Returns the selector of a workload without a `selector` option. It must never change: selectors are
 * immutable.
 */
export function defaultSelector(kind: string, name: string): Record<string, string> {
  return { [workloadLabel]: labelValueOf(`${kind.toLowerCase()}.${name}`) };
}

/**
 * `Options` with plain strings as names. The compiler has checked the names; `reconcile` checks them at run
 * time.
 */
export type Unchecked<Options> = Omit<Options, CheckedNames> & {
  readonly rolloutOn?: readonly string[] | undefined;
  readonly envFromConfigMap?: readonly string[] | undefined;
  readonly envFromSecret?: readonly string[] | undefined;
  readonly nodeType?: string | undefined;
  readonly serviceName?: string | undefined;
};

type CheckedNames = 'rolloutOn' | 'envFromConfigMap' | 'envFromSecret' | 'nodeType' | 'serviceName';

type AnyWorkloadOptions<Names extends ChainNames> = Unchecked<
  WorkloadOptions<Names, string, string, string>
> & {
  readonly replicas?: number | 'external' | undefined;
  readonly unblock?: boolean | undefined;
};

function workloadLink<Names extends ChainNames>(
  type: ResourceType<KubernetesObject>,
  options: AnyWorkloadOptions<Names>,
  spec: Readonly<Record<string, unknown>>,
): ChainedLink {
  checkCounts(type, options);
  const matchLabels = { ...(options.selector ?? defaultSelector(type.kind, options.name)) };
  const { rolloutOn = [], envFromConfigMap = [], envFromSecret = [] } = options;
  const subject = `${type.kind} ${options.name}`;
  refuseFields(`${subject}: spec`, spec, {
    selector: 'use the option selector',
    template: templateRemedy,
  });
  const lists = { rolloutOn, envFromConfigMap, envFromSecret };
  for (const [option, given] of Object.entries(lists))
    refuseNonList(`${subject}: ${option}`, given);
  const { followReferences, unblock } = options;
  refuseOtherThan(`${subject}: followReferences`, followReferences, [true, false]);
  refuseOtherThan(`${subject}: unblock`, unblock, [true, false]);
  const others = optionNames[type.kind] ?? {};
  const { template, requires } = podTemplateOf(options, matchLabels, { kind: type.kind, others });
  const body = {
    spec: {
      ...{ ...spec, selector: { matchLabels } },
      template: withEnvFrom(template, { envFromConfigMap, envFromSecret }),
    },
  };
  const link = objectLink(type, options, body, others);
  const named = [
    ...rolloutOn.map((name) => required(['ConfigMap', 'Secret'], name, 'rolloutOn')),
    ...envFromConfigMap.map((name) => required(['ConfigMap'], name, 'envFromConfigMap')),
    ...envFromSecret.map((name) => required(['Secret'], name, 'envFromSecret')),
  ];
  const workload = workloadSettings(options);
  return { ...link, requires: [...requires, ...named], workload };
}

type OwnNames<Options> = Omit<OptionNames<Options>, keyof ObjectOptions | 'spec'>;

const workloadOptionNames: OwnNames<WorkloadOptions<ChainNames, string, string, string>> = {
  ...{ ...podOptionNames, selector: true, rolloutOn: true, envFromConfigMap: true },
  ...{ envFromSecret: true, followReferences: true, nodeType: true, progressDeadlineSeconds: true },
};
const deploymentOptionNames: OwnNames<DeploymentOptions> = {
  ...{ ...workloadOptionNames, replicas: true, strategy: true, minReadySeconds: true },
};
const statefulSetOptionNames: OwnNames<StatefulSetOptions> = {
  ...{ ...workloadOptionNames, replicas: true, serviceName: true, volumeClaimTemplates: true },
  ...{ updateStrategy: true, podManagementPolicy: true, minReadySeconds: true, unblock: true },
  persistentVolumeClaimRetentionPolicy: true,
};
const daemonSetOptionNames: OwnNames<DaemonSetOptions> = {
  ...{ ...workloadOptionNames, updateStrategy: true, minReadySeconds: true },
};
const optionNames: Readonly<Record<string, object>> = {
  Deployment: deploymentOptionNames,
  StatefulSet: statefulSetOptionNames,
  DaemonSet: daemonSetOptionNames,
};

// JSON would drop NaN or a string here, and the server's default of 1 would apply.
function checkCounts<Names extends ChainNames>(
  { kind }: ResourceType<KubernetesObject>,
  options: AnyWorkloadOptions<Names> & { readonly minReadySeconds?: number | undefined },
): void {
  const { name, replicas, minReadySeconds, progressDeadlineSeconds } = options;
  const counts = { replicas, minReadySeconds, progressDeadlineSeconds };
  for (const [option, given] of Object.entries<unknown>(counts)) {
    if (given === undefined || (option === 'replicas' && given === 'external')) continue;
    if (Number.isInteger(given) && Number(given) >= 0) continue;
    const got = typeof given === 'number' ? String(given) : JSON.stringify(given);
    const message = `${kind} ${name}: ${option} must be an integer from 0, got ${got}`;
    throw new OperatorError('InvalidOption', message);
  }
}

function required(kinds: RequiredName['kinds'], name: string, by: string): RequiredName {
  return { kinds, name, by };
}

interface EnvFrom {
  readonly envFromConfigMap: readonly string[];
  readonly envFromSecret: readonly string[];
}

function withEnvFrom(
  template: PodTemplate,
  { envFromConfigMap, envFromSecret }: EnvFrom,
): PodTemplate {
  const { spec } = template;
  const added = [
    ...envFromConfigMap.map((name) => ({ configMapRef: { name } })),
    ...envFromSecret.map((name) => ({ secretRef: { name } })),
  ];
  if (spec === undefined || added.length === 0) return template;
  const containers = spec.containers.map((container) => ({
    ...container,
    envFrom: [...(container.envFrom ?? []), ...added],
  }));
  return { ...template, spec: { ...spec, containers } };
}

function workloadSettings<Names extends ChainNames>(
  options: AnyWorkloadOptions<Names>,
): WorkloadSettings {
  const { rolloutOn = [], followReferences = false, nodeType, replicas, unblock = false } = options;
  const { progressDeadlineSeconds = 600 } = options;
  return {
    rolloutOn,
    followReferences,
    nodeType,
    progressDeadlineSeconds,
    unblock,
    replicasExternal: replicas === 'external',
  };
}

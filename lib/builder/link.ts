import type { ClaimOptions, LinkOptions } from '../apply/index.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';

/** What every link that makes an object of one kind takes. */
export interface ObjectOptions<Name extends string = string> extends LinkOptions {
  readonly name: Name;
  /**
   * Only ever the owner's namespace, or the builder's where the owner is cluster-scoped.
   * @defaultValue that one
   */
  readonly namespace?: string | undefined;
  /** Laid over the builder's labels. */
  readonly labels?: Readonly<Record<string, string | undefined>> | undefined;
  readonly annotations?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What only workloads have. */
export interface WorkloadSettings {
  /** ConfigMaps and Secrets by name, beside those that the pod template refers to. */
  readonly rolloutOn: readonly string[];
  readonly followReferences: boolean;
  readonly nodeType: string | undefined;
  readonly progressDeadlineSeconds: number;
  readonly unblock: boolean;
  /** `spec.replicas` belongs to somebody else once the object exists. */
  readonly replicasExternal: boolean;
}

/** One object of a chain, as plain data. */
export interface Link {
  readonly type: TypeReference<KubernetesObject>;
  /** The object as it was chained: no owner, no labels of ours, no stamps yet. */
  readonly object: UnstructuredObject;
  readonly options: ClaimOptions;
  readonly workload?: WorkloadSettings | undefined;
  /** Names that must be in the chain; checked before anything is written. */
  readonly requires: readonly RequiredName[];
  /** The workload that an object without a selector of its own is for. */
  readonly selects?: { readonly name: string; readonly explicit: boolean } | undefined;
  /** A workload that an autoscaler scales and that is not in the chain. */
  readonly scaleTarget?: ScaleTarget | undefined;
}

/**
 * A {@link Link} as it was chained. Its object is JSON, which is read only where the object is looked at:
 * where the chain is the one of the last reconcile, it is not.
 */
export type ChainedLink = Omit<Link, 'object'> & { readonly json: string };

/** Reads the object of a link. */
export function readLink({ json, ...link }: ChainedLink): Link {
  return { ...link, object: JSON.parse(json) as UnstructuredObject };
}

/** A workload outside of the chain. */
export interface ScaleTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** What the chain has instead, for the error. */
  readonly hint: string;
}

/** A name that a link refers to. */
export interface RequiredName {
  /** One object of one of these kinds must be chained. */
  readonly kinds: readonly ('ConfigMap' | 'Secret' | 'Service' | 'PersistentVolumeClaim')[];
  readonly name: string;
  /** The option or call that named it, for the error. */
  readonly by: string;
}

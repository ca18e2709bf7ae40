import { builtInType } from '../apply/index.js';
import type { ClaimOptions, LinkOptions } from '../apply/index.js';
import { withoutNulls } from '../object/index.js';
import type { KubernetesObject, UnstructuredObject, TypeReference } from '../object/index.js';
import type { GeneratedValues } from './generated.js';

/** Options common to all links of one kind of object. */
export interface ObjectOptions<Name extends string = string> extends LinkOptions {
  readonly name: Name;
  /**
   * Must be the owner's namespace if the owner is namespaced.
   * @defaultValue the namespace of the owner, or else of the builder
   */
  readonly namespace?: string | undefined;
  /** Labels of the object, which override those of the builder. */
  readonly labels?: Readonly<Record<string, string | undefined>> | undefined;
  readonly annotations?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Settings that only workloads have. */
export interface WorkloadSettings {
  /** Names of ConfigMaps and Secrets, in addition to those that the pod template refers to. */
  readonly rolloutOn: readonly string[];
  readonly followReferences: boolean;
  readonly nodeType: string | undefined;
  readonly progressDeadlineSeconds: number;
  readonly unblock: boolean;
  /** True if another field manager sets `spec.replicas` after the creation of the object. */
  readonly replicasExternal: boolean;
}

/** One object of a chain, as plain data. */
export interface Link {
  readonly type: TypeReference<KubernetesObject>;
  /** The object as it was chained, without owner, builder labels or hashes. */
  readonly object: UnstructuredObject;
  readonly options: ClaimOptions;
  readonly workload?: WorkloadSettings | undefined;
  /** Names that must be in the chain; checked before anything is written. */
  readonly requires: readonly RequiredName[];
  /** Name of the workload that the object selects if it has no selector of its own. */
  readonly selects?: { readonly name: string; readonly explicit: boolean } | undefined;
  /** Functions that make values of a Secret. A value that exists is kept. */
  readonly generated?: GeneratedValues | undefined;
  /** Whether a change of a ConfigMap or Secret rolls the pods that use it. @defaultValue true */
  readonly rolloutOnChange?: boolean | undefined;
  /** A workload outside the chain that an autoscaler scales. */
  readonly scaleTarget?: ScaleTarget | undefined;
}

/**
 * A {@link Link} whose object is JSON. The JSON is parsed only when the object is needed, so an unchanged
 * chain is never parsed.
 */
export type ChainedLink = Omit<Link, 'object'> & { readonly json: string };

/** Parses the object of a link. In a built-in kind null equals absence. */
export function readLink({ json, ...link }: ChainedLink): Link {
  const object = JSON.parse(json) as UnstructuredObject;
  const hasNulls = json.includes(':null') && builtInType(object) !== undefined;
  return { ...link, object: hasNulls ? (withoutNulls(object) as UnstructuredObject) : object };
}

/** A workload outside of the chain. */
export interface ScaleTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** The workloads in the chain, for the error message. */
  readonly hint: string;
}

/** A name to which a link refers. */
export interface RequiredName {
  /** The possible kinds of the object: one of them must be chained under the name. */
  readonly kinds: readonly ('ConfigMap' | 'Secret' | 'Service' | 'PersistentVolumeClaim')[];
  readonly name: string;
  /** The option or function that uses the name, for the error message. */
  readonly by: string;
}

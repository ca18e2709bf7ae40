import { hashObject } from '../hash/hash-object.js';
import { isJsonObject, withoutMember } from '../object/json.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { BuilderSettings } from './builder-options.js';
import type { ChainedObject } from './chain.js';
import { appliedHashAnnotation } from './marks.js';
import { podTemplateIn, withPodTemplate } from './pod-references.js';
import { stampTemplate, stampVariables } from './stamp.js';
import type { Stamp, StampVariable } from './stamp.js';

/** An object of a chain in its final form. */
export interface DesiredObject extends ChainedObject {
  /** What is applied to an object that exists. */
  readonly object: UnstructuredObject;
  /** What is applied where there is none: with `replicas`, also where they are somebody else's. */
  readonly creation: UnstructuredObject;
  /** Its hash, which stands in its annotations too. */
  readonly hash: string;
  /** `spec.replicas` is somebody else's. */
  readonly replicasExternal: boolean;
  /** The hashes of ConfigMaps and Secrets that are in its pod template. */
  readonly variables: readonly StampVariable[];
}

/** A desired object and the one that is there. */
export interface Pair {
  readonly desired: DesiredObject;
  readonly live: UnstructuredObject;
}

/** How a completed object becomes a {@link DesiredObject}. */
export interface FinishHow {
  readonly stamps: readonly Stamp[];
  readonly replicasExternal: boolean;
}

/** Stamps `complete` with the hashes that it is to be rolled on, and with its own. */
export function finishObject(
  settings: BuilderSettings,
  { chained, complete }: { readonly chained: ChainedObject; readonly complete: UnstructuredObject },
  { stamps, replicasExternal }: FinishHow,
): DesiredObject {
  const template = podTemplateIn(complete);
  const variables =
    template === undefined ? [] : stampVariables(template, stamps, settings.hashPrefixes);
  const stamped =
    template === undefined
      ? complete
      : withPodTemplate(complete, stampTemplate(template, variables));
  const applied = replicasExternal ? withoutReplicas(stamped) : stamped;
  return { ...chained, ...hashed(applied, stamped), replicasExternal, variables };
}

/** `desired` with `change` made to what is applied, and the hash of the result. */
export function changedDesire(
  desired: DesiredObject,
  change: (object: UnstructuredObject) => UnstructuredObject,
): DesiredObject {
  const { object, creation } = desired;
  return { ...desired, ...hashed(change(withoutHash(object)), change(withoutHash(creation))) };
}

function hashed(
  applied: UnstructuredObject,
  created: UnstructuredObject,
): Pick<DesiredObject, 'object' | 'creation' | 'hash'> {
  const hash = hashObject(applied);
  return { object: withHash(applied, hash), creation: withHash(created, hash), hash };
}

function withoutReplicas(object: UnstructuredObject): UnstructuredObject {
  if (!isJsonObject(object['spec'])) return object;
  return { ...object, spec: withoutMember(object['spec'], 'replicas') };
}

function withHash(object: UnstructuredObject, hash: string): UnstructuredObject {
  const annotations = { ...object.metadata.annotations, [appliedHashAnnotation]: hash };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function withoutHash(object: UnstructuredObject): UnstructuredObject {
  const { annotations = {}, ...metadata } = object.metadata;
  const own = withoutMember(annotations, appliedHashAnnotation);
  const some = Object.keys(own).length > 0;
  return { ...object, metadata: { ...metadata, ...(some && { annotations: own }) } };
}

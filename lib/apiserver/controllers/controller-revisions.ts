import { isAlreadyExists } from '../../object/api-error.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { withoutMember } from '../../object/json.js';
import { ControllerRevision } from '../../object/kinds.js';
import { isControlledBy, ownerReferenceTo } from '../../object/owner-reference.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { deepEqual } from '../../object/deep-equal.js';
import type { PodTemplate } from './pod-state.js';
import { safeHash } from './safe-hash.js';

/** A workload with ControllerRevisions for the versions of its template. */
export interface Revisioned extends KubernetesObject {
  spec?: { template?: PodTemplate | undefined } | undefined;
}

/** Result of {@link newestRevision}. */
export interface NewestRevision {
  /** The revision of the current template. */
  readonly revision: ControllerRevision;
  /** The number of hash collisions so far: names that another template has taken. */
  readonly collisionCount: number;
}

/** Settings for the revisions of a kind of workload. */
export interface RevisionHistory {
  readonly host: ControllerHost;
  readonly writer: ObjectWriter;
  /** The label that carries the hash. */
  readonly hashLabel: string;
}

/**
 * Returns the revision of the owner's current template. An equal one of `revisions` gets the highest number,
 * so a roll-back renumbers an old revision; without an equal one, the function creates a revision.
 */
export async function newestRevision(
  history: RevisionHistory,
  owner: Revisioned,
  known: { readonly revisions: readonly ControllerRevision[]; readonly collisionCount: number },
): Promise<NewestRevision> {
  const { writer } = history;
  const sorted = inOrder(known.revisions);
  const data = templatePatch(owner);
  const next = (sorted.at(-1)?.revision ?? 0) + 1;
  const equal = sorted.findLast((revision) => deepEqual(revision.data, data));
  if (equal === undefined) return await createRevision(history, owner, { ...known, data, next });
  const { collisionCount } = known;
  if (equal === sorted.at(-1)) return { revision: equal, collisionCount };
  const renumbered = { ...equal, revision: next };
  return { revision: await writer.update(renumbered), collisionCount };
}

/** Deletes the oldest revisions beyond `limit`. Revisions whose names are `inUse` stay and do not count. */
export async function pruneRevisions(
  writer: ObjectWriter,
  revisions: readonly ControllerRevision[],
  { limit, inUse }: { readonly limit: number; readonly inUse: ReadonlySet<string> },
): Promise<void> {
  const unused = inOrder(revisions).filter(({ metadata }) => !inUse.has(metadata.name ?? ''));
  const surplus = Math.max(0, unused.length - limit);
  for (const revision of unused.slice(0, surplus)) {
    await writer.delete(ControllerRevision, revision);
  }
}

/** Returns the template that a revision stores. */
export function templateOf(revision: ControllerRevision): PodTemplate {
  const data = revision.data as { spec?: { template?: PodTemplate & { $patch?: string } } };
  return withoutMember(data.spec?.template ?? {}, '$patch');
}

async function createRevision(
  history: RevisionHistory,
  owner: Revisioned,
  wanted: { readonly data: object; readonly next: number; readonly collisionCount: number },
): Promise<NewestRevision> {
  for (let { collisionCount } = wanted; ; collisionCount++) {
    const hash = safeHash(wanted.data, collisionCount);
    const revision = revisionObject(owner, { ...wanted, hash, hashLabel: history.hashLabel });
    try {
      return { revision: await history.writer.create(revision), collisionCount };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const { namespace, name = '' } = revision.metadata;
      const taken = history.host.get(ControllerRevision, { namespace, name });
      const ours = taken !== undefined && isControlledBy(taken, owner);
      if (ours && deepEqual(taken.data, wanted.data)) return { revision: taken, collisionCount };
    }
  }
}

function revisionObject(
  owner: Revisioned,
  wanted: {
    readonly data: object;
    readonly next: number;
    readonly hash: string;
    readonly hashLabel: string;
  },
): ControllerRevision {
  const { name = '', namespace = '', annotations } = owner.metadata;
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${wanted.hash}`,
      namespace,
      labels: { ...owner.spec?.template?.metadata?.labels, [wanted.hashLabel]: wanted.hash },
      ...(annotations && { annotations }),
      ownerReferences: [ownerReferenceTo(owner, { controller: true, blockOwnerDeletion: true })],
    },
    data: wanted.data,
    revision: wanted.next,
  };
}

function templatePatch(owner: Revisioned): object {
  return { spec: { template: { $patch: 'replace', ...owner.spec?.template } } };
}

function inOrder(revisions: readonly ControllerRevision[]): ControllerRevision[] {
  return revisions.toSorted((a, b) => a.revision - b.revision);
}

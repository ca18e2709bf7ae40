import {
  isAlreadyExists,
  deepEqual,
  withoutMember,
  ControllerRevision,
  ownerReferenceTo,
} from '../../object/index.js';
import type { KubernetesObject } from '../../object/index.js';
import type { ObjectWriter } from './controller-host.js';
import type { PodTemplate } from './pod-state.js';

/** A workload with ControllerRevisions for the versions of its template. */
interface Revisioned extends KubernetesObject {
  spec?: { template?: PodTemplate | undefined } | undefined;
  status?: { collisionCount?: number | undefined } | undefined;
}

/** Result of {@link newestRevision}. */
interface NewestRevision {
  /** The revision of the current template. */
  readonly revision: ControllerRevision;
  /** The number of hash collisions so far: names that another template has taken. */
  readonly collisionCount: number;
}

/** Settings for the revisions of a kind of workload. */
interface RevisionHistory {
  readonly writer: ObjectWriter;
  readonly hashLabel: string;
}

/**
 * Returns the revision of the owner's current template. If one of `revisions` equals the template, it gets the highest
 * number, so a roll-back renumbers an old revision. Otherwise, creates a revision.
 */
export async function newestRevision(
  history: RevisionHistory,
  owner: Revisioned,
  revisions: readonly ControllerRevision[],
): Promise<NewestRevision> {
  const { collisionCount = 0 } = owner.status ?? {};
  const sorted = inOrder(revisions);
  const data = templatePatch(owner);
  const next = (sorted.at(-1)?.revision ?? 0) + 1;
  const equal = sorted.findLast((revision) => deepEqual(revision.data, data));
  if (equal === undefined) {
    return await createRevision(history, owner, { data, next, collisionCount });
  }
  if (equal === sorted.at(-1)) return { revision: equal, collisionCount };
  const renumbered = { ...equal, revision: next };
  return { revision: await history.writer.update(renumbered), collisionCount };
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
      // A revision of another template or another owner has the name. The next collision count gives another name.
      if (!isAlreadyExists(error)) throw error;
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

// The letters of generated names in Kubernetes: no vowels and no similar characters.
const safeLetters = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * Returns a short hash of a JSON value for names and labels: FNV-1a of its canonical text, in the alphabet of
 * `rand.SafeEncodeString`. Another `probe` (a collision count) gives another hash of the same value. The hash
 * is stable, but differs from a real control plane's, which hashes Go structures.
 */
export function safeHash(value: unknown, probe = 0): string {
  const text = `${canonicalText(value)}${probe === 0 ? '' : `#${probe}`}`;
  return safeText(fnv1a(text));
}

/**
 * Returns `length` random letters, as in generated names of Kubernetes.
 * @param next - returns numbers from 0 up to 1
 */
export function safeSuffix(next: () => number, length = 5): string {
  const letter = (): string => safeLetters.charAt(Math.floor(next() * safeLetters.length));
  return Array.from({ length }, letter).join('');
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

function safeText(hash: number): string {
  return Array.from(String(hash), (digit) =>
    safeLetters.charAt(digit.charCodeAt(0) % safeLetters.length),
  ).join('');
}

function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

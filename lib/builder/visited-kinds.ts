import { builtInTypes, kindKey, servedTypes } from '../apply/index.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';
import type { Chain } from './chain.js';
import type { RunContext } from './context.js';

type Type = ResourceType<KubernetesObject>;

/** The kinds that one pruning looks at. */
export interface VisitedKinds {
  readonly types: readonly Type[];
  /** Takes note of the kinds of which the owner has objects, once they were looked for. */
  readonly note: (found: readonly Type[]) => void;
}

/** The kinds that an owner has objects of, as far as this process knows. */
interface KnownKinds {
  /** When all kinds were looked at. */
  readonly sweptAt: number;
  readonly kinds: Map<string, Type>;
}

// Nobody but a chain makes its owner's objects, so that a kind without any has none until a chain names
// it. Another process may have named it: an earlier leader, a version before this one.
const sweepEveryMs = 10 * 60_000;
const mostOwners = 10_000;
const known = new Map<string, KnownKinds>();

/**
 * The kinds of the chain, those that the controller owns, and those that the owner is known to have
 * objects of: that is how the last ConfigMap goes. Where nobody says what the controller owns, all kinds
 * of the builder are looked at now and then.
 */
export async function visitedKinds(context: RunContext, chain: Chain): Promise<VisitedKinds> {
  const { settings, client } = context;
  const { clock, owns, owner } = settings;
  const chained = chain.objects.map(({ type }) => type);
  const before = known.get(ownerKey(context));
  // In either direction: a wall clock may jump back.
  const isSwept = before !== undefined && Math.abs(clock.now() - before.sweptAt) < sweepEveryMs;
  const isSweep = owns === undefined && !isSwept;
  const declared = await servedTypes(client, owns ?? (isSweep ? builtInTypes : []));
  const all = byKind([...declared, ...chained, ...(before?.kinds.values() ?? [])]);
  // A namespaced owner has nothing in the cluster's own kinds.
  const { namespace = '' } = owner.metadata;
  const types = [...all.values()].filter((type) => type.namespaced || namespace === '');
  const sweptAt = isSwept ? before.sweptAt : clock.now();
  return {
    types,
    note: (found) =>
      remember(ownerKey(context), { sweptAt, kinds: byKind([...found, ...chained]) }),
  };
}

function byKind(types: readonly Type[]): Map<string, Type> {
  return new Map(types.map((type) => [kindKey(type), type]));
}

function ownerKey({ settings }: RunContext): string {
  const { owner, controllerName, scope = '' } = settings;
  return [owner.metadata.uid, controllerName, scope].join('/');
}

function remember(owner: string, kinds: KnownKinds): void {
  // The one that was not reconciled for the longest time is forgotten first.
  known.delete(owner);
  known.set(owner, kinds);
  const [oldest] = known.keys();
  if (known.size > mostOwners && oldest !== undefined) known.delete(oldest);
}

import xor from 'lodash/xor.js';
import { describeObject } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';
import { OperatorError } from '../system/index.js';
import type { ChainedLink } from './link.js';

/**
 * The last link of a chain, with a reference to the previous one. A chain that continues another chain shares its
 * links.
 */
export interface ChainEnd {
  /** The last link; undefined in an empty chain, and after `rolloutOrder`. */
  readonly link: ChainedLink | undefined;
  readonly before: ChainEnd | undefined;
  /** The ends of chains that continue this one and have not pruned: at most two. */
  readonly pending: Set<ChainEnd>;
  /** Whether a chain that contains this end was planned, or reconciled by one of the methods for a part of it. */
  hasRun: boolean;
  start?: HandlerStart;
}

/** State that all chains of one call of a handler share. */
interface HandlerStart {
  /** The links of the chain that has pruned. No chain with other links may prune in the same call. */
  pruning?: readonly ChainedLink[];
  /** The work of the chains that has not ended. */
  readonly running: Set<Promise<unknown>>;
}

/** Returns `last` and the ends of the chains that it continues, last first. */
export function* endsOf(last: ChainEnd): Generator<ChainEnd> {
  for (let end: ChainEnd | undefined = last; end !== undefined; end = end.before) yield end;
}

/**
 * Returns the end of a dropped chain, which continues a part of the chain `last` and has not pruned; undefined if there
 * is no such chain. A second call does not return the same end again.
 */
export function takeDropped(last: ChainEnd): ChainEnd | undefined {
  let own: ChainEnd | undefined;
  for (const end of endsOf(last)) {
    if (own !== undefined) end.pending.delete(own);
    own = end;
    const [dropped] = end.pending;
    if (dropped === undefined) continue;
    end.pending.clear();
    return dropped;
  }
  return undefined;
}

export function droppedLink(end: ChainEnd): OperatorError {
  const remedy =
    'each method returns a new chain: return or reconcile the last chain, and add optional objects with when()';
  const message = `${nameOfEnd(end)}: added to a chain, but the chain that is reconciled lacks it; ${remedy}`;
  return new OperatorError('InvalidOption', message);
}

/** Names a link that only one of two chains has; undefined if both have the same links. */
export function strayProblem(
  links: readonly ChainedLink[],
  before: readonly ChainedLink[],
): string | undefined {
  if (links === before) return undefined;
  const own = links.map(nameOfLink);
  const [stray] = xor(own, before.map(nameOfLink));
  if (stray === undefined) return undefined;
  return own.includes(stray)
    ? `${stray}: it is not in the chain that was reconciled before`
    : `${stray}: it is only in the chain that was reconciled before`;
}

/** Names a chain that continues `end` and was neither reconciled nor planned; undefined: no such chain. */
export function unusedProblem(end: ChainEnd): string | undefined {
  const unused = unusedAfter(end);
  if (unused === undefined) return undefined;
  return `${nameOfEnd(unused)}: added to a chain, but no chain that contains it was reconciled`;
}

function unusedAfter({ pending }: ChainEnd): ChainEnd | undefined {
  for (const next of pending) {
    const unused = next.hasRun ? unusedAfter(next) : next;
    if (unused !== undefined) return unused;
  }
  return undefined;
}

function nameOfEnd({ link }: ChainEnd): string {
  return link === undefined ? 'rolloutOrder' : nameOfLink(link);
}

function nameOfLink({ json }: ChainedLink): string {
  return describeObject(JSON.parse(json) as KubernetesObject);
}

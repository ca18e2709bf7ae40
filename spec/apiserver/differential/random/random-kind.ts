import type { Arbitrary } from 'fast-check';
import type { Body } from './arbitraries.js';

/** A version of a kind's API, with arbitrary content. */
export interface RandomVersion {
  readonly apiVersion: string;
  /** The object without metadata. */
  readonly fields: Arbitrary<Body>;
  readonly status?: Arbitrary<Body>;
}

/** A kind whose objects are written at random. */
export interface RandomKind {
  readonly kind: string;
  readonly plural: string;
  /** @defaultValue true */
  readonly namespaced?: boolean;
  /** Requests use all of these versions. */
  readonly versions: readonly RandomVersion[];
  readonly hasScale?: boolean;
  /**
   * Leaves out empty lists and maps. For these kinds, the real server distinguishes an empty value from a missing one
   * in the generation and in messages, although its answers contain neither. @defaultValue false
   */
  readonly withoutEmpty?: boolean;
  /** True if the kind has strategic merge patches. */
  readonly strategic: boolean;
}

/** Returns objects with `content` as their spec. */
export const spec = (content: Arbitrary<Body>): Arbitrary<Body> =>
  content.map((value) => ({ spec: value }));

/** A built-in kind with one version. */
export const builtIn = (
  type: Omit<RandomKind, 'versions' | 'strategic'>,
  version: RandomVersion,
): RandomKind => ({ ...type, versions: [version], strategic: true });

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
  /** Writers use all of them. */
  readonly versions: readonly RandomVersion[];
  readonly hasScale?: boolean;
  /**
   * Leaves out empty lists and maps. The real server tells one from none for the generation and the messages of these
   * kinds, and shows neither. @defaultValue false
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

import type { KubernetesObject } from 'operator-builder';
import { release10 } from './release-1.0.js';
import { release11 } from './release-1.1.js';
import { release20 } from './release-2.0.js';
import type { SampleConfig } from './sample-config.js';

/** Inputs from which a release computes its objects. */
export interface Deploying {
  readonly config: SampleConfig;
  /** Namespace of the objects. */
  readonly namespace: string;
}

/** A release of the operator. In production, each would be a separate image. */
export interface Release {
  readonly version: string;
  /** Returns all desired objects, in the order of their creation. */
  objects(deploying: Deploying): readonly KubernetesObject[];
}

/** Every release, the oldest first. */
export const releases: readonly Release[] = [release10, release11, release20];

/** Returns the release of a version. @throws TypeError there is no such release. */
export function releaseOf(version: string): Release {
  const found = releases.find((release) => release.version === version);
  if (found !== undefined) return found;
  const known = releases.map((release) => release.version).join(', ');
  throw new TypeError(`there is no release ${version}: want ${known}`);
}

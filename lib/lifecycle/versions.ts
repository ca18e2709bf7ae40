import compare from 'semver/functions/compare.js';
import parse from 'semver/functions/parse.js';
import type { LifecycleStatus } from './lifecycle-status.js';
import { OperatorError, isOperatorError } from '../system/index.js';

/** Whether two versions are equal: `v1.2.0` equals `1.2.0`, and `1.2` equals `1.2.0`. */
export function isSameVersion(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [parsed(one), parsed(other)];
  return a !== null && b !== null && compare(a, b) === 0 && a.build.join() === b.build.join();
}

/** Whether a system is being upgraded from one version to another. */
export function isUpgrading(status: LifecycleStatus): boolean {
  const { phase = '', observedVersion = '', targetVersion = '' } = status;
  if (observedVersion === '' && phase === 'Deploying') return false;
  return !isSameVersion(observedVersion, targetVersion);
}

/**
 * Whether `target` requires an upgrade from version `current`. Versions that are not semantic require one
 * whenever they differ.
 * @param deploying - whether the first deployment is incomplete. If so, the function returns false.
 * @throws DowngradeError `target` is older.
 */
export function shouldTakeUpdatePath(target: string, current: string, deploying: boolean): boolean {
  if (deploying) return false;
  if (current === '') return true;
  if (isSameVersion(target, current)) return false;
  const [a, b] = [parsed(target), parsed(current)];
  if (a === null || b === null) return true;
  if (compare(a, b) < 0) throw new DowngradeError(target, current);
  return true;
}

/** Accepts a leading `v` and missing minor or patch numbers; returns null for other formats. */
function parsed(version: string): ReturnType<typeof parse> {
  const [, core = '', rest = ''] = /^v?(\d+(?:\.\d+){0,2})([-+].*)?$/.exec(version.trim()) ?? [];
  if (core === '') return null;
  const numbers = core.split('.');
  return parse([...numbers, '0', '0'].slice(0, 3).join('.') + rest);
}

/** A newer operator has deployed the configuration. */
export class DowngradeError extends OperatorError {
  /** The requested version. */
  readonly target: string;
  /** The version that is deployed. */
  readonly current: string;

  constructor(target: string, current: string) {
    super(
      'Downgrade',
      `version ${current} is deployed, and ${target} is older: run the operator of ${current} or a newer one`,
    );
    this.target = target;
    this.current = current;
  }
}

/** Whether `error` is a {@link DowngradeError}. */
export function isDowngrade(error: unknown): error is DowngradeError {
  return isOperatorError(error, 'Downgrade');
}

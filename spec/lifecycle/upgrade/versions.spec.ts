import { expect } from 'chai';
import {
  DowngradeError,
  isDowngrade,
  isSameVersion,
  isUpgrading,
  shouldTakeUpdatePath,
} from '../../../lib/lifecycle/index.js';
import type { LifecycleStatus } from '../../../lib/lifecycle/index.js';

describe('isUpgrading', () => {
  const statuses: [LifecycleStatus, boolean][] = [
    [{}, false],
    [{ phase: 'Deploying', targetVersion: '1' }, false],
    [{ phase: 'Deployed', targetVersion: '1' }, true],
    [{ phase: 'Upgrading', targetVersion: '1.1', observedVersion: '1.0' }, true],
    [{ phase: 'Deploying', targetVersion: '1.1', observedVersion: '1.0' }, true],
    [{ phase: 'Deployed', targetVersion: '1.1', observedVersion: '1.1' }, false],
    [{ phase: 'Deployed', targetVersion: 'v1.1', observedVersion: '1.1' }, false],
    [{ phase: 'Upgrading', targetVersion: 'devel', observedVersion: '1.1' }, true],
  ];
  for (const [status, expected] of statuses) {
    it(`is ${expected} for ${JSON.stringify(status)}`, () => {
      expect(isUpgrading(status)).to.equal(expected);
    });
  }
});

describe('shouldTakeUpdatePath', () => {
  const upgrades = [
    ...[['1.9.5', '1.9.4'] as const, ['v1.9.5', 'v1.9.4'] as const, ['v1.9.5', '1.9.4'] as const],
    ...[
      ['1.10.0', '1.9.9'] as const,
      ['2.0.0', '1.99.99'] as const,
      ['1.0.0', '1.0.0-rc.1'] as const,
    ],
    ...[['v1.9.5', 'devel'] as const, ['devel', 'v1.9.5'] as const, ['1.9.5', ''] as const],
    ...[['latest', ''] as const, ['tip', 'tap'] as const, ['1.0.0+b', '1.0.0+a'] as const],
  ];
  for (const [target, current] of upgrades) {
    it(`is true from "${current}" to "${target}"`, () => {
      expect(shouldTakeUpdatePath(target, current, false)).to.equal(true);
    });
  }

  for (const [target, current] of [
    ...[['1.9.5', '1.9.5'] as const, ['v1.9.5', '1.9.5'] as const, ['1.2', 'v1.2.0'] as const],
    ...[['devel', 'devel'] as const],
  ]) {
    it(`is false from "${current}" to "${target}"`, () => {
      expect(shouldTakeUpdatePath(target, current, false)).to.equal(false);
    });
  }

  for (const [target, current] of [
    ...[['1.9.4', '1.9.5'] as const, ['1.9.4', 'v1.9.5'] as const, ['1.9.9', '1.10.0'] as const],
    ...[['1.0.0-rc.1', '1.0.0'] as const],
  ]) {
    it(`rejects a downgrade from "${current}" to "${target}"`, () => {
      const take = (): boolean => shouldTakeUpdatePath(target, current, false);
      expect(take)
        .to.throw(DowngradeError, /is deployed, and .* is older/)
        .that.satisfies(isDowngrade);
    });
  }

  it('is false while deploying, whatever the versions', () => {
    expect(shouldTakeUpdatePath('1.0.0', '', true)).to.equal(false);
    expect(shouldTakeUpdatePath('1.0.0', '2.0.0', true)).to.equal(false);
  });
});

describe('isSameVersion', () => {
  it('ignores a leading v and missing numbers, and compares other strings exactly', () => {
    expect(isSameVersion('v1', '1.0.0')).to.equal(true);
    expect(isSameVersion('1.0.0-a', '1.0.0-b')).to.equal(false);
    expect(isSameVersion('vdevel', 'devel')).to.equal(false);
    expect(isSameVersion('', '0.0.0')).to.equal(false);
  });
});

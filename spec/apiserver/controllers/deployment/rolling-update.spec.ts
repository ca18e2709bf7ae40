import { expect } from 'chai';
import fc from 'fast-check';
import { rollingUpdateSteps } from '../../../../lib/apiserver/controllers/deployment-scaling.js';
import type {
  ReplicaSetSize,
  RollingUpdate,
} from '../../../../lib/apiserver/controllers/deployment-scaling.js';

/** A ReplicaSet, written as `replicas/available`. */
function size(name: string, text: string): ReplicaSetSize {
  const [replicas = 0, available = 0] = text.split('/').map(Number);
  return { name, replicas, available };
}

interface Case {
  readonly when: string;
  readonly desired: number;
  readonly surge: number;
  readonly unavailable: number;
  readonly current: string;
  readonly old: readonly string[];
  readonly steps: readonly string[];
}

const cases: readonly Case[] = [
  {
    when: 'the rollout is complete',
    desired: 3,
    surge: 1,
    unavailable: 0,
    current: '3/3',
    old: [],
    steps: [],
  },
  {
    when: 'the new ReplicaSet can grow by maxSurge',
    desired: 3,
    surge: 1,
    unavailable: 0,
    current: '0/0',
    old: ['3/3'],
    steps: ['new=1'],
  },
  {
    when: 'the new pod is not available yet',
    desired: 3,
    surge: 1,
    unavailable: 0,
    current: '1/0',
    old: ['3/3'],
    steps: [],
  },
  {
    when: 'the new pod is available',
    desired: 3,
    surge: 1,
    unavailable: 0,
    current: '1/1',
    old: ['3/3'],
    steps: ['old0=2'],
  },
  {
    when: 'pods may be unavailable',
    desired: 4,
    surge: 0,
    unavailable: 2,
    current: '0/0',
    old: ['4/4'],
    steps: ['old0=2'],
  },
  {
    when: 'there is room after a scale down',
    desired: 4,
    surge: 0,
    unavailable: 2,
    current: '0/0',
    old: ['2/2'],
    steps: ['new=2'],
  },
  {
    when: 'old pods are broken and removed first',
    desired: 4,
    surge: 0,
    unavailable: 1,
    current: '0/0',
    old: ['2/2', '2/0'],
    steps: ['old1=1'],
  },
  {
    when: 'broken pods belong to the oldest ReplicaSet',
    desired: 4,
    surge: 1,
    unavailable: 1,
    current: '1/0',
    old: ['2/0', '2/2'],
    steps: ['old0=1'],
  },
  {
    when: 'the oldest ReplicaSet shrinks first',
    desired: 4,
    surge: 2,
    unavailable: 0,
    current: '2/2',
    old: ['1/1', '3/3'],
    steps: ['old0=0', 'old1=2'],
  },
  {
    when: 'the new ReplicaSet is too large',
    desired: 2,
    surge: 1,
    unavailable: 0,
    current: '5/5',
    old: [],
    steps: ['new=2'],
  },
  {
    when: 'the new ReplicaSet is stuck',
    desired: 4,
    surge: 1,
    unavailable: 1,
    current: '2/0',
    old: ['3/3'],
    steps: [],
  },
];

describe('rollingUpdateSteps', () => {
  for (const { when, desired, surge, unavailable, current, old, steps } of cases) {
    it(`returns ${steps.join(' ') || 'no steps'} when ${when}`, () => {
      const update: RollingUpdate = {
        desired,
        maxSurge: surge,
        maxUnavailable: unavailable,
        current: size('new', current),
        old: old.map((text, index) => size(`old${index}`, text)),
      };
      const said = rollingUpdateSteps(update).map(({ name, replicas }) => `${name}=${replicas}`);
      expect(said).to.deep.equal(steps);
    });
  }

  it('ends with only the new ReplicaSet, within the limits at every step', () => {
    const numbers = fc.record({
      desired: fc.integer({ min: 1, max: 12 }),
      maxSurge: fc.nat(4),
      maxUnavailable: fc.nat(4),
      old: fc.array(fc.nat(6), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(numbers, ({ desired, maxSurge, maxUnavailable, old }) => {
        const limits = {
          maxSurge,
          maxUnavailable: maxSurge + maxUnavailable === 0 ? 1 : Math.min(maxUnavailable, desired),
        };
        rollOut(desired, limits, old);
      }),
    );
  });
});

/** Simulates a rollout in which each pod becomes available after the step that created it. */
function rollOut(
  desired: number,
  limits: { readonly maxSurge: number; readonly maxUnavailable: number },
  old: readonly number[],
): void {
  let current: ReplicaSetSize = { name: 'new', replicas: 0, available: 0 };
  let others = old.map((count, n) => ({ name: `old${n}`, replicas: count, available: count }));
  const before = old.reduce((sum, count) => sum + count, 0);
  for (let round = 0; ; round++) {
    expect(round, 'rounds').to.be.below(200);
    const steps = rollingUpdateSteps({ desired, ...limits, current, old: others });
    if (steps.length === 0) break;
    const apply = (set: ReplicaSetSize): ReplicaSetSize => {
      const step = steps.find(({ name }) => name === set.name);
      const replicas = step?.replicas ?? set.replicas;
      return { ...set, replicas, available: Math.min(set.available, replicas) };
    };
    current = apply(current);
    others = others.map(apply);
    const all = [current, ...others];
    const total = all.reduce((sum, { replicas }) => sum + replicas, 0);
    const available = all.reduce((sum, set) => sum + set.available, 0);
    expect(total).to.be.at.most(Math.max(before, desired + limits.maxSurge));
    expect(available).to.be.at.least(Math.min(before, desired - limits.maxUnavailable));
    current = { ...current, available: current.replicas };
  }
  expect(current.replicas).to.equal(desired);
  expect(others.map(({ replicas }) => replicas).every((replicas) => replicas === 0)).to.equal(true);
}

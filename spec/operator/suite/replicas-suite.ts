import { expect } from 'chai';
import { requeueAfter } from '../../../lib/controller/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { findCondition } from '../../../lib/object/conditions.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { silentLogger } from '../../../lib/system/logger.js';
import type { Logger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { Stage, Tenant } from './stage.js';

const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 200 };
// With 24 names, all in the shard of one process is unlikely: 1 in 8 million.
const names = Array.from({ length: 24 }, (_, n) => `tenant-${n}`);

/** Specs about several processes of one operator, on the embedded and the real server. */
export function operatorReplicasSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stages: readonly [Stage, Stage];

  before(async () => {
    target = await newTarget();
  });

  beforeEach(async () => {
    const first = await Stage.open(target);
    stages = [first, await Stage.after(first)];
  });

  afterEach(async () => {
    await stop(...stages);
  });

  after(() => target.close());

  /** Calls `target.eventually` and advances a virtual clock, so that Leases are renewed. */
  const eventually = <T>(check: () => Promise<T>): Promise<T> =>
    target.eventually(async () => {
      const { clock } = target;
      if (clock instanceof VirtualClock) await clock.advance(times.retryPeriodMs);
      return check();
    });

  /** Stops processes and advances a virtual clock until they have released their Leases. */
  async function stop(...running: readonly Stage[]): Promise<void> {
    const ended = Promise.all(running.map((stage) => stage.stop()));
    const { clock } = target;
    if (clock instanceof VirtualClock) await Promise.all([ended, clock.advance(5_000)]);
    await ended;
  }

  const start = (stage: Stage): void =>
    stage.start({ shards: { namespace: stage.namespace, ...times } });

  /** Changes every tenant and returns, for each tenant, the processes that reconciled it. */
  async function touched(seen: readonly string[][], round: string): Promise<readonly number[][]> {
    for (const each of seen) each.splice(0);
    const [stage] = stages;
    for (const name of names) {
      await stage.change(name, { metadata: { annotations: { round } } });
    }
    const by = (name: string): number[] =>
      [0, 1].filter((n) => seen[n]?.includes(`${name} ${round}`));
    await eventually(async () => {
      expect(names.filter((name) => by(name).length === 0)).to.deep.equal([]);
      return Promise.resolve();
    });
    return names.map(by);
  }

  it('several processes of one operator reconcile each object in exactly one process, which writes the status once', async () => {
    const seen: [string[], string[]] = [[], []];
    stages.forEach(({ operator }, n) => {
      operator
        .for(Tenant)
        .owns(ConfigMap)
        .runsOn('shards')
        .builds(({ object, builder }) => {
          const { name = '', annotations = {} } = object.metadata;
          seen[n]?.push(`${name} ${annotations['round'] ?? ''}`);
          return builder.configMap({ name, data: object.spec.env });
        });
    });
    for (const stage of stages) start(stage);
    const [stage] = stages;
    for (const name of names) await stage.create(name);
    let round = 0;
    await eventually(async () => {
      const counts = await touched(seen, `${++round}`);
      expect(counts.every((processes) => processes.length === 1)).to.equal(true);
      expect(new Set(counts.flat()).size).to.equal(2);
    });
    for (const name of names) await stage.condition(name, 'Ready', 'True');
    for (const each of stages) await each.requests();
    for (const name of names) await stage.change(name, { spec: { env: { A: '1' } } });
    for (const name of names) await stage.condition(name, 'Ready', 'True');
    const writes = (await Promise.all(stages.map((each) => each.writes()))).flat();
    const of = (resource: string): number => writes.filter((each) => each === resource).length;
    expect({ tenants: of('tenants'), configmaps: of('configmaps') }).to.deep.equal({
      tenants: names.length,
      configmaps: names.length,
    });
  });

  it('when a process of an operator stops, another process completes the deletion of its objects', async () => {
    const cleaning: string[] = [];
    let isClean = false;
    stages.forEach(({ operator }, n) => {
      operator
        .for(Tenant)
        .runsOn('shards')
        .reconciles(() => undefined)
        .finalizes(({ object }) => {
          cleaning.push(`${n} ${object.metadata.name}`);
          return isClean ? undefined : requeueAfter(300, 'waits for the backups');
        });
    });
    for (const stage of stages) start(stage);
    const [first, second] = stages;
    for (const name of names) await first.create(name);
    await eventually(async () => {
      for (const name of names) {
        const { status } = await first.get(name);
        expect(findCondition(status?.conditions, 'Ready')?.status).to.equal('True');
      }
    });
    for (const name of names) await target.admin.delete(Tenant, first.key(name));
    await eventually(() => {
      expect(new Set(cleaning.map((each) => each.slice(2))).size).to.equal(names.length);
      return Promise.resolve();
    });
    await stop(first);
    cleaning.splice(0);
    isClean = true;
    await eventually(async () => {
      for (const name of names) {
        const error: unknown = await second.get(name).catch((thrown: unknown) => thrown);
        expect(isNotFound(error), name).to.equal(true);
      }
    });
    expect(cleaning.filter((each) => each.startsWith('0'))).to.deep.equal([]);
  });

  it('two operators for the same kind leave the condition Ready to the one that wrote it first, and warn once', async () => {
    const [first] = stages;
    const second = await Stage.after(first, 'licence-operator');
    const warnings: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      warn: (message) => void warnings.push(message),
      child: () => logger,
    };
    try {
      first.operator.for(Tenant).reconciles(() => undefined);
      first.start();
      await first.create('acme');
      await first.create('other');
      await first.condition('acme', 'Ready', 'True');
      await first.condition('other', 'Ready', 'True');
      second.operator.for(Tenant).reconciles(() => {
        throw new Error('no licence');
      });
      second.start({ logger });
      await eventually(() => {
        expect(warnings.filter((each) => each.startsWith('condition Ready of'))).to.have.length(1);
        return Promise.resolve();
      });
      expect(warnings.join('\n')).to.contain(
        'the field manager tenant-operator also applies it, and owns it now; give for(…) the option status: false, or set a condition of another type',
      );
      await first.condition('acme', 'Ready', 'True');
      await first.condition('other', 'Ready', 'True');
      // The conflict about the other object must be over, too.
      let round = 0;
      await eventually(async () => {
        await Promise.all([first.requests(), second.requests()]);
        const annotations = { round: `${++round}` };
        await second.reconciledAfter(() =>
          first.reconciledAfter(() => first.change('acme', { metadata: { annotations } })),
        );
        expect([await first.writes(), await second.writes()]).to.deep.equal([[], []]);
      });
      expect((await first.condition('acme', 'Ready', 'True')).reason).to.equal('Reconciled');
    } finally {
      await stop(second);
    }
  });

  it('an operator takes over the condition Ready from a differently named operator that has stopped', async () => {
    const [first] = stages;
    const second = await Stage.after(first, 'renamed-operator');
    try {
      first.operator.for(Tenant).reconciles(() => undefined);
      first.start();
      await first.create('acme');
      await first.condition('acme', 'Ready', 'True');
      await stop(first);
      let isBroken = true;
      second.operator.for(Tenant).reconciles(() => {
        if (isBroken) throw new Error('no licence');
        return undefined;
      });
      second.start();
      await second.condition('acme', 'Ready', 'False');
      isBroken = false;
      await second.change('acme', { metadata: { annotations: { touched: 'yes' } } });
      await second.condition('acme', 'Ready', 'True');
    } finally {
      await stop(second);
    }
  });

  it('a single process reconciles every object if no Lease namespace is configured', async () => {
    const [stage] = stages;
    stage.operator
      .for(Tenant)
      .runsOn('shards')
      .reconciles(() => undefined);
    stage.start();
    await stage.create('acme');
    await stage.condition('acme', 'Ready', 'True');
    expect((await stage.writes()).filter((resource) => resource === 'leases')).to.deep.equal([]);
  });
}

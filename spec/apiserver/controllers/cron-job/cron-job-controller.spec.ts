import { expect } from 'chai';
import { CronJob, Job } from '../../../../lib/object/kinds.js';
import { simulatedCluster, stopSimulatedClusters } from '../simulated-cluster.js';
import { cronJob, ownedBy } from '../workload-objects.js';

const minuteMs = 60_000;
/** The name of the Job due this many minutes after the start of the clock. */
const jobNamed = (minutes: number): string =>
  `c-${Math.floor(Date.UTC(2026, 0, 1) / minuteMs) + minutes}`;

describe('a CronJob in the embedded cluster', () => {
  afterEach(stopSimulatedClusters);

  it('creates a Job each time it is due', async () => {
    const { create, names, get, clock } = await simulatedCluster();
    await create(cronJob('c', '*/10 * * * *'));
    expect(await names(Job)).to.deep.equal([]);
    await clock.advance(21 * minuteMs);
    expect(await names(Job)).to.deep.equal([jobNamed(10), jobNamed(20)]);
    const { status } = await get(CronJob, 'c');
    expect(status).to.deep.include({ lastScheduleTime: '2026-01-01T00:20:00Z' });
    expect(status).to.have.property('lastSuccessfulTime');
    expect(status).not.to.have.property('active');
    const made = await get(Job, jobNamed(10));
    const owner = ownedBy(await get(CronJob, 'c'), { controller: true, blockOwnerDeletion: true });
    expect(made.metadata.ownerReferences).to.deep.equal([owner]);
    expect(made.metadata.annotations).to.include({
      'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T00:10:00Z',
    });
  });

  it('creates Jobs for each schedule that the server accepts, unless the schedule never occurs', async () => {
    const { create, list, clock } = await simulatedCluster();
    const timeZone = 'Europe/Berlin';
    await create(
      cronJob('hyphen', '*-5 * * * *'),
      cronJob('hyphens', '*-1-2 * * * *'),
      cronJob('empty', ', * * * *', { timeZone }),
      cronJob('february', '0 0 30 2 *', { timeZone }),
    );
    await clock.advance(minuteMs + 1_000);
    const jobs = await list(Job);
    const owners = jobs.map(({ metadata }) => metadata.ownerReferences?.[0]?.name);
    expect(owners).to.have.members(['hyphen', 'hyphens']);
  });

  it('keeps finished Jobs up to its history limits', async () => {
    const { create, names, clock } = await simulatedCluster();
    await create(cronJob('c', '* * * * *', { successfulJobsHistoryLimit: 2 }));
    await clock.advance(5 * minuteMs + 1_000);
    expect(await names(Job)).to.deep.equal([jobNamed(4), jobNamed(5)]);
  });

  it('keeps lastSuccessfulTime after the Job that succeeded is deleted', async () => {
    const { create, get, clock, ...cluster } = await simulatedCluster();
    await create(cronJob('c', '*/10 * * * *'));
    await clock.advance(11 * minuteMs);
    const time = (await get(CronJob, 'c')).status!.lastSuccessfulTime;
    expect(time).to.equal((await get(Job, jobNamed(10))).status!.completionTime);
    await cluster.delete(Job, jobNamed(10));
    expect((await get(CronJob, 'c')).status).to.deep.equal({
      ...{ lastScheduleTime: '2026-01-01T00:10:00Z', lastSuccessfulTime: time },
    });
  });

  const running = { behavior: () => 'ready' as const };

  it('does not treat a Job without its owner reference as its own, even if the Job has the next generated name', async () => {
    const { create, get, clock } = await simulatedCluster({ pods: running });
    await create(cronJob('c', '* * * * *'));
    const { spec } = (await get(CronJob, 'c')).spec!.jobTemplate;
    const metadata = { name: jobNamed(1), namespace: 'default' };
    const job: Job = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: spec! };
    await create(job);
    await clock.advance(minuteMs + 1_000);
    expect((await get(CronJob, 'c')).status ?? {}).not.to.have.any.keys(
      'active',
      'lastScheduleTime',
    );
    expect((await get(Job, jobNamed(1))).metadata).not.to.have.property('ownerReferences');
  });

  it('runs Jobs concurrently with the policy Allow', async () => {
    const { create, names, clock, get } = await simulatedCluster({ pods: running });
    await create(cronJob('c', '* * * * *'));
    await clock.advance(2 * minuteMs + 1_000);
    expect(await names(Job)).to.deep.equal([jobNamed(1), jobNamed(2)]);
    const active = (await get(CronJob, 'c')).status!.active!;
    expect(active.map(({ name }) => name)).to.deep.equal([jobNamed(1), jobNamed(2)]);
  });

  it('starts no Job while one runs with the policy Forbid', async () => {
    const { create, names, clock, ...cluster } = await simulatedCluster({ pods: running });
    await create(cronJob('c', '* * * * *', { concurrencyPolicy: 'Forbid' }));
    await clock.advance(3 * minuteMs + 1_000);
    expect(await names(Job)).to.deep.equal([jobNamed(1)]);
    await cluster.delete(Job, jobNamed(1));
    expect(await names(Job)).to.deep.equal([jobNamed(3)]);
  });

  it('replaces a running Job with the policy Replace', async () => {
    const { create, names, clock } = await simulatedCluster({ pods: running });
    await create(cronJob('c', '* * * * *', { concurrencyPolicy: 'Replace' }));
    await clock.advance(2 * minuteMs + 1_000);
    expect(await names(Job)).to.deep.equal([jobNamed(2)]);
  });

  for (const [concurrencyPolicy, due] of [
    ['Forbid', [jobNamed(1)]],
    ['Replace', [jobNamed(2)]],
  ] as const) {
    it(`ignores a Job that a user created from its template with ${concurrencyPolicy}`, async () => {
      const { create, names, get, clock } = await simulatedCluster({ pods: running });
      await create(cronJob('c', '* * * * *', { concurrencyPolicy }));
      const live = await get(CronJob, 'c');
      const { spec } = live.spec!.jobTemplate;
      const ownerReferences = [ownedBy(live, { controller: true })];
      const metadata = { name: 'by-hand', namespace: 'default', ownerReferences };
      await create({ apiVersion: 'batch/v1', kind: 'Job', metadata, spec: spec! } as Job);
      await clock.advance(2 * minuteMs + 1_000);
      expect(await names(Job)).to.deep.equal(['by-hand', ...due]);
      const { active = [] } = (await get(CronJob, 'c')).status!;
      expect(active.map(({ name }) => name)).to.deep.equal(due);
    });
  }

  it('starts no Job while suspended, and afterwards a Job only for the newest of the missed times', async () => {
    const { create, names, clock, patch } = await simulatedCluster();
    await create(cronJob('c', '*/10 * * * *', { suspend: true }));
    await clock.advance(35 * minuteMs);
    expect(await names(Job)).to.deep.equal([]);
    await patch(CronJob, 'c', { spec: { suspend: false } });
    expect(await names(Job)).to.deep.equal([jobNamed(30)]);
  });

  it('starts no Job later than startingDeadlineSeconds', async () => {
    const { create, names, clock, patch } = await simulatedCluster();
    await create(cronJob('c', '*/10 * * * *', { suspend: true, startingDeadlineSeconds: 60 }));
    await clock.advance(35 * minuteMs);
    await patch(CronJob, 'c', { spec: { suspend: false } });
    expect(await names(Job)).to.deep.equal([]);
  });
});

import { expect, use } from 'chai';
import { Job, findCondition, getIfExists } from '../../lib/index.js';
import type { Builder, Client } from '../../lib/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import type { ObjectOf } from '../../lib/crd/index.js';
import { Operator } from '../../lib/operator/index.js';
import { operatorAssertions, startOperator, testCluster } from '../../lib/testing/index.js';

use(operatorAssertions);

const spec = s.object({ retries: s.integer(), ttl: s.optional(s.integer()) });
const status = s.status({ run: s.optional(s.string()) });
const Backup = defineResource({
  group: 'example.com',
  kind: 'Backup',
  versions: [{ name: 'v1', schema: s.object({ spec }), status }],
});
type Backup = ObjectOf<typeof Backup>;

const key = { name: 'nightly', namespace: 'default' };
const podSpec = { containers: [{ name: 'dump', image: 'dump:1' }] };

function chainOf<B extends Builder>(builder: B, { spec: { retries, ttl } }: Backup): Builder {
  const jobSpec = { backoffLimit: retries, ttlSecondsAfterFinished: ttl };
  return (builder as Builder).job({ name: 'nightly', spec: jobSpec, podSpec });
}

function backups(): Operator {
  const operator = new Operator('backup-operator');
  operator
    .for(Backup)
    .owns(Job)
    .reconciles(async ({ object, builder, status: draft }) => {
      const [result] = await chainOf(builder, object).reconcile();
      draft.set({ run: result?.run?.state });
    });
  return operator;
}

describe('An operator with a Job', () => {
  const cluster = testCluster({ crds: [Backup] });

  const start = async () => {
    const running = await startOperator(cluster(), backups());
    const client = cluster().client();
    const becomes = (run: string): Promise<Backup> =>
      running.eventually(
        async () => {
          const backup = await client.get(Backup, key);
          expect(backup.status?.run).to.equal(run);
          return backup;
        },
        { timeoutMs: 600_000 },
      );
    return { running, client, becomes };
  };

  const createBackup = (client: Client, wanted: Backup['spec']): Promise<Backup> =>
    client.create(Backup.object({ metadata: key, spec: wanted }));

  it('is Degraded, with the message of the Job, after the Job has failed', async () => {
    const { running, client, becomes } = await start();
    cluster().pods.add({ behavior: 'fail' });
    await createBackup(client, { retries: 1 });
    expect(await becomes('running')).to.have.condition('Ready', 'True');
    const failed = await becomes('failed');
    const message =
      'Job default/nightly: Job has reached the specified backoff limit (BackoffLimitExceeded)';
    for (const [type, is] of [
      ['Ready', 'False'],
      ['Progressing', 'False'],
      ['Degraded', 'True'],
    ] as const) {
      expect(failed).to.have.condition(type, is, 'JobFailed');
      const condition = failed.status?.conditions?.find((each) => each.type === type);
      expect(condition?.message).to.equal(message);
    }
    await running.stop();
  });

  it('stays Degraded while Kubernetes deletes the failed Job, and after that', async () => {
    const { running, client, becomes } = await start();
    cluster().pods.add({ behavior: 'fail' });
    await createBackup(client, { retries: 0, ttl: 60 });
    await becomes('failed');
    const finalizers = ['example.com/hold'];
    await client.patch(Job, key, { type: 'merge', body: { metadata: { finalizers } } });
    const becomesOver = (isThere: boolean): Promise<void> =>
      running.eventually(
        async () => {
          const job = await getIfExists(client, Job, key);
          expect(job?.metadata.deletionTimestamp !== undefined).to.equal(isThere);
          const backup = await client.get(Backup, key);
          expect(backup).to.have.condition('Degraded', 'True', 'JobFailed');
          const ready = findCondition(backup.status?.conditions, 'Ready');
          expect(ready?.message).to.match(
            /it has failed, and its ttlSecondsAfterFinished is over$/,
          );
          expect(backup.status?.run).to.equal('failed');
        },
        { timeoutMs: 600_000 },
      );
    await becomesOver(true);
    await client.patch(Job, key, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await becomesOver(false);
    await running.stop();
  });

  for (const [behavior, state] of [
    ['fail', 'failed'],
    ['succeed', 'succeeded'],
  ] as const) {
    it(`still reports that a Job has ${state} after Kubernetes has deleted it, even in a new process`, async () => {
      const { running, client, becomes } = await start();
      cluster().pods.add({ behavior });
      // The writes of the status fail, so only the annotation of the owner records the end of the Job.
      const refused = cluster().faults.add({
        match: { verb: 'patch', resource: 'backups', subresource: 'status' },
        effect: { type: 'status', code: 503 },
      });
      await createBackup(client, { retries: 0, ttl: 0 });
      await running.eventually(
        async () => {
          const { annotations = {} } = (await client.get(Backup, key)).metadata;
          expect(Object.keys(annotations).join()).to.match(/^operator-builder.io\/ran-/);
          expect(await getIfExists(client, Job, key)).to.equal(undefined);
        },
        { timeoutMs: 600_000 },
      );
      await running.stop();
      refused.remove();

      const again = await startOperator(cluster(), backups());
      const backup = await becomes(state);
      expect(backup).to.have.condition('Ready', state === 'failed' ? 'False' : 'True');
      expect(await getIfExists(client, Job, key)).to.equal(undefined);
      await again.stop();
    });
  }
});

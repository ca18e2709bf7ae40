import { expect } from 'chai';
import type { Builder, BuilderOptions } from '../../../lib/builder/index.js';
import { faulty } from '../../../lib/client/index.js';
import type { Fault, FaultRule } from '../../../lib/client/index.js';
import { ConfigMap, Job } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec, summary, withCache } from './scene.js';
import type { Scene } from './scene.js';

const owns = [ConfigMap, Job];
const prefix = 'operator-builder.io/ran-';

interface Wish {
  readonly ttl?: number | undefined;
  readonly limit?: number;
}

/** Returns a chain with a Job that completes as soon as it is created. */
function chainOf(
  scene: Scene,
  { ttl = 0, limit = 6 }: Wish = {},
  options: Partial<BuilderOptions> = {},
): Builder {
  const spec = { completions: 0, backoffLimit: limit, ttlSecondsAfterFinished: ttl };
  return scene.builder({ owns, ...options }).job({ name: 'migrate', podSpec, spec });
}

/**
 * Reads the owner, as a controller does before each reconcile, and returns its records of finished
 * Jobs.
 */
async function readOwner(scene: Scene): Promise<Readonly<Record<string, string>>> {
  scene.owner = await scene.get(ConfigMap, 'shop');
  const { annotations = {} } = scene.owner.metadata;
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith(prefix)));
}

/** Reconciles until the Job is gone and returns the operations on the way. */
async function untilGone(scene: Scene, chain: () => Builder): Promise<string[]> {
  const operations: string[] = [];
  await scene.target.eventually(async () => {
    await readOwner(scene);
    const [result] = await chain().reconcile();
    operations.push(result?.operation ?? '');
    expect(result?.reason).to.match(/^it has run/);
  });
  return operations;
}

const stopped: Fault = { type: 'reset' };
const forbidden: Fault = { type: 'error', status: 403, reason: 'Forbidden' };

const isFinished = ({ status }: Job): boolean =>
  (status?.conditions ?? []).some(({ type }) => type === 'Complete');

async function finished(scene: Scene): Promise<Job> {
  return scene.target.eventually(async () => {
    const job = await scene.get(Job, 'migrate');
    expect(isFinished(job)).to.equal(true);
    return job;
  });
}

/** Specs about Jobs with `ttlSecondsAfterFinished`, which Kubernetes deletes while they are still in the chain. */
export function jobsSuite(open: OpenScene): void {
  it('the builder runs a Job once, and sends no request after the Job is gone', async () => {
    const scene = await open();
    const operations = await untilGone(scene, () => chainOf(scene));
    expect(operations.filter((operation) => operation === 'created')).to.have.length(1);
    await readOwner(scene);
    const cached = await withCache(scene.operator.client, owns);
    await scene.operator.requests();
    const again = await chainOf(scene, {}, { client: cached.client }).reconcile();
    const requests = await scene.operator.requests();
    await cached.stop();
    expect(summary(again)).to.deep.equal(['unchanged Job/migrate']);
    expect(requests.filter(({ verb }) => verb !== 'watch')).to.deep.equal([]);
    const message = 'it has run, and its ttlSecondsAfterFinished is over';
    expect(again.map(({ run }) => run)).to.deep.equal([{ state: 'succeeded', message }]);
  });

  it('the builder does not create a second Job if the owner was read before the first Job finished', async () => {
    const scene = await open();
    const before = scene.owner;
    await untilGone(scene, () => chainOf(scene));
    const cached = await withCache(scene.operator.client, [Job]);
    const options = { client: cached.client, owner: before };
    const results = await chainOf(scene, {}, options).reconcile();
    await cached.stop();
    expect(summary(results)).to.deep.equal(['unchanged Job/migrate']);
  });

  it('the builder sets ttlSecondsAfterFinished only after the Job has finished, and then sends no more writes', async () => {
    const scene = await open();
    await chainOf(scene, { ttl: 3600 }).reconcile();
    const running = await finished(scene);
    expect(running.spec?.ttlSecondsAfterFinished).to.equal(undefined);
    const plan = await chainOf(scene, { ttl: 3600 }).plan();
    expect(plan.objects.map(({ action }) => action)).to.deep.equal(['configure']);
    expect(await readOwner(scene)).to.deep.equal({});
    await chainOf(scene, { ttl: 3600 }).reconcile();
    const done = await scene.get(Job, 'migrate');
    expect(done.spec?.ttlSecondsAfterFinished).to.equal(3600);
    expect(done.metadata.uid).to.equal(running.metadata.uid);
    expect(Object.values(await readOwner(scene))).to.match(/^migrate [0-9a-f]{64}$/);
    await scene.writes();
    expect(summary(await chainOf(scene, { ttl: 3600 }).reconcile())).to.deep.equal([
      'unchanged Job/migrate',
    ]);
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('the builder runs a Job again when its spec changes, but not when only ttlSecondsAfterFinished changes', async () => {
    const scene = await open();
    await untilGone(scene, () => chainOf(scene));
    const other = await chainOf(scene, { ttl: 7 }).reconcile();
    expect(summary(other)).to.deep.equal(['unchanged Job/migrate']);
    const operations = await untilGone(scene, () => chainOf(scene, { limit: 3 }));
    expect(operations.filter((operation) => operation === 'created')).to.have.length(1);
    expect(Object.keys(await readOwner(scene))).to.have.length(1);
  });

  const points: readonly [string, FaultRule][] = [
    ['before recording its end', { fault: stopped, verbs: ['patch'], kinds: ['ConfigMap'] }],
    ['after recording its end', { fault: stopped, verbs: ['apply'], kinds: ['Job'] }],
    ['while recording its end', { fault: stopped, verbs: ['patch'], when: 'after' }],
    ['while setting ttlSecondsAfterFinished', { fault: stopped, verbs: ['apply'], when: 'after' }],
  ];
  for (const [when, rule] of points) {
    it(`the builder runs a Job once if the operator stopped ${when}`, async () => {
      const scene = await open();
      await chainOf(scene).reconcile();
      await finished(scene);
      const client = faulty(scene.operator.client, { rules: [rule] });
      await chainOf(scene, {}, { client })
        .reconcile()
        .catch(() => undefined);
      expect(client.injected).to.have.length(1);
      const operations = await untilGone(scene, () => chainOf(scene));
      expect(operations).to.not.include('created');
    });
  }

  it('the builder sets ttlSecondsAfterFinished in the next reconcile if the write failed after the end of the Job was recorded', async () => {
    const scene = await open();
    const chain = (options: Partial<BuilderOptions> = {}): Builder =>
      chainOf(scene, { ttl: 600 }, options);
    await chain().reconcile();
    await finished(scene);
    const rules: FaultRule[] = [{ fault: stopped, verbs: ['apply'], kinds: ['Job'] }];
    const client = faulty(scene.operator.client, { rules });
    await chain({ client })
      .reconcile()
      .catch(() => undefined);
    expect(Object.keys(await readOwner(scene))).to.have.length(1);
    expect((await scene.get(Job, 'migrate')).spec?.ttlSecondsAfterFinished).to.equal(undefined);
    expect(summary(await chain().reconcile())).to.deep.equal(['configured Job/migrate']);
    expect((await scene.get(Job, 'migrate')).spec?.ttlSecondsAfterFinished).to.equal(600);
    expect(summary(await chain().reconcile())).to.deep.equal(['unchanged Job/migrate']);
  });

  it('the builder keeps a Job and warns if RBAC forbids the operator to patch the owner', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    await finished(scene);
    const rules: FaultRule[] = [{ fault: forbidden, verbs: ['patch'], kinds: ['ConfigMap'] }];
    const client = faulty(scene.operator.client, { rules });
    const results = await chainOf(scene, {}, { client }).reconcile();
    expect(summary(results)).to.deep.equal(['unchanged Job/migrate']);
    const warning = scene.events.find(({ reason }) => reason === 'RunNotRecorded');
    expect(warning?.note).to.match(
      /^Job .*migrate: applied without .*; give the operator the verb patch/,
    );
  });

  it('the builder deletes the annotation on the owner about a finished Job that is no longer chained', async () => {
    const scene = await open();
    await untilGone(scene, () => chainOf(scene));
    expect(Object.keys(await readOwner(scene))).to.have.length(1);
    await scene.builder({ owns, scope: 'other' }).reconcile();
    expect(Object.keys(await readOwner(scene))).to.have.length(1);
    await scene.builder({ owns }).reconcile();
    expect(await readOwner(scene)).to.deep.equal({});
  });

  it('the builder plans nothing for a finished Job', async () => {
    const scene = await open();
    await untilGone(scene, () => chainOf(scene));
    const plan = await chainOf(scene).plan();
    expect(plan.objects.map(({ action, reason }) => `${action}: ${reason ?? ''}`)).to.deep.equal([
      'unchanged: it has run, and its ttlSecondsAfterFinished is over',
    ]);
    expect(plan.changed).to.equal(false);
  });
}

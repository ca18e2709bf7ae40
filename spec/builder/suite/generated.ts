import { expect } from 'chai';
import type { Builder, BuilderOptions } from '../../../lib/builder/index.js';
import { faulty } from '../../../lib/client/index.js';
import type { Client, FaultRule } from '../../../lib/client/index.js';
import { Secret, StatefulSet } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';
import { podSpec, summary, usedKinds, withCache } from './scene.js';
import type { Scene } from './scene.js';

/** Returns a function that makes another value at each call, and the values that it made. */
function newMaker(prefix = 'made'): { readonly make: () => string; readonly made: string[] } {
  const made: string[] = [];
  const make = (): string => {
    made.push(`${prefix}-${made.length + 1}`);
    return made.at(-1) ?? '';
  };
  return { make, made };
}

/** Specs about values that a Secret keeps once they exist. */
export function generatedSuite(open: OpenScene): void {
  let scene: Scene;
  beforeEach(async () => {
    scene = await open();
  });

  type Generated = Readonly<Record<string, () => string>>;
  const chainOf = (generated: Generated, options: Partial<BuilderOptions> = {}): Builder =>
    scene.builder(options).secret({ name: 'database', stringData: { user: 'shop' }, generated });

  async function values(): Promise<Record<string, string>> {
    const { data = {} } = await scene.get(Secret, 'database');
    const plain = Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]);
    return Object.fromEntries(plain) as Record<string, string>;
  }

  it('generated values are made once, and kept without a write in later reconciles', async () => {
    const { make, made } = newMaker();
    const chain = (): Builder => chainOf({ password: make });
    expect(summary(await chain().reconcile())).to.deep.equal(['created Secret/database']);
    await scene.writes();
    for (let n = 0; n < 3; n++) {
      expect(summary(await chain().reconcile())).to.deep.equal(['unchanged Secret/database']);
    }
    expect(await scene.writes()).to.deep.equal([]);
    expect(await values()).to.deep.equal({ user: 'shop', password: 'made-1' });
    expect(made).to.deep.equal(['made-1']);
  });

  it('generated values are made for a key that is added, and removed with their key', async () => {
    const [password, token] = [newMaker('password').make, newMaker('token').make];
    await chainOf({ password }).reconcile();
    await chainOf({ password, token }).reconcile();
    expect(await values()).to.deep.equal({
      ...{ user: 'shop', password: 'password-1', token: 'token-1' },
    });
    await chainOf({ token }).reconcile();
    expect(await values()).to.deep.equal({ user: 'shop', token: 'token-1' });
  });

  it('generated values are kept if another client has set them', async () => {
    const { make } = newMaker();
    await chainOf({ password: make }).reconcile();
    await scene.edit(Secret, 'database', {
      body: { data: { password: Buffer.from('mine').toString('base64') } },
    });
    await chainOf({ password: make }).reconcile();
    expect((await values())['password']).to.equal('mine');
  });

  it('generated values are kept although the cache does not show the Secret yet', async () => {
    const { make, made } = newMaker();
    await chainOf({ password: make }).reconcile();
    const live = scene.operator.client;
    const client = { ...missingAtFirst(live, 1), live };
    await chainOf({ password: make }, { client }).reconcile();
    expect(await values()).to.include({ password: 'made-1' });
    expect(made).to.deep.equal(['made-1']);
  });

  it('generated values are kept if another process generates them at the same time', async () => {
    const { make } = newMaker();
    await chainOf({ password: make }).reconcile();
    // Neither the read before the values are made nor the read before the apply shows the Secret.
    const client = missingAtFirst(scene.operator.client, 2);
    const results = await chainOf({ password: make }, { client }).reconcile();
    expect(summary(results)).to.deep.equal(['pending Secret/database']);
    expect(results[0]?.reason).to.include('generated values from another process');
    expect(await values()).to.include({ password: 'made-1' });
  });

  it('generated values are kept although a policy of the builder recreates other objects', async () => {
    const { make, made } = newMaker();
    const chain = (keys: readonly string[], own?: 'recreate'): Builder =>
      scene.builder({ onImmutable: 'recreate' }).secret({
        ...{ name: 'database', immutable: true, onImmutable: own },
        generated: Object.fromEntries(keys.map((key) => [key, make])),
      });
    await chain(['password']).reconcile();
    const { uid } = (await scene.get(Secret, 'database')).metadata;
    const [error] = await errorsOf(chain(['password', 'token']));
    expect(error?.code).to.equal('ImmutableField');
    expect((await scene.get(Secret, 'database')).metadata.uid).to.equal(uid);
    await chain(['password', 'token'], 'recreate').reconcile();
    expect(await values()).to.deep.equal({ password: 'made-1', token: made.at(-1) });
  });

  it('generated values cause no request and no call of their function if the cache shows no change', async () => {
    const { make, made } = newMaker();
    const { client, stop } = await withCache(scene.operator.client, usedKinds);
    try {
      const chain = (): Builder => chainOf({ password: make }, { client });
      await scene.target.eventually(async () => {
        await chain().reconcile();
        await scene.operator.requests();
        await chain().reconcile();
        expect(await scene.operator.requests()).to.deep.equal([]);
      });
      expect(made).to.have.length(1);
    } finally {
      await stop();
    }
  });

  it('generated values cause a rollout of the pods that use them only when they change', async () => {
    const { make } = newMaker();
    const chain = (): Builder =>
      chainOf({ password: make }).statefulSet({
        ...{ name: 'server', replicas: 0 },
        podSpec: ({ envFromSecret }) => ({
          containers: podSpec.containers.map((one) => ({
            ...one,
            envFrom: [envFromSecret('database')],
          })),
        }),
      });
    await scene.reconcileUntilDone(chain);
    const template = async () => (await scene.get(StatefulSet, 'server')).spec?.template;
    const before = await template();
    await scene.reconcileUntilDone(chain);
    expect(await template()).to.deep.equal(before);
    await scene.admin.delete(Secret, { namespace: scene.namespace, name: 'database' });
    await scene.reconcileUntilDone(chain);
    expect(await values()).to.include({ password: 'made-2' });
    expect(await template()).not.to.deep.equal(before);
  });

  it('generated values are not shown by a plan', async () => {
    const plan = await chainOf({ password: newMaker('hidden').make }).plan();
    expect(plan.objects.map(({ action }) => action)).to.deep.equal(['create']);
    const shown = JSON.stringify(plan);
    expect(shown).not.to.include('hidden-1');
    expect(shown).not.to.include(Buffer.from('hidden-1').toString('base64'));
    expect(await scene.find(Secret, 'database')).to.equal(undefined);
  });

  it('generated values cause only their Secret to fail if a function does not return a string', async () => {
    const wrong = (() => 1) as unknown as () => string;
    const chain = chainOf({ password: wrong }).configMap({ name: 'env', data: { level: 'info' } });
    await expectError(
      chain.reconcile(),
      /generated\.password: want a function that returns a string/,
    );
    expect(await scene.find(Secret, 'database')).to.equal(undefined);
  });

  it('generated values cause their Secret to fail if a function returns an empty string', async () => {
    await expectError(
      chainOf({ password: () => '' }).reconcile(),
      /generated\.password: .* an empty one/,
    );
    expect(await scene.find(Secret, 'database')).to.equal(undefined);
  });

  it('generated values cause no change of the pods that use the Secret if a function does not return a string', async () => {
    const { make } = newMaker();
    const wrong = (() => undefined) as unknown as () => string;
    const chain = (generated: Generated): Builder =>
      chainOf(generated).statefulSet({
        ...{ name: 'server', replicas: 0 },
        podSpec: ({ envFromSecret }) => ({
          containers: podSpec.containers.map((one) => ({
            ...one,
            envFrom: [envFromSecret('database')],
          })),
        }),
      });
    await scene.reconcileUntilDone(() => chain({ password: make }));
    const { generation } = (await scene.get(StatefulSet, 'server')).metadata;
    const broken = (): Builder => chain({ password: make, token: wrong });
    const { objects, rollouts } = await broken().plan();
    expect(rollouts).to.deep.equal([]);
    expect(objects.map(({ error }) => error?.code)).to.deep.equal([
      'InvalidValue',
      'DependencyFailed',
    ]);
    await expectError(broken().reconcile(), /generated\.token/);
    await expectError(broken().reconcileDeployOrSts(), /it needs Secret/);
    expect((await scene.get(StatefulSet, 'server')).metadata.generation).to.equal(generation);
  });

  it('generated values are refused for a key that also has a fixed value, and if no function makes them', () => {
    expect(() => chainOf({ user: () => 'x' })).to.throw(
      'generated.user: stringData has the same key',
    );
    const text = 'x' as unknown as () => string;
    expect(() => chainOf({ password: text })).to.throw('generated.password: want a function');
    expect(() => chainOf(null as unknown as Generated)).to.throw(
      'generated: want an object with a function for each key',
    );
  });
}

async function expectError(work: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
  expect(error?.message).to.match(message);
}

/** Returns a client whose first `reads` reads of a Secret find none, like a cache that is behind the server. */
function missingAtFirst(client: Client, reads: number): Client {
  const rules = Array.from({ length: reads }, (_, nth) => ({
    ...{ verbs: ['get'], kinds: [Secret.kind], calls: nth + 1 },
    fault: { type: 'error', status: 404, reason: 'NotFound' },
  })) as readonly FaultRule[];
  return faulty(client, { rules });
}

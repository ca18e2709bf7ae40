import { expect } from 'chai';
import { configMap, deployment, nowhere } from './system.js';
import type { OpenStage, Seen, Stage } from './stage.js';

/** "Deletion before and during an upgrade: Deleted, versions unchanged, never healthy". */
export function deletingSuite(open: OpenStage): void {
  const beginnings: Record<string, (stage: Stage) => Promise<void>> = {
    'a deployed system': async () => undefined,
    'an upgrade that is under way': async (stage) => {
      const pods = { image: 'nginx:2', pod: nowhere };
      stage.resources = () => [deployment(stage.namespace, pods)];
      await stage.pass('1.1.0');
    },
  };
  for (const [name, begin] of Object.entries(beginnings)) {
    it(`takes away ${name}: Deleting, Deleted, gone; versions unchanged, never healthy`, async () => {
      const stage = await open();
      await stage.deploy('1.0.0');
      await begin(stage);
      // Somebody else's finalizer: it can be looked at when it is over.
      const { metadata } = await stage.config();
      const held = [...(metadata.finalizers ?? []), 'example.com/held'];
      await stage.edit({ metadata: { finalizers: held } });
      const { versions } = await stage.pass('1.1.0');
      await stage.delete();
      const passes = await passesUntil(stage, ({ phase }) => phase === 'Deleted');
      expect(new Set(passes.map(({ phase }) => phase))).to.deep.equal(
        new Set(['Deleting', 'Deleted']),
      );
      for (const pass of passes) {
        expect(pass.versions).to.equal(versions);
        expect(pass.conditions).to.match(/^F\//);
      }
      expect(passes[0]?.conditions).to.equal('F/T/F DeletionStarted');
      expect(passes.at(-1)?.conditions).to.equal('F/F/F');
      expect((await stage.config()).metadata.finalizers).to.deep.equal(['example.com/held']);
      await stage.edit({ metadata: { finalizers: null } });
      expect(await stage.exists()).to.equal(false);
    });
  }

  it('deletes the last first, each when the one before is gone, and tells of each once', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.touch('Service', 'web', { metadata: { finalizers: ['example.com/held'] } });
    await stage.delete();
    expect((await stage.pass('1.0.0')).events).to.deep.equal(['DeleteResourceSuccess Service web']);
    expect((await stage.pass('1.0.0')).events).to.deep.equal([]);
    expect(await stage.isGone('Deployment', 'web')).to.equal(false);
    await stage.touch('Service', 'web', { metadata: { finalizers: null } });
    const passes = await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(passes.flatMap(({ events }) => events)).to.deep.equal([
      'DeleteResourceSuccess Deployment web',
      'DeleteResourceSuccess ServiceAccount web',
    ]);
  });

  it('deletes what an earlier version has made, too, and nothing of others', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'old'), configMap(namespace)];
    await stage.deploy('1.0.0');
    stage.resources = () => [configMap(namespace), configMap(namespace, 'of-somebody')];
    await stage.admin.create(configMap(namespace, 'of-somebody'));
    await stage.delete();
    const passes = await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(passes.flatMap(({ events }) => events)).to.deep.equal([
      'DeleteResourceSuccess ConfigMap old',
      'DeleteResourceSuccess ConfigMap settings',
    ]);
    expect(await stage.isGone('ConfigMap', 'of-somebody')).to.equal(false);
  });

  it('calls OPERATOR_DELETE for each desired object once, before anything is deleted', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const calls: string[] = [];
    stage.dispatcher.addCallback(null, async ({ state, desired, current }) => {
      const left = await stage.isGone('Service', 'web');
      calls.push(`${state} ${desired?.kind} ${current?.metadata.uid === undefined} ${left}`);
    });
    await stage.delete();
    await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(calls).to.deep.equal(
      ['ServiceAccount', 'Deployment', 'Service'].map(
        (kind) => `OPERATOR_DELETE ${kind} false false`,
      ),
    );
  });

  it('waits where a callback fails, says so, and goes on when it does not any more', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const calls: string[] = [];
    let isBroken = true;
    const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };
    stage.dispatcher.addCallback(kind, () => {
      if (isBroken) throw new Error('volumes are in use');
    });
    stage.dispatcher.addCallback(null, ({ desired }) => void calls.push(desired?.kind ?? ''));
    await stage.delete();
    for (let pass = 0; pass < 2; pass++) {
      expect(await stage.pass('1.0.0')).to.deep.equal({
        ...{ phase: 'Deleting', versions: '1.0.0 1.0.0 1.0.0' },
        conditions: 'F/T/T DeletionBlocked',
        events: ['DeleteResourceFailed Deployment web'],
        error: 'volumes are in use',
      });
    }
    expect(await stage.isGone('Service', 'web')).to.equal(false);
    expect(calls).to.deep.equal(['ServiceAccount', 'Service', 'ServiceAccount', 'Service']);
    isBroken = false;
    await passesUntil(stage, ({ phase }) => phase === undefined);
  });

  it('waits where the objects can not be told, and calls all callbacks when they can', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const calls: string[] = [];
    stage.dispatcher.addCallback(null, ({ desired }) => void calls.push(desired?.kind ?? ''));
    const { resources } = stage;
    stage.resources = () => {
      throw new Error('no such flavour');
    };
    await stage.delete();
    expect(await stage.pass('1.0.0')).to.include({ conditions: 'F/T/T DeletionBlocked' });
    stage.resources = resources;
    await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(calls).to.have.length(3);
  });

  it('takes away what it owns though what is desired makes no sense any more', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const states = new Set<string>();
    stage.dispatcher.addCallback(null, ({ state }) => void states.add(state));
    const metadata = { name: 'x' };
    stage.resources = () => [
      ...[null, { kind: 'Secret' }, { apiVersion: 'v1', kind: 'Secret', metadata }],
      { apiVersion: 'none.example.com/v1', kind: 'None', metadata },
    ];
    await stage.delete();
    const passes = await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(passes.flatMap(({ error }) => error ?? [])).to.deep.equal([]);
    expect(await stage.isGone('Deployment', 'web')).to.equal(true);
    expect([...states]).to.deep.equal(['OPERATOR_DELETE']);
  });

  it('leaves a configuration alone that has not its finalizer, and one that it never began with', async () => {
    const stage = await open({ config: { metadata: { finalizers: ['example.com/held'] } } });
    await stage.delete();
    await stage.operator.requests();
    expect(await stage.pass('1.0.0')).to.include({ phase: undefined });
    expect(await stage.writes()).to.deep.equal([]);
    await stage.edit({ metadata: { finalizers: null } });
  });

  it('gives back a finalizer that was removed by hand', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.edit({ metadata: { finalizers: null } });
    await stage.pass('1.0.0');
    expect((await stage.config()).metadata.finalizers).to.have.length(1);
  });

  it('is an older operator’s to do as well', async () => {
    const stage = await open();
    await stage.deploy('1.1.0');
    await stage.delete();
    await passesUntil(stage, ({ phase }) => phase === undefined, '1.0.0');
    expect(await stage.isGone('Deployment', 'web')).to.equal(true);
  });
}

async function passesUntil(
  stage: Stage,
  isOver: (seen: Seen) => boolean,
  version = '1.1.0',
): Promise<readonly Seen[]> {
  const passes: Seen[] = [];
  await stage.target.eventually(async () => {
    const seen = await stage.pass(version);
    passes.push(seen);
    if (!isOver(seen)) throw new Error(`${seen.phase ?? ''} ${seen.error ?? ''}`);
  });
  return passes;
}

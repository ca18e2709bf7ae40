import { expect } from 'chai';
import type { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import { ControllerScene, configMap, sameName, view } from './controller-scene.js';

/** A controller that writes a view Copy for each view Wanted. */
const copies = {
  ...{ name: 'copies', sources: [{ kind: 'Wanted' }], target: { kind: 'Copy' } },
  pipeline: { '@project': { metadata: { ...sameName, name: '$.called' } } },
};

describe('the log of a declarative controller', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  const lines = (text: string): readonly string[] =>
    scene.base.lines
      .filter(({ message }) => message.includes(text))
      .map(({ level, message }) => `${level} ${message}`);

  it('names once a kind of the target that the server does not serve, however often it is looked up', async () => {
    scene = await ControllerScene.start();
    const target = { apiGroup: 'nope.example.com', kind: 'Nope' };
    const controller = scene.controller({ ...copies, target });
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.base.clock.advance(300_000);
    const [line, ...more] = lines('Nope');
    expect(line).to.match(/^warn controller op\/copies: kinds: Nope .*: kind not served/);
    expect(more).to.deep.equal([]);
    await controller.stop();
  });

  it('names each source object whose result has no name, and names it again only after a change', async () => {
    scene = await ControllerScene.start();
    const periodic = {
      ...{ apiGroup: 'source.dcontroller.io', kind: 'Periodic' },
      parameters: { period: '30s' },
    };
    const names = ['a-0', 'a-1'];
    for (const name of ['a', ...names]) await scene.put(view('Wanted', name, { n: 1 }));
    // Results that may vary are evaluated again in each period.
    const stamped = { '@project': { metadata: { name: '$.called' }, at: '@now' } };
    const sources = [...copies.sources, periodic];
    await scene.run({ ...copies, sources, pipeline: stamped });
    await scene.base.clock.advance(300_000);
    const [line, ...more] = lines('default/a');
    expect(line).to.match(
      /^error controller op\/copies: target \(target\) of default\/a: target: metadata.name of the result: want a string/,
    );
    expect(more).to.have.length(names.length);
    await scene.put(view('Wanted', 'a', { called: 'x/y' }));
    await scene.settled();
    const after = lines('default/a').slice(1 + names.length);
    expect(after).to.have.length(1);
    expect(after[0]).to.contain('of default/a: ').and.contain('want a path segment');
  });

  it('names an error that occurs again after it has ended', async () => {
    scene = await ControllerScene.start();
    await scene.run(copies);
    for (const called of [1, 'b', 1]) {
      await scene.put(view('Wanted', 'a', { called }));
      await scene.settled();
      await scene.base.clock.advance(10_000);
    }
    expect(lines('default/a')).to.have.length(2);
  });

  it('has at most three errors in two seconds', async () => {
    scene = await ControllerScene.start();
    for (let n = 0; n < 12; n++) await scene.put(view('Wanted', `a-${n}`, { n }));
    await scene.run(copies);
    expect(scene.errors).to.have.length(12);
    expect(lines('default/a')).to.have.length(3);
  });

  it('names a namespace of a source that the manager does not watch', async () => {
    scene = await ControllerScene.start({ cacheOptions: { namespaces: ['default'] } });
    const sources = [{ apiGroup: '', version: 'v1', kind: 'Secret', namespace: 'other' }];
    const controller = scene.controller({ ...copies, sources });
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.eventually(() => expect(scene.errors).to.have.length(1));
    const [line, ...more] = lines('other');
    expect(line).to.contain('warn controller op/copies: source Secret: ');
    expect(more).to.deep.equal([]);
  });

  it('names an object whose writes repeatedly end in conflicts', async () => {
    scene = await ControllerScene.start();
    const target = { apiGroup: '', version: 'v1', kind: 'ConfigMap' };
    await scene.run({ ...copies, target });
    scene.base.cluster.faults.add({
      match: { verb: 'patch', resource: 'configmaps', user: 'operator' },
      effect: { type: 'status', code: 409, reason: 'Conflict', message: 'a webhook says no' },
    });
    await scene.put(view('Wanted', 'a', { called: 'b' }));
    await scene.base.clock.advance(600_000);
    const found = lines('a webhook says no');
    expect(found[0]).to.contain('warn controller op/copies: target of default/b: ');
    expect(found).to.have.length(scene.errors.length);
  });

  it('names an object of another controller once, however often the other controller writes it', async () => {
    scene = await ControllerScene.start();
    const target = { apiGroup: '', version: 'v1', kind: 'ConfigMap' };
    await scene.put(configMap('theirs'));
    const type = { apiVersion: 'v1', kind: 'ConfigMap' };
    const { uid = '' } = (await scene.client.get(type, { namespace: 'default', name: 'theirs' }))
      .metadata;
    const owner = { ...type, name: 'theirs', uid, controller: true };
    const { metadata, ...foreign } = configMap('b');
    await scene.put({ ...foreign, metadata: { ...metadata, ownerReferences: [owner] } });
    await scene.run({ ...copies, target });
    await scene.put(view('Wanted', 'a', { called: 'b' }));
    await scene.eventually(() => expect(scene.errors).to.have.length(1));
    const { requests } = scene.base.cluster;
    const reads = (): number =>
      requests.count(
        ({ verb, resource, name }) => verb === 'get' && resource === 'configmaps' && name === 'b',
      );
    const before = reads();
    for (let n = 0; n < 20; n++) {
      await scene.base.cluster
        .client()
        .patch(
          type,
          { namespace: 'default', name: 'b' },
          { type: 'merge', body: { data: { n: String(n) } } },
        );
      await scene.settled();
    }
    expect(lines('its controller is ConfigMap theirs')).to.have.length(1);
    expect(scene.errors).to.have.length(1);
    expect(reads()).to.equal(before);
  });

  it('names once an object whose namespace is missing, which is written soon after the namespace exists', async () => {
    scene = await ControllerScene.start();
    const target = { apiGroup: '', version: 'v1', kind: 'ConfigMap' };
    const metadata = { name: '$.metadata.name', namespace: 'later' };
    const spec = { ...copies, target, pipeline: { '@project': { metadata } } };
    const [controller] = (await scene.run(spec)) as [DeclarativeController];
    await scene.put(view('Wanted', 'a'));
    await scene.base.clock.advance(600_000);
    expect(lines('"later" not found')).to.have.length(1);
    expect(lines('"later" not found')[0]).to.contain(
      'error controller op/copies: target of later/a: ',
    );
    expect(lines('reconcile failed')).to.deep.equal([]);
    expect(scene.errors).to.have.length(1);
    expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
    await scene.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } });
    await scene.base.clock.advance(60_000);
    await scene.settled();
    const written = await scene.get(
      { apiVersion: 'v1', kind: 'ConfigMap' },
      { namespace: 'later', name: 'a' },
    );
    expect(written?.metadata.name).to.equal('a');
    expect(scene.ready(controller)).to.equal('True Ready');
  });

  it('names at most three objects whose namespace is missing in two seconds', async () => {
    scene = await ControllerScene.start();
    const target = { apiGroup: '', version: 'v1', kind: 'ConfigMap' };
    const metadata = { name: '$.metadata.name', namespace: 'later' };
    for (let n = 0; n < 12; n++) await scene.put(view('Wanted', `a-${n}`));
    const controller = scene.controller({
      ...copies,
      target,
      pipeline: { '@project': { metadata } },
    });
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.eventually(() => expect(scene.errors).to.have.length(12));
    expect(lines('"later" not found')).to.have.length(3);
  });

  it('has one line for each attempt of a failed write', async () => {
    scene = await ControllerScene.start();
    const target = { apiGroup: '', version: 'v1', kind: 'ConfigMap', type: 'Patcher' };
    await scene.run({ ...copies, target });
    await scene.put(view('Wanted', 'a', { called: 'b' }));
    await scene.eventually(() => expect(scene.errors).to.have.length(1));
    expect(lines('reconcile failed')).to.have.length(1);
    expect(lines('op/copies: target')).to.deep.equal([]);
    await scene.put(configMap('b'));
    await scene.base.clock.advance(60_000);
  });
});

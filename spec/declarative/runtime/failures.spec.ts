import { expect } from 'chai';
import type { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import { ControllerScene, configMap, sameName, view, views } from './controller-scene.js';

const Copies = { apiVersion: views, kind: 'Copy' };
const ConfigMaps = { apiVersion: 'v1', kind: 'ConfigMap' };
const Secrets = { apiVersion: 'v1', kind: 'Secret' };

/** A controller that writes a ConfigMap for each view Wanted. */
const wanted = {
  ...{ name: 'wanted', sources: [{ kind: 'Wanted' }] },
  pipeline: [{ '@project': { metadata: sameName, data: '$.data' } }],
  target: { apiGroup: '', version: 'v1', kind: 'ConfigMap' },
};

/** A controller that writes a view Copy for each view Wanted, with a sum. */
const sums = {
  ...{ name: 'sums', sources: [{ kind: 'Wanted' }] },
  pipeline: [{ '@project': { metadata: sameName, sum: { '@add': ['$.n', 1] } } }],
  target: { kind: 'Copy' },
};

/** Makes every write of a ConfigMap by the operator fail until removed. */
function writesFail({ base }: ControllerScene): { remove(): void } {
  const faults = (['create', 'update', 'patch'] as const).map((verb) =>
    base.cluster.faults.add({
      match: { verb, resource: 'configmaps', user: 'operator' },
      effect: { type: 'status', code: 500, reason: 'InternalError', message: 'no' },
    }),
  );
  return {
    remove: () => {
      for (const fault of faults) fault.remove();
    },
  };
}

describe('failures of declarative controllers', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  it('name every kind of sources and targets that the server does not serve', async () => {
    scene = await ControllerScene.start();
    const typo = { apiGroup: '', kind: 'Namespac' };
    const controller = scene.controller({
      ...{ name: 'typos', sources: [typo, { ...typo, as: 'Other' }] },
      ...{ pipeline: [{ '@join': true }], target: { apiGroup: '', kind: 'ConfigMapp' } },
    });
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.eventually(() => expect(scene.errors).to.have.length(1));
    const hint = 'kind not served (install its CustomResourceDefinition or check the spelling)';
    expect(controller.reportErrors().map(({ message }) => message)).to.deep.equal([
      `op/typos: kinds: Namespac of the core group: ${hint}; ConfigMapp of the core group: ${hint}`,
    ]);
    await controller.stop();
  });

  describe('a failing write', () => {
    it('is retried, and changes that occur meanwhile are written too', async () => {
      scene = await ControllerScene.start();
      const [controller] = (await scene.run(wanted)) as [DeclarativeController];
      const fault = writesFail(scene);
      await scene.put(view('Wanted', 'a', { data: { x: '1' } }));
      await scene.eventually(() => expect(scene.errors).to.have.length(1));
      await scene.put(view('Wanted', 'a', { data: { x: '2' } }));
      await scene.put(view('Wanted', 'b', { data: { x: '1' } }));
      await scene.base.clock.advance(100);
      expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
      const [first] = controller.reportErrors();
      expect(first).to.include({ stage: 'target', subject: 'default/a', operator: 'op' });
      expect(first?.message).to.match(/^op\/wanted: target of default\/a: /);
      fault.remove();
      await scene.base.clock.advance(60_000);
      await scene.settled();
      const all = await scene.all(ConfigMaps);
      expect([all['a']?.['data'], all['b']?.['data']]).to.deep.equal([{ x: '2' }, { x: '1' }]);
      expect(scene.ready(controller)).to.equal('True Ready');
      expect(controller.status().lastErrors.length).to.be.above(0);
    });

    it('is retried after a conflict, and not reported as an error', async () => {
      scene = await ControllerScene.start();
      await scene.run(wanted);
      const conflicts = (['create', 'update', 'patch'] as const).map((verb) =>
        scene.base.cluster.faults.add({
          match: { verb, resource: 'configmaps', user: 'operator' },
          effect: { type: 'status', code: 409, reason: 'Conflict', message: 'changed' },
          times: 2,
        }),
      );
      await scene.put(view('Wanted', 'a', { data: { x: '1' } }));
      await scene.base.clock.advance(1_000);
      expect(conflicts.some(({ struck }) => struck > 0)).to.equal(true);
      expect(await scene.names(ConfigMaps)).to.include('a');
      expect(scene.errors).to.deep.equal([]);
    });

    it('is reported if it repeatedly ends in conflicts', async () => {
      scene = await ControllerScene.start();
      const [controller] = (await scene.run(wanted)) as [DeclarativeController];
      const fault = scene.base.cluster.faults.add({
        match: { verb: 'patch', resource: 'configmaps', user: 'operator' },
        effect: { type: 'status', code: 409, reason: 'Conflict', message: 'a webhook says no' },
      });
      await scene.put(view('Wanted', 'a', { data: { x: '1' } }));
      await scene.base.clock.advance(60_000);
      expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
      expect(controller.reportErrors()[0]?.message).to.include('a webhook says no');
      fault.remove();
      await scene.base.clock.advance(1_000_000);
      await scene.settled();
      expect(scene.ready(controller)).to.equal('True Ready');
    });

    it('does not count its document twice when it is retried, so that one delete of the document deletes the object', async () => {
      scene = await ControllerScene.start();
      await scene.run(wanted);
      const { clock } = scene.base;
      const fault = writesFail(scene);
      await scene.put(view('Wanted', 'a', { data: { x: '1' } }));
      await clock.advance(1_000);
      fault.remove();
      await clock.advance(10_000);
      expect(await scene.names(ConfigMaps)).to.include('a');
      await scene.delete(view('Wanted', 'a'));
      await scene.settled();
      expect(await scene.names(ConfigMaps)).to.not.include('a');
    });

    it('is not retried if its source object is deleted meanwhile', async () => {
      scene = await ControllerScene.start();
      await scene.run(wanted);
      const { clock } = scene.base;
      const fault = writesFail(scene);
      await scene.put(view('Wanted', 'a', { data: { x: '1' } }));
      await clock.advance(1_000);
      await scene.delete(view('Wanted', 'a'));
      fault.remove();
      await clock.advance(10_000);
      expect(await scene.names(ConfigMaps)).to.not.include('a');
    });
  });

  describe('a source object that the cache has quarantined', () => {
    const periodic = {
      ...{ apiGroup: 'source.dcontroller.io', kind: 'Periodic' },
      parameters: { period: '30s' },
    };
    const copies = {
      ...{ name: 'copies', target: { kind: 'Copy' } },
      sources: [{ apiGroup: '', version: 'v1', kind: 'ConfigMap' }, periodic],
      pipeline: { '@project': { metadata: sameName, data: '$.data' } },
    };

    it('keeps its last valid state in the results, and does not affect other objects', async () => {
      scene = await ControllerScene.start();
      await scene.put(configMap('a', { x: '1' }));
      await scene.run(copies);
      scene.manager.cache.informer(ConfigMaps).addIndexer('bad', ({ metadata }) => {
        if (metadata.labels?.['bad'] === 'yes') throw new Error('bad');
        return [];
      });
      const good = configMap('a', { x: '2' });
      await scene.put({ ...good, metadata: { ...good.metadata, labels: { bad: 'yes' } } });
      await scene.base.clock.advance(31_000);
      await scene.put(configMap('b', { x: '3' }));
      await scene.base.clock.advance(31_000);
      await scene.settled();
      const some = await scene.all(Copies);
      expect([some['a']?.['data'], some['b']?.['data']]).to.deep.equal([{ x: '1' }, { x: '3' }]);
      await scene.put(good);
      await scene.base.clock.advance(1_000);
      await scene.settled();
      expect(await scene.all(Copies)).to.have.nested.property('a.data.x', '2');
    });
  });

  describe('a source object that is invalid at the start', () => {
    const copies = {
      ...{ name: 'copies', sources: [{ apiGroup: '', version: 'v1', kind: 'ConfigMap' }] },
      pipeline: [
        { '@select': { '@eq': ['$.data.copy', 'yes'] } },
        { '@project': { metadata: sameName, stringData: { x: '$.data.x' } } },
      ],
      target: { apiGroup: '', version: 'v1', kind: 'Secret' },
    };
    const source = (name: string, labels: Record<string, string> = {}) => {
      const { metadata, ...rest } = configMap(name, { x: name, copy: 'yes' });
      return { ...rest, metadata: { ...metadata, labels } };
    };

    it('delays the deletion of objects of earlier processes until it is valid', async () => {
      scene = await ControllerScene.start();
      for (const name of ['a', 'b', 'c']) await scene.put(source(name));
      const [first] = (await scene.run(copies)) as [DeclarativeController];
      expect(await scene.names(Secrets)).to.deep.equal(['a', 'b', 'c']);
      await first.stop();
      await scene.delete(source('b'));
      await scene.put(source('a', { bad: 'yes' }));
      const informer = scene.manager.cache.informer(ConfigMaps);
      informer.addIndexer('bad', ({ metadata }) => {
        if (metadata.labels?.['bad'] === 'yes') throw new Error('bad');
        return [];
      });
      const second = scene.controller(copies);
      await second.start();
      await scene.base.clock.advance(31_000);
      expect(await scene.names(Secrets)).to.deep.equal(['a', 'b', 'c']);
      expect(scene.errors.map(({ message }) => message).join('\n')).to.match(
        /Secret default\/b: not removed, it may still be desired because of ConfigMap default\/a, which is quarantined/,
      );
      // The process deletes an object that it has written itself.
      await scene.delete(source('c'));
      await scene.base.clock.advance(1_000);
      expect(await scene.names(Secrets)).to.deep.equal(['a', 'b']);
      await scene.put(source('a'));
      await scene.base.clock.advance(120_000);
      expect(await scene.names(Secrets)).to.deep.equal(['a']);
      informer.release();
    });
  });

  describe('a data error in an expression', () => {
    it('is reported with its path and value, and drops only the document for which it occurs', async () => {
      scene = await ControllerScene.start();
      await scene.put(view('Wanted', 'bad', { n: 'seven' }));
      await scene.put(view('Wanted', 'good', { n: 7 }));
      const [controller] = (await scene.run(sums)) as [DeclarativeController];
      expect(await scene.all(Copies)).to.have.nested.property('good.sum', 8);
      expect(await scene.names(Copies)).to.deep.equal(['good']);
      const [error] = scene.errors;
      expect(error).to.include({ controller: 'sums', stage: '@project', subject: 'default/bad' });
      expect(error?.message).to.contain(
        'op/sums: @project (pipeline[0]["@project"]) of default/bad',
      );
      expect(error?.message).to.contain('"seven"');
      expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
      await scene.put(view('Wanted', 'bad', { n: 1 }));
      await scene.settled();
      expect(scene.ready(controller)).to.equal('True Ready');
      expect(await scene.names(Copies)).to.deep.equal(['bad', 'good']);
    });

    it('is reported for a result without a name, or with a name that an API server refuses', async () => {
      scene = await ControllerScene.start();
      const metadata = { name: '$.called', namespace: 'default' };
      const [controller] = await scene.run({ ...sums, pipeline: [{ '@project': { metadata } }] });
      await scene.put(view('Wanted', 'a', {}));
      await scene.put(view('Wanted', 'b', { called: 'x/y' }));
      await scene.put(view('Wanted', 'c', { called: '(full reconcile)%' }));
      // The result for `d` equals that of the first view.
      await scene.put(view('Wanted', 'd', {}));
      await scene.settled();
      const messages = scene.errors.map(({ message }) => message);
      const problems = [
        ...['metadata.name of the result: want a string', 'metadata.name: want a path segment'],
        ...['metadata.name: want a path segment', 'metadata.name of the result: want a string'],
      ];
      expect(messages).to.have.length(4);
      for (const [n, name] of ['a', 'b', 'c', 'd'].entries()) {
        expect(messages[n]).to.contain(`op/sums: target (target) of default/${name}: `);
        expect(messages[n]).to.contain(problems[n]);
      }
      await scene.delete(view('Wanted', 'a'));
      await scene.settled();
      expect(controller?.status().conditions[0]?.message).to.contain('of default/b: ');
      expect(controller?.status().conditions[0]?.message).to.contain('(and 2 more)');
    });

    it('is reported for the source object, even if an earlier stage left out the name of the object', async () => {
      scene = await ControllerScene.start();
      const nameless = { '@project': { n: '$.n' } };
      await scene.run({ ...sums, pipeline: [nameless, ...sums.pipeline] });
      await scene.put(view('Wanted', 'a', { n: 'seven' }));
      await scene.settled();
      expect(scene.errors[0]).to.include({ stage: '@project', subject: 'default/a' });
    });

    it('is reported as the first of thousands of names that several documents have, and the number of the other names', async () => {
      scene = await ControllerScene.start();
      const both = Array.from({ length: 2_000 }, (_, n) => ({ name: `n-${n >> 1}`, n }));
      await scene.put(view('Wanted', 'a', { both }));
      const named = { name: '$.both.name', namespace: 'default' };
      const pipeline = [
        { '@unwind': '$.both' },
        { '@project': { metadata: named, n: '$.both.n' } },
      ];
      const [controller] = await scene.run({ ...sums, pipeline });
      expect(await scene.names(Copies)).to.have.length(1_000);
      expect(controller?.status().conditions[0]?.message).to.contain('(and 999 more)');
    });

    it("does not quote data of Secrets, or the server's answer about Secrets", async () => {
      scene = await ControllerScene.start();
      const data = { n: Buffer.from('hush').toString('base64') };
      const metadata = { name: 's', namespace: 'default' };
      await scene.put({ apiVersion: 'v1', kind: 'Secret', metadata, data });
      const sources = [{ apiGroup: '', version: 'v1', kind: 'Secret', namespace: 'default' }];
      const target = { apiGroup: '', version: 'v1', kind: 'ConfigMap' };
      const added = { metadata: sameName, n: { '@add': ['$.data.n', 1] } };
      const first = scene.controller({
        name: 'one',
        sources,
        target,
        pipeline: [{ '@project': added }],
      });
      // The value of this label is invalid.
      const labels = { value: { '@concat': ['$.data.n', ' !'] } };
      const labelled = { metadata: { ...sameName, labels } };
      const second = scene.controller({
        name: 'two',
        sources,
        target,
        pipeline: [{ '@project': labelled }],
      });
      await Promise.all([first.start(), second.start()]);
      await scene.base.run(scene.manager);
      await scene.eventually(() => {
        const stages = scene.errors.map(({ stage }) => stage);
        expect(stages).to.include('@project').and.include('target');
      });
      const told = JSON.stringify([
        scene.errors,
        first.status(),
        second.status(),
        scene.base.lines,
      ]);
      expect(told).to.not.contain('hush');
      expect(scene.errors.map(({ error }) => String(error)).join()).to.not.contain('hush');
      expect(told).to.contain('metadata.labels');
    });
  });

  describe('the Ready condition in a status', () => {
    it('is False with the path of an invalid specification, and the controller does not run', async () => {
      scene = await ControllerScene.start();
      const spec = { ...sums, pipeline: [{ '@project': { n: { '@concatt': [1, 2] } } }] };
      const controller = scene.controller(spec, { specPath: ['controllers', 3] });
      expect(controller.problems[0]?.path.slice(0, 4)).to.deep.equal([
        'controllers',
        3,
        'pipeline',
        0,
      ]);
      expect(controller.problems[0]?.suggestion).to.equal('@concat');
      await controller.start();
      await scene.base.run(scene.manager);
      expect(scene.ready(controller)).to.equal('False NotReady');
      expect(controller.status().conditions[0]?.message).to.contain('controllers[3].pipeline[0]');
      expect(scene.manager.status().controllers).to.deep.equal([]);
      expect(await controller.whenSynced().catch((error: unknown) => error)).to.have.property(
        'code',
        'InvalidSpec',
      );
    });

    it('is False for an invalid kind of views', async () => {
      scene = await ControllerScene.start();
      const controller = scene.controller({ ...sums, target: { kind: 'no kind' } });
      await controller.start();
      expect(scene.ready(controller)).to.equal('False NotReady');
      expect(scene.base.clock.pendingTimers).to.equal(0);
    });

    it('reports once that the server forbids access to a source, until access is granted', async () => {
      scene = await ControllerScene.start();
      const refused = scene.base.cluster.faults.add({
        match: { resource: 'pods', user: 'operator' },
        effect: { type: 'status', code: 403, reason: 'Forbidden', message: 'no' },
      });
      const sources = [{ apiGroup: '', version: 'v1', kind: 'Pod', namespace: 'default' }];
      const controller = scene.controller({ ...sums, sources, pipeline: [] });
      await controller.start();
      await scene.base.run(scene.manager);
      await scene.base.clock.advance(60_000);
      expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
      // A streaming list is a watch; after its failure a plain list follows.
      const denied = (verb: string) => `op/sums: source Pod: no permission to ${verb} Pod: `;
      const [first, second] = scene.errors.map(({ message }) => message);
      expect(first).to.contain(denied('watch'));
      expect(second).to.contain(denied('list'));
      expect(scene.errors).to.have.length(2);
      refused.remove();
      await scene.base.clock.advance(120_000);
      await scene.eventually(() => expect(scene.ready(controller)).to.equal('True Ready'));
    });

    it('reports that changes by others are not undone while its target cannot be watched', async () => {
      scene = await ControllerScene.start();
      const seen: string[] = [];
      const controller: DeclarativeController = scene.controller(wanted, {
        onStatus: () => seen.push(controller.status().conditions[0]?.message ?? ''),
      });
      await controller.start();
      await scene.base.run(scene.manager);
      await scene.during(controller.whenSynced());
      const { faults, server } = scene.base.cluster;
      const refused = faults.add({
        match: { resource: 'configmaps', user: 'operator' },
        effect: { type: 'status', code: 403, reason: 'Forbidden', message: 'no' },
      });
      server.dropWatches();
      const told = (): string | undefined => seen.at(-1);
      await scene.eventually(() => expect(told()).to.contain('drift is not reverted: '), 30_000);
      refused.remove();
      await scene.eventually(() => expect(told()).not.to.contain('drift'), 30_000);
      expect(scene.ready(controller)).to.equal('True Ready');
    });

    it('names a source by its index in the specification, also if a Periodic source stands before it', () => {
      const sources = [
        { apiGroup: 'source.dcontroller.io', kind: 'Periodic' },
        { apiGroup: '', kind: 'Pod' },
        { apiGroup: 'metrics.k8s.io', kind: 'Pod' },
      ];
      return ControllerScene.start().then((started) => {
        scene = started;
        const { problems } = scene.controller({ ...sums, sources, pipeline: [{ '@join': true }] });
        expect(problems.map(({ path }) => path)).to.deep.equal([['sources', 2, 'kind']]);
      });
    });

    it('contains the last ten errors, and the number of the others', async () => {
      scene = await ControllerScene.start();
      const [controller] = (await scene.run(sums)) as [DeclarativeController];
      for (let n = 0; n < 12; n++) await scene.put(view('Wanted', `bad-${n}`, { n: 'x' }));
      await scene.settled();
      const subjects = controller.reportErrors().map(({ subject }) => subject);
      const expected = Array.from({ length: 10 }, (_, n) => `default/bad-${n + 2}`);
      expect(subjects).to.deep.equal(expected);
      expect(controller.status().lastErrors).to.have.length(10);
      expect(controller.status().conditions[0]?.message).to.contain('(and 11 more)');
    });

    it('is reported to a listener when it changes, also after the listener throws', async () => {
      scene = await ControllerScene.start();
      const seen: string[] = [];
      const controller: DeclarativeController = scene.controller(sums, {
        onStatus: () => {
          seen.push(scene.ready(controller));
          throw new Error('no');
        },
      });
      await controller.start();
      await scene.base.run(scene.manager);
      await scene.during(controller.whenSynced());
      await scene.put(view('Wanted', 'a', { n: 'x' }));
      await scene.settled();
      await scene.put(view('Wanted', 'a', { n: 1 }));
      await scene.settled();
      const failed = 'Unknown ReconciliationFailed';
      expect(seen).to.deep.equal(['True Ready', failed, 'True Ready']);
      expect(await scene.names(Copies)).to.deep.equal(['a']);
    });
  });
});

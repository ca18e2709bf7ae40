import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { Group, DeclarativeOperator } from '../../../lib/declarative/operator/index.js';
import type { OperatorInput } from '../../../lib/declarative/operator/index.js';
import { isInvalidSpec } from '../../../lib/declarative/spec/invalid-spec-error.js';
import { loadOperators } from '../../../lib/declarative/spec/load-operator.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import type { Views } from '../../../lib/declarative/views/index.js';
import { ConfigMap } from '../../../lib/object/index.js';
import { eventually, testCluster } from '../../../lib/testing/index.js';
import { configMapOf, readyOf, viewOf } from './group-scene.js';

const good = `
apiVersion: dcontroller.io/v1alpha1
kind: Operator
metadata: { name: shop }
spec:
  controllers:
    - name: prices
      sources: [{ apiGroup: "", version: v1, kind: ConfigMap }]
      pipeline: [{ '@select': true }]
      target: { kind: Price }
`;

const bad = `
apiVersion: dcontroller.io/v1alpha1
kind: Operator
metadata: { name: shop }
spec:
  controllers:
    - name: prices
      sources: [{ apiGroup: "", version: v1, kind: ConfigMap, typ: Watcher }]
      target: { kind: Price }
    - name: stocks
      sources: [{ apiGroup: "", version: v1, kind: ConfigMap }]
      pipeline:
        - '@project': { metadata: { name: { '@concatt': [a, b] } } }
        - '@sellect': true
      target: { kind: Stock }
`;

/** Returns the line of `file:line:column: …`. */
const lineOf = (text: string): number => Number(text.split(':')[1]);

describe('DeclarativeOperator', () => {
  const cluster = testCluster();
  let manager: DeclarativeManager;
  let folder: string;
  beforeEach(async () => {
    const client = cluster().client();
    manager = await DeclarativeManager.create({ client, clock: cluster().clock });
    folder = await mkdtemp(join(tmpdir(), 'operator-spec-'));
  });
  afterEach(async () => {
    await manager.stop();
    await rm(folder, { recursive: true });
  });
  const file = async (text: string): Promise<string> => {
    const path = join(folder, 'operator.yaml');
    await writeFile(path, text);
    return path;
  };

  it('loads from a file and runs with its manager until its signal aborts', async () => {
    const operator = await DeclarativeOperator.fromFile('shop', manager, await file(good));
    expect([operator.name, operator.manager]).to.deep.equal(['shop', manager]);
    const over = new AbortController();
    const running = operator.start(over.signal);
    const synced = operator.whenSynced();
    await cluster().clock.advance(100);
    await synced;
    await cluster().clock.advance(100);
    expect(readyOf(operator)).to.equal('True Ready');
    const again = await operator.start(over.signal).catch((error: unknown) => error);
    expect(again).to.have.property('code', 'AlreadyStarted');
    expect(readyOf(operator)).to.equal('True Ready');
    over.abort();
    await running;
    expect(manager.phase).to.equal('stopped');
    expect(await operator.errors[Symbol.asyncIterator]().next()).to.have.property('done', true);
  });

  it('loads from a file the operator with the given name, or the only operator', async () => {
    const two = `${good}---${good.replace('shop', 'other').replace('prices', 'others')}`;
    const other = await DeclarativeOperator.fromFile('other', manager, await file(two));
    expect(other.listControllers().map(({ name }) => name)).to.deep.equal(['others']);
    const renamed = await DeclarativeOperator.fromFile('mine', manager, await file(good));
    expect(renamed.name).to.equal('mine');
    const failure = await DeclarativeOperator.fromFile('othr', manager, await file(two)).catch(
      (error: unknown) => error,
    );
    expect(failure).to.have.property('message').that.includes('did you mean other?');
  });

  it('reports all problems of a file, each with its position', async () => {
    const path = await file(bad);
    const error = await DeclarativeOperator.fromFile('shop', manager, path).catch(
      (thrown: unknown) => thrown,
    );
    if (!isInvalidSpec(error)) throw error;
    const lines = error.message
      .replaceAll(path, 'operator.yaml')
      .split('\n')
      .toSorted((one, other) => lineOf(one) - lineOf(other));
    expect(lines).to.have.length(3);
    expect(lines[0]).to.match(/^operator\.yaml:8:\d+: spec\.controllers\[0\]\.sources\[0\]\.typ: /);
    expect(lines[0]).to.include('did you mean type?');
    expect(lines[1]).to.match(/^operator\.yaml:13:\d+: spec\.controllers\[1\]\.pipeline\[0\]/);
    expect(lines[1]).to.include('did you mean @concat?');
    expect(lines[2]).to.match(/^operator\.yaml:14:\d+: spec\.controllers\[1\]\.pipeline\[1\]/);
  });

  it('reports the file and the line of problems that are found when its controllers are created', () => {
    const mended = bad.replace(', typ: Watcher', '');
    const [loaded] = loadOperators(
      mended.replace('concatt', 'concat').replace('sell', 'sel'),
      'operator.yaml',
    );
    if (loaded === undefined) throw new Error('nothing was loaded');
    const { spec } =
      DeclarativeOperator.create(
        'shop',
        manager,
        parse(mended) as OperatorInput,
      ).listControllers()[1] ?? {};
    const controllers = loaded.spec.controllers.map((one) =>
      one.name === spec?.name ? spec : one,
    );
    const operator = DeclarativeOperator.create('shop', manager, {
      ...loaded,
      spec: { controllers },
    });
    const [prices, stocks] = operator.getStatus().controllers;
    expect(prices?.conditions?.[0]).to.include({ status: 'Unknown', reason: 'Starting' });
    expect(stocks?.conditions?.[0]?.message).to.include('operator.yaml:13:');
    expect(stocks?.lastErrors).to.have.length(2);
    expect(readyOf(operator)).to.equal('False NotReady');
  });

  it('accepts further controllers while it runs, also invalid ones', async () => {
    const group = new Group({ manager });
    const over = new AbortController();
    const running = group.start(over.signal);
    const operator = await group.addOperator('shop', { controllers: [viewOf('Price', 'default')] });
    const added = await operator.addController(configMapOf('Price', 'price'));
    expect(operator.getController('make-price')).to.equal(added);
    expect(added.problems).to.deep.equal([]);
    const twin = await operator.addController(viewOf('Price', 'default'));
    expect(twin.problems[0]?.message).to.include('two controllers are called see-price');
    await operator.addController({ ...viewOf('Stock', 'default'), target: { kind: '' } });
    expect(operator.listControllers()).to.have.length(4);
    expect(readyOf(operator, 'see-stock')).to.equal('False NotReady');
    const waited = await twin.whenSynced().catch((error: unknown) => error);
    expect(waited).to.have.property('code', 'InvalidSpec');
    over.abort();
    await running;
    const late = await group.addOperator('late', { controllers: [] }).catch((e: unknown) => e);
    expect(late).to.have.property('code', 'Stopped');
  });

  it('stops waiting for its first output when the signal is aborted', async () => {
    const controllers = [viewOf('Price', 'default')];
    const operator = DeclarativeOperator.create('shop', manager, { controllers });
    const reason = new Error('enough');
    const waited = operator.whenSynced(AbortSignal.abort(reason)).catch((error: unknown) => error);
    expect(await waited).to.equal(reason);
  });

  it('registers the kinds of its views and attaches them to the API server', async () => {
    const served: Views[] = [];
    const apiServer = { attach: (views: Views) => served.push(views) };
    const controllers = [viewOf('Price', 'default'), configMapOf('Price', 'price')];
    const operator = DeclarativeOperator.create('shop', manager, { controllers }, { apiServer });
    expect(served).to.deep.equal([manager.views]);
    expect((await operator.registerGvks()).map(({ kind }) => kind)).to.deep.equal(['Price']);
    expect(manager.views.types('shop').map(({ kind }) => kind)).to.deep.equal(['Price']);
  });

  it('requires a name that is valid in an API group', () => {
    const create = () => DeclarativeOperator.create('My Shop', manager, { controllers: [] });
    expect(create).to.throw('My Shop').with.property('code', 'InvalidOption');
  });

  it('is not ready if it has no controllers', () => {
    const operator = DeclarativeOperator.create('shop', manager, { controllers: [] });
    expect(readyOf(operator)).to.equal('False NotReady');
    expect(operator.getStatus(3)).to.include({ observedGeneration: 3 });
  });
});

describe('Group of declarative operators', () => {
  const cluster = testCluster();

  it('refuses a second operator of the same name, and a second start', async () => {
    const manager = await DeclarativeManager.create({ client: cluster().client() });
    const group = new Group({ manager });
    await group.addOperator('shop', { controllers: [] });
    const twin = await group.addOperator('shop', { controllers: [] }).catch((e: unknown) => e);
    expect(twin).to.have.property('code', 'InvalidOption');
    await group.deleteOperator('nobody');
    const signal = AbortSignal.abort();
    await group.start(signal).catch(() => undefined);
    const again = await group.start(signal).catch((error: unknown) => error);
    expect(again).to.have.property('code', 'AlreadyStarted');
    await manager.stop();
  });

  it('does not restart a controller whose index in the specification changes', async () => {
    const { clock } = cluster();
    const manager = await DeclarativeManager.create({ client: cluster().client(), clock });
    const group = new Group({ manager });
    const [one, other] = [viewOf('Price', 'default'), viewOf('Stock', 'default')];
    const operator = await group.addOperator('shop', { controllers: [one] });
    const before = operator.getController(one.name);
    await group.upsertOperator('shop', { controllers: [other, one] });
    expect(operator.listControllers().map(({ name }) => name)).to.deep.equal([
      other.name,
      one.name,
    ]);
    expect(operator.getController(one.name)).to.equal(before);
    await manager.stop();
  });

  it('updates the path in the problems of a controller whose index changes', async () => {
    const manager = await DeclarativeManager.create({ client: cluster().client() });
    const group = new Group({ manager });
    const wrong = { ...viewOf('Price', 'default'), pipeline: [{ '@projct': {} }] };
    const operator = await group.addOperator('shop', { controllers: [wrong] });
    await group.upsertOperator('shop', { controllers: [viewOf('Stock', 'default'), wrong] });
    const { conditions } = operator.getController(wrong.name)?.status() ?? {};
    expect(conditions?.[0]?.message).to.include('controllers[1]');
    await manager.stop();
  });

  it('tries again to delete objects of a removed controller when a controller is added', async () => {
    const { clock, faults } = cluster();
    const admin = cluster().client();
    const user = 'operator';
    const manager = await DeclarativeManager.create({ client: cluster().client({ user }), clock });
    const group = new Group({ manager });
    const over = new AbortController();
    const running = group.start(over.signal);
    const labels = { of: 'Price' };
    const metadata = { name: 'a', namespace: 'default', labels };
    await admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} });
    const chain = [viewOf('Price', 'default'), configMapOf('Price', 'price')];
    const operator = await group.addOperator('shop', { controllers: chain });
    const made = async (): Promise<number> =>
      (await admin.list(ConfigMap, { labelSelector: 'made=yes' })).items.length;
    await eventually(async () => expect(await made()).to.equal(1), { clock });
    const fault = faults.add({
      match: { user, verb: 'delete', resource: 'configmaps' },
      effect: { type: 'status', code: 403, reason: 'Forbidden', message: 'keep it' },
    });
    const update = operator.update({ controllers: chain.slice(0, 1) }, { cleanUp: 'delete' });
    expect(String(await update.catch((error: unknown) => error))).to.include('keep it');
    fault.remove();
    await operator.addController(viewOf('Stock', 'default'));
    expect(await made()).to.equal(0);
    over.abort();
    await running;
  });

  it('runs an operator again that is upserted after the removal of the operator failed', async () => {
    const { clock, faults } = cluster();
    const admin = cluster().client();
    const user = 'operator';
    const manager = await DeclarativeManager.create({ client: cluster().client({ user }), clock });
    const group = new Group({ manager });
    const over = new AbortController();
    const running = group.start(over.signal);
    const metadata = { name: 'a', namespace: 'default', labels: { of: 'Price' } };
    await admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} });
    const controllers = [viewOf('Price', 'default'), configMapOf('Price', 'price')];
    await group.addOperator('shop', { controllers });
    const made = async (): Promise<readonly (string | undefined)[]> =>
      (await admin.list(ConfigMap, { labelSelector: 'made=yes' })).items.map(
        (each) => each.metadata.name,
      );
    await eventually(async () => expect(await made()).to.deep.equal(['price-a']), { clock });
    const fault = faults.add({
      match: { user, verb: 'delete', resource: 'configmaps' },
      effect: { type: 'status', code: 403, reason: 'Forbidden', message: 'keep it' },
    });
    const removal = group.deleteOperator('shop', { cleanUp: 'delete' });
    expect(String(await removal.catch((error: unknown) => error))).to.include('keep it');
    fault.remove();
    await group.upsertOperator('shop', { controllers });
    const other = { ...metadata, name: 'b' };
    await admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: other });
    await eventually(async () => expect(await made()).to.deep.equal(['price-a', 'price-b']), {
      clock,
    });
    over.abort();
    await running;
  });

  it('refuses an unknown clean-up policy', async () => {
    const manager = await DeclarativeManager.create({ client: cluster().client() });
    const group = new Group({ manager });
    const cleanUp = 'remove' as 'delete';
    const refused = await group.deleteOperator('shop', { cleanUp }).catch((e: unknown) => e);
    expect(refused).to.have.property('code', 'InvalidOption');
    expect(String(refused)).to.include('cleanUp: want delete or orphan, got "remove"');
    await manager.stop();
  });

  describe('with an operator whose controllers write views of an invalid kind', () => {
    /** An operator whose second controller writes a view that no server accepts. */
    const odd = {
      controllers: [
        viewOf('Price', 'default'),
        { ...viewOf('Stock', 'default'), target: { kind: 'a_b' } },
      ],
    };

    it('runs the operator, serves its other views and reports the invalid kind', async () => {
      const { clock } = cluster();
      const manager = await DeclarativeManager.create({ client: cluster().client(), clock });
      const group = new Group({ manager, apiServer: { attach: () => undefined } });
      const operator = await group.addOperator('odd', odd);
      const over = new AbortController();
      const running = group.start(over.signal);
      running.catch(() => undefined); // `await running` reports the error.
      await clock.advance(1_000);
      expect(readyOf(operator, 'see-price')).to.equal('True Ready');
      expect(readyOf(operator, 'see-stock')).to.equal('False NotReady');
      over.abort();
      await running;
    });

    it('can remove other operators', async () => {
      const { clock } = cluster();
      const manager = await DeclarativeManager.create({ client: cluster().client(), clock });
      const group = new Group({ manager });
      await group.addOperator('odd', odd);
      await group.addOperator('shop', { controllers: [viewOf('Price', 'default')] });
      await group.deleteOperator('shop');
      expect(group.listOperators().map(({ name }) => name)).to.deep.equal(['odd']);
      await manager.stop();
    });
  });

  it('ends its stream of errors when it stops', async () => {
    const { clock } = cluster();
    const manager = await DeclarativeManager.create({ client: cluster().client(), clock });
    const group = new Group({ manager });
    const next = group.errors[Symbol.asyncIterator]().next();
    const over = new AbortController();
    const started = group.start(over.signal);
    await clock.advance(0);
    over.abort();
    await started;
    expect(await next).to.have.property('done', true);
  });

  it('stops its controllers in a manager that continues to run', async () => {
    const { clock } = cluster();
    const manager = await DeclarativeManager.create({ client: cluster().client(), clock });
    const ended = new AbortController();
    const running = manager.run(ended.signal);
    const group = new Group({ manager });
    await group.addOperator('shop', { controllers: [viewOf('Price', 'default')] });
    const over = new AbortController();
    const started = group.start(over.signal);
    await clock.advance(1_000);
    expect(manager.status().controllers.map(({ name }) => name)).to.deep.equal(['shop/see-price']);
    over.abort();
    await started;
    expect(manager.status().controllers).to.deep.equal([]);
    ended.abort();
    await running;
  });

  it('leaves no timer after it stops', async () => {
    const { clock } = cluster();
    const before = clock.pendingTimers;
    const manager = await DeclarativeManager.create({ client: cluster().client(), clock });
    const group = new Group({ manager });
    const over = new AbortController();
    const running = group.start(over.signal);
    await group.addOperator('shop', {
      controllers: [viewOf('Price', 'default'), configMapOf('Price', 'price')],
    });
    await clock.advance(1_000);
    over.abort();
    await clock.advance(0);
    await running;
    expect(clock.pendingTimers).to.equal(before);
  });
});
